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

from onnxpad.cli.arguments import RENAMED
from onnxpad.errors import RequestError, fault_in, nearest

# The file may come with a model from a stranger: it says nothing of what is read and written,
# starts no program, and lifts no limit.
SETTABLE = frozenset(
    (
        *(
            "all",
            "allow-unknown",
            "although-unfit",
            "ambiguous",
            "baseline",
            "budget",
            "legacy-split",
        ),
        *(
            "device",
            "dim",
            "each",
            "exclude",
            "fail-on",
            "failing",
            "node",
            "pass",
            "prefer",
            "proof-only",
        ),
        *("run-only", "samples", "seed", "source", "strict", "target", "tf32", "to", "validate"),
    )
)
LARGEST = 2**20
"""Bytes that the file may have."""
_TABLE = "tool.onnxpad"


Options = Mapping[str, click.Option]


class Settings(NamedTuple):
    """What a file says, by verb and name of the option, as the command line would."""

    path: Path | None
    values: Mapping[str, Mapping[str, Any]]
    verbs: Mapping[str, Options]

    def defaults(self) -> dict[str, dict[str, Any]]:
        """The same by the names that click has for the options."""
        return {
            verb: {str(self.verbs[verb][name].name): value for name, value in found.items()}
            for verb, found in self.values.items()
        }

    def blamed_for(self, verb: str | None, said: str, words: Sequence[str]) -> str:
        """Where an option of a verb is set that an error is about; '' where it is about none.

        Nothing is blamed that stands on the command line as well, whose `words` win.
        """
        own = takewhile(lambda word: word != "--", words)
        given = (word.partition("=")[0].removeprefix("--") for word in own)
        typed = {f"--{RENAMED.get(name, name)}" for name in given}
        found = self.values.get(verb or "", {})
        names = [
            name
            for name, value in found.items()
            if typed.isdisjoint(self.verbs[verb or ""][name].opts) and _is_about(said, name, value)
        ]
        return f"{', '.join(names)} in {_shown(self.path)}" if names and self.path else ""


def found_settings(commands: click.Group, files: Iterable[Path]) -> Settings:
    """What the first of the files says that has such a table.

    Raises RequestError for a file that cannot be read, and for what it cannot say.
    """
    verbs = {name: _options(command) for name, command in commands.commands.items()}
    verbs["validate"].pop("target", None)  # it starts a runtime
    for path in files:
        table = _table_of(path)
        if table is not None:
            return Settings(path, _values(path, table, verbs), verbs)
    return Settings(None, {}, verbs)


def _options(command: click.Command) -> dict[str, click.Option]:
    options = [one for one in command.params if isinstance(one, click.Option)]
    return {spelling[2:]: one for one in options for spelling in one.opts if spelling[:2] == "--"}


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


def _values(
    path: Path, table: dict[str, Any], verbs: Mapping[str, Options]
) -> dict[str, dict[str, Any]]:
    """For each verb what is set for all, and then what is set for it alone."""
    shared = _with_new_names({k: v for k, v in table.items() if not isinstance(v, dict)})
    apart = {k: _with_new_names(v) for k, v in table.items() if isinstance(v, dict)}
    everywhere = {name: one for known in verbs.values() for name, one in known.items()}
    _refuse_unknown(path, _TABLE, shared, everywhere)
    for verb, found in apart.items():
        if verb not in verbs:
            meant = _meant(verb, verbs) or f"the verbs are {', '.join(verbs)}"
            raise RequestError(f"{_shown(path)}: [{_TABLE}.{verb}] is about no verb: {meant}")
        _refuse_unknown(path, f"{_TABLE}.{verb}", found, verbs[verb])
    return {
        verb: {
            name: _as_typed(path, name, known[name], value)
            for name, value in (shared | apart.get(verb, {})).items()
            if name in known
        }
        for verb, known in verbs.items()
    }


def _with_new_names(found: Mapping[str, Any]) -> dict[str, Any]:
    return {RENAMED.get(name, name): value for name, value in found.items()}


def _refuse_unknown(path: Path, table: str, found: Mapping[str, Any], options: Options) -> None:
    known = SETTABLE & options.keys()
    for name in found:
        if name not in known:
            typed = "it is said on the command line alone" if name in options else ""
            cure = (
                typed or _meant(name, known) or f"it takes {', '.join(sorted(known)) or 'nothing'}"
            )
            raise RequestError(f"{_shown(path)}: [{table}] takes no '{name}': {cure}")


def _meant(name: str, known: Iterable[str]) -> str:
    return "".join(f"did you mean '{one}'?" for one in nearest(name, known))


def _as_typed(path: Path, name: str, option: click.Option, value: object) -> object:
    """The value as click takes it; paths are relative to the folder of the file."""
    wanted = ""
    if option.is_flag:
        wanted = "" if isinstance(value, bool) else "true or false"
    elif option.multiple:
        value = [value] if isinstance(value, str) else value
        texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
        wanted = "" if texts else "a text, or a list of texts"
    elif isinstance(value, bool) or not isinstance(value, str | int | float):
        wanted = "a text or a number"
    if wanted:
        raise RequestError(f"{_shown(path)}: {name} is {value!r}, and must be {wanted}")
    if name == "target":
        paths = [_target_path(path, str(one)) for one in _listed(value)]
        return paths if option.multiple else paths[0]
    is_path = isinstance(option.type, click.Path)
    return os.path.relpath(path.parent / str(value)) if is_path else value


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _target_path(path: Path, target: str) -> str:
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


def _is_about(said: str, name: str, value: object) -> bool:
    return f"--{name}" in said or any(f"'{one}'" in said for one in _listed(value))


def _shown(path: Path | None) -> str:
    return "" if path is None else os.path.relpath(path)
