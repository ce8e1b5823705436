"""Runtimes that models are deployed to: one file each, read by one engine; the folder is walked."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module

from onnxpad.errors import InternalError, RequestError
from onnxpad.runtimes.conditions.rows import Row


@dataclass(frozen=True, slots=True)
class Target:
    """A runtime: what it does with padding, row by row.

    `version` is what the rows are about. `name` and `text` come from the file.
    """

    version: str
    rows: tuple[Row, ...]
    name: str = ""
    text: str = ""


@cache
def all_targets() -> dict[str, Target]:
    """Every target by its name, which is its file's with dashes."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {found.name: found for found in map(_load, names)}


def find_target(name: str) -> Target:
    """The target called `name`; RequestError with the nearest name where there is none."""
    targets = all_targets()
    if name in targets:
        return targets[name]
    if "," in name:
        first = name.partition(",")[0].strip()
        raise RequestError(f"no target is called '{name}': one name at a time, such as {first}")
    from difflib import get_close_matches

    near = get_close_matches(name.casefold().replace("_", "-"), targets, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(targets)}"
    raise RequestError(f"no target is called '{name}': {hint}")


def _load(file: str) -> Target:
    module = import_module(f"{__name__}.{file}")
    found = getattr(module, "TARGET", None)
    if not isinstance(found, Target):
        raise InternalError(f"target file '{file}.py' lacks TARGET")
    return replace(found, name=file.replace("_", "-"), text=(module.__doc__ or "").strip())
