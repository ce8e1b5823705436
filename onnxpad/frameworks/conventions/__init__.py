"""Where frameworks put padding: one file each, read by one engine; the folder is walked."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module

from onnxpad.errors import InternalError
from onnxpad.frameworks.words import Fill, Layer


@dataclass(frozen=True, slots=True)
class Convention:
    """A framework: its layers in its own words.

    `pads_apart` is what its own layer for padding alone can write in front of any other layer,
    such as Keras' ZeroPadding2D. `listed` is its place in lists, the frequent ones first. `name`
    and `text` come from the file.
    """

    source: str
    layers: tuple[Layer, ...] = ()
    aliases: tuple[str, ...] = ()
    pads_apart: frozenset[Fill] = frozenset()
    listed: int = 100
    name: str = ""
    text: str = ""


@cache
def all_conventions() -> dict[str, Convention]:
    """Every convention by its name, which is its file's with dashes."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {found.name: found for found in map(_load, names)}


def frequent_first(names: Iterable[str]) -> list[str]:
    """The names of conventions, those that models come from most often first."""
    known = all_conventions()
    return sorted(names, key=lambda name: (known[name].listed, name))


def _load(file: str) -> Convention:
    module = import_module(f"{__name__}.{file}")
    found = getattr(module, "CONVENTION", None)
    if not isinstance(found, Convention):
        raise InternalError(f"convention file '{file}.py' lacks CONVENTION")
    return replace(found, name=file.replace("_", "-"), text=(module.__doc__ or "").strip())
