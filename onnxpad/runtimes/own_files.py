"""Targets that are files of a user's own: known by their names once they were read."""

from __future__ import annotations

from shlex import quote

SUFFIX = ".toml"
READ_FILES: dict[str, str] = {}
"""By the target's name each file of rules that this process has read."""


def is_own_rules(name: str) -> bool:
    """Whether a target is asked for as a file of rules."""
    return name.endswith(SUFFIX)


def file_of_rules(name: str) -> str:
    """The file of rules of the target called `name`; '' for a built-in one."""
    return READ_FILES.get(name, name if is_own_rules(name) else "")


def asked_as(name: str) -> str:
    """What a command line says for the target called `name`: a file of rules by its path."""
    return quote(READ_FILES[name]) if name in READ_FILES else name
