"""Targets of the user's own: files of rules and runtimes, and what reports call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from os import PathLike, fspath
from pathlib import Path, PurePath
from shlex import quote
from typing import Any, NamedTuple, TypeAlias

SUFFIX = ".toml"
EXAMPLE = "python run_npu.py {model} {inputs} {outputs}"
"""A command of a user's own runtime."""
READ_FILES: dict[str, str] = {}
"""By the target's name each file of rules that this process has read."""
RUNTIMES: dict[str, str | Runs] = {}
"""By the target's name each runtime of the user's own that this process was told of."""

Runs: TypeAlias = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""A runtime as a function: the path of a model and inputs by name; it gives outputs by name."""
TargetName: TypeAlias = str | Runs
"""A name, a path, a command, or the runtime itself."""


class Asking(NamedTuple):
    """How runtimes are asked: not at all, in this Python, or in the one at a path.

    `cache`: earlier answers are read, and new ones kept. A run that takes more than `seconds` is
    ended. `tell` is called with what is being run. `skips_missing`: the table answers for a runtime
    that is not installed, or that nothing here starts.
    """

    live: bool | str | PathLike[str] = False
    cache: bool = True
    seconds: float | None = None
    tell: Callable[[str], None] | None = None
    skips_missing: bool = False


def target_names(names: TargetName | Sequence[TargetName]) -> list[TargetName]:
    """One name or several as a list."""
    return [names] if isinstance(names, str) or callable(names) else list(names)


def is_own_rules(name: str) -> bool:
    """Whether a target is asked for as a file of rules."""
    return name.endswith(SUFFIX)


def file_of_rules(name: str) -> str:
    """The file of rules of the target called `name`; '' for a built-in one."""
    return READ_FILES.get(name, name if is_own_rules(name) else "")


def is_own_runtime(asked: object) -> bool:
    """Whether a target is a runtime of the user's: a .py file, a command, or a function.

    It is no name of a target then: those have no blanks and no slashes. A .toml has rules only.
    """
    if isinstance(asked, PathLike):
        asked = fspath(asked)
    if not isinstance(asked, str):
        return callable(asked)
    if is_own_rules(asked):
        return False
    if "," in asked and "{" not in asked:  # several names
        return False
    return asked.endswith(".py") or any(one in asked for one in " \t\n/\\{}")


def own_runtime(asked: TargetName) -> str:
    """What reports call a runtime of the user's own; '' for any other target.

    It goes by its file or function, with a number where another one has that name, and is found
    again by that.
    """
    if isinstance(asked, str) and asked in RUNTIMES:
        own = RUNTIMES[asked]
        if own == asked or not Path(asked).exists() or _is_file(own, asked):
            return asked
    if not is_own_runtime(asked):
        return ""
    script = ""
    if isinstance(asked, str):
        words = asked.split() or [asked]
        script = next((word for word in words if word.endswith(".py")), words[0])
        called = PurePath(script).name or script
    else:
        called = f"{getattr(asked, '__name__', type(asked).__name__)}()"
    names = chain([called], (f"{called}-{number}" for number in count(2)))
    return next(name for name in names if _is_free(name, asked, script))


def _is_file(own: str | Runs, name: str) -> bool:
    """Whether a runtime is the file `name`, asked for by another path."""
    return isinstance(own, str) and Path(own).exists() and Path(own).samefile(name)


def _is_free(name: str, asked: str | Runs, script: str) -> bool:
    """Whether a name may stand for what was asked, and does from now on.

    That of a file in the working folder may not where a command or another file was asked for: it
    is how that one is asked for.
    """
    is_other = isinstance(asked, str) and name != asked and Path(name).exists()
    if is_other and not (Path(str(asked)).exists() and Path(script).samefile(name)):
        return False
    own = RUNTIMES.setdefault(name, asked)
    return own is asked or (isinstance(own, str) and own == asked)


def live_words(live: bool | str | PathLike[str]) -> str:  # noqa: FBT001
    """How the command line asks runtimes so; '' where it does not."""
    if isinstance(live, bool):
        return "--live" if live else ""
    return f"--live {quote(fspath(live))}"


def asked_as(name: str) -> str:
    """What a command line says for the target called `name`: what is the user's as it was asked."""
    own = RUNTIMES.get(name)
    return quote(own if isinstance(own, str) else READ_FILES.get(name, name))
