"""Where frameworks put padding: one file each, read by one engine; the folder is walked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType

from onnxpad.frameworks.layer import Fill, Layer
from onnxpad.plugins import Plugins, name_of, text_of


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
    return _CONVENTIONS.all()


def frequent_first(names: Iterable[str]) -> list[str]:
    """The names of conventions, those that models come from most often first."""
    known = all_conventions()
    return sorted(names, key=lambda name: (known[name].listed, name))


@cache
def _convention_in(module: ModuleType) -> Convention:
    found: Convention = module.CONVENTION
    return replace(found, name=name_of(module), text=text_of(module))


_CONVENTIONS = Plugins(__name__, "convention", _convention_in)
