"""The templates of the site; they share styles and escaping with the pages of reports."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from onnxpad.show.pages import templates

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


@cache
def _environment() -> Environment:
    plain = templates.environment()  # which says so where jinja2 is not installed
    from jinja2 import ChoiceLoader, PackageLoader

    own = PackageLoader(__package__, "")
    found = plain.overlay(loader=ChoiceLoader([own, plain.loader] if plain.loader else [own]))
    found.filters["code"] = _with_code
    return found


def _with_code(text: str) -> Markup:
    """The text as HTML, with what stands between backticks as code."""
    from markupsafe import Markup, escape

    parts = _BETWEEN_BACKTICKS.split(text)
    found = (
        f"<code>{templates.typed(part)}</code>" if number % 2 else escape(part)
        for number, part in enumerate(parts)
    )
    return Markup("".join(found))  # noqa: S704 - escaped


_BETWEEN_BACKTICKS = re.compile("`([^`]+)`")


def filled(template: str, **given: object) -> str:
    """A template filled in; RuntimeUnavailable where jinja2 is not installed."""
    return _environment().get_template(template).render(**given)


def own_text(name: str) -> str:
    """A file beside the templates, as it stands: styles and scripts."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
