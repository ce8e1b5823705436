"""Addresses of pages in the site, and of places on them."""

from __future__ import annotations

import re
from typing import NamedTuple

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class Linked(NamedTuple):
    """Words, with the address that they lead to where there is one."""

    text: str
    link: str = ""


def address_of(kind: str, name: str) -> str:
    """The file of a page, below the folder of the site."""
    return f"{kind}/{_UNSAFE.sub('-', name)}.html"


def anchor_of(text: str) -> str:
    """The id of a place on a page."""
    return _UNSAFE.sub("-", text).strip("-").casefold()
