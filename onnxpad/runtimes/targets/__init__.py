"""Runtimes that models are deployed to: one file each, read by one engine; the folder is walked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType

from onnxpad.errors import RequestError
from onnxpad.plugins import Plugins, name_of, text_of
from onnxpad.runtimes.conditions.rows import Row


@dataclass(frozen=True, slots=True)
class Target:
    """A runtime: what it does with padding, row by row.

    `version` is what the rows are about, `also` are other names that people write. `name` and
    `text` come from the file. `parts` are set where it stands for several runtimes at once, which
    all have to take a node; it has no rows of its own then.
    """

    version: str
    rows: tuple[Row, ...]
    also: tuple[str, ...] = ()
    name: str = ""
    text: str = ""
    parts: tuple[Target, ...] = ()


@cache
def all_targets() -> dict[str, Target]:
    """Every target by its name, which is its file's with dashes."""
    return _TARGETS.all()


def find_target(name: str) -> Target:
    """The target called `name`, also by another name; capitals do not matter.

    Raises RequestError with the nearest name where there is none.
    """
    wanted = name.casefold().replace("_", "-")
    if wanted not in _TARGETS:
        wanted = next((one.name for one in all_targets().values() if wanted in one.also), name)
    return _TARGETS.find(wanted)


def find_targets(names: str | Sequence[str]) -> Target:
    """The target called so; of several names, one that stands for all of them.

    Raises RequestError for names that do not exist, and where there is none.
    """
    asked = [names] if isinstance(names, str) else names
    found = tuple(dict.fromkeys(map(find_target, asked)))
    if not found:
        raise RequestError("target is an empty list: name a runtime")
    if len(found) == 1:
        return found[0]
    called = " + ".join(one.name for one in found)
    return Target(", ".join(one.version for one in found), (), name=called, parts=found)


@cache
def _target_in(module: ModuleType) -> Target:
    found: Target = module.TARGET
    return replace(found, name=name_of(module), text=text_of(module))


_TARGETS = Plugins(__name__, "target", _target_in)
