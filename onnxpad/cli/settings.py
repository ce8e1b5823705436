"""[tool.onnxpad] in the nearest pyproject.toml: options that a project always wants."""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import click

from onnxpad.cli.options import OPTIONS, VERBS, Option
from onnxpad.cli.values import kind_of
from onnxpad.errors import RequestError, fault_in, nearest

LARGEST = 2**20
"""Bytes that the file may have."""
_TABLE = "tool.onnxpad"


class Settings(NamedTuple):
    """What a file sets, by verb and row of the option, as the command line would."""

    path: Path | None
    values: Mapping[str, Sequence[tuple[Option, Any]]]

    def defaults(self) -> dict[str, dict[str, Any]]:
        """The same by verb and name, as click takes it."""
        return {
            verb: {row.name: value for row, value in values} for verb, values in self.values.items()
        }

    def blamed_for(self, verb: str | None, message: str, words: Sequence[str]) -> str:
        """Where an option of a verb is set that an error is about; '' where it is about none.

        Nothing is blamed that stands on the command line as well, whose `words` win.
        """
        own = takewhile(lambda word: word != "--", words)
        typed = {word.partition("=")[0] for word in own}
        names = [
            row.setting
            for row, value in self.values.get(verb or "", ())
            if typed.isdisjoint(row.spellings)
            and any(m in message for m in (row.spellings[-1], *(f"'{v}'" for v in _listed(value))))
        ]
        return f"{', '.join(names)} in {_shown(self.path)}" if names and self.path else ""


def read_settings(files: Iterable[Path]) -> Settings:
    """What the first of the files says that has such a table.

    Raises RequestError for a file that cannot be read, and for what it cannot say.
    """
    for path in files:
        table = _table_of(path)
        if table is not None:
            return Settings(path, _values(path, table))
    return Settings(None, {})


def _table_of(path: Path) -> dict[str, Any] | None:
    """None where the file is about other tools alone."""
    from onnxpad.model.files.contents import contents

    try:
        data = contents(path, LARGEST)
    except (OSError, ValueError) as error:
        raise RequestError(f"cannot read {_shown(path)}: {fault_in(error) or error}") from error
    try:
        content: Any = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{_shown(path)} is not TOML: {error}") from error
    for name in _TABLE.split("."):
        content = content.get(name) if isinstance(content, dict) else None
    if content is None or isinstance(content, dict):
        return content
    raise RequestError(f"{_shown(path)}: {_TABLE} is {content!r}, and must be a table")


def _values(path: Path, table: dict[str, Any]) -> dict[str, list[tuple[Option, Any]]]:
    """For each verb what is set for all, and then what is set for it alone."""
    shared = {name: value for name, value in table.items() if not isinstance(value, dict)}
    apart = {name: values for name, values in table.items() if isinstance(values, dict)}
    found: dict[str, dict[str, tuple[Option, Any]]] = {verb: {} for verb in VERBS}
    for verb, values in [("", shared), *apart.items()]:
        place = f"{_shown(path)}: [{f'{_TABLE}.{verb}'.rstrip('.')}]"
        if verb not in ("", *VERBS):
            meant = _meant(verb, VERBS) or f"the verbs are {', '.join(VERBS)}"
            raise RequestError(f"{place} is about no verb: {meant}")
        rows = [row for row in OPTIONS if "set" in row.more and (not verb or verb in row.verbs)]
        for name, value in values.items():
            named = [row for row in rows if row.setting == name]
            if not named:
                near = _meant(name, [row.setting for row in rows])
                cure = near or "it is said on the command line alone, if at all"
                raise RequestError(f"{place} takes no '{name}': {cure}")
            for row in named:
                for one in [verb] if verb else row.verbs:
                    found[one][row.name] = row, _as_typed(path, row, value)
    return {verb: list(values.values()) for verb, values in found.items()}


def _meant(name: str, known: Iterable[str]) -> str:
    return "".join(f"did you mean '{one}'?" for one in nearest(name, known))


def _as_typed(path: Path, row: Option, value: object) -> object:
    """The value as click takes it; paths are relative to the folder of the file."""
    values = _listed(value)
    if not all(isinstance(one, str | int | float) for one in values):
        raise RequestError(f"{_shown(path)}: {row.setting} is {value!r}, and must be a text")
    if row.name == "target":
        return [_target(path, str(target)) for target in values]
    if isinstance(kind_of(row.kind).type, click.Path):
        return os.path.relpath(path.parent / str(value))
    return [str(one) for one in values] if "many" in row.more else value


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _target(path: Path, target: str) -> str:
    """A target; a file of rules by its path from the working folder.

    Raises RequestError for a runtime of one's own: it is a program, which only the command line
    starts.
    """
    from onnxpad.runtimes.own_targets import is_own_rules, is_own_runtime

    if is_own_runtime(target):
        raise RequestError(
            f"{_shown(path)}: target is '{target}', which is a program, and a file starts none: "
            f"--target {shlex.quote(target)} on the command line does"
        )
    return os.path.relpath(path.parent / target) if is_own_rules(target) else target


def _shown(path: Path | None) -> str:
    return "" if path is None else os.path.relpath(path)
