"""Options of a project, from [tool.onnxpad] of the nearest pyproject.toml."""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from onnxpad.cli.options import OPTIONS, VERBS, Option, options_of
from onnxpad.cli.values import kind_of
from onnxpad.errors import OnnxpadError, RequestError, fault_in, nearest

LARGEST = 2**20
"""Bytes that the file may have."""
_TABLE = "tool.onnxpad"
Values = dict[str, dict[str, Any]]


def invoke_with_settings(
    context: click.Context, files: Iterable[Path], words: Sequence[str]
) -> object:
    """Run a verb with what the first of the files sets that has such a table.

    An error that is about a setting says so, unless the option is typed as well, which wins. Raises
    RequestError for a file that cannot be read, and for what it cannot say.
    """
    for path in files:
        table = _table_of(path)
        if table is not None:
            break
    else:
        return context.command.invoke(context)
    context.default_map = values = _values(path, table)
    try:
        return context.command.invoke(context)
    except (click.UsageError, OnnxpadError) as error:
        typed = {word.partition("=")[0] for word in words}
        for name, value in values.get(context.invoked_subcommand or "", {}).items():
            row = options_of(context.invoked_subcommand or "")[name]
            about = (row.spellings[-1], *(f"'{one}'" for one in _listed(value)))
            if typed.isdisjoint(row.spellings) and any(part in str(error) for part in about):
                error.add_note(f"set as {row.setting} in {_shown(path)}")
        raise


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


def _values(path: Path, table: dict[str, Any]) -> Values:
    """For each verb what is set for all, and then what is set for it alone, as click takes it."""
    shared = {name: value for name, value in table.items() if not isinstance(value, dict)}
    apart = {name: values for name, values in table.items() if isinstance(values, dict)}
    values: Values = {verb: {} for verb in VERBS}
    for verb, settings in [("", shared), *apart.items()]:
        place = f"{_shown(path)}: [{f'{_TABLE}.{verb}'.rstrip('.')}]"
        if verb not in ("", *VERBS):
            raise RequestError(f"{place} is about no verb: {_meant(verb, VERBS)}")
        rows = [row for row in OPTIONS if "set" in row.more and (not verb or verb in row.verbs)]
        for name, value in settings.items():
            named = [row for row in rows if row.setting == name]
            if not named:
                meant = _meant(name, [row.setting for row in rows])
                raise RequestError(f"{place} takes no '{name}': {meant}")
            for row in named:
                for of in [verb] if verb else row.verbs:
                    values[of][row.name] = _as_typed(path, row, value)
    return values


def _meant(name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    return f"did you mean '{near[0]}'?" if near else "onnxpad explain ci says what it takes"


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
            f"{_shown(path)}: target is the program '{target}', which no file may start: "
            f"give --target {shlex.quote(target)} on the command line"
        )
    return os.path.relpath(path.parent / target) if is_own_rules(target) else target


def _shown(path: Path) -> str:
    return os.path.relpath(path)
