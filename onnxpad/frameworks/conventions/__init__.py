"""Where frameworks put padding: one file each, read by one engine; the folder is walked."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module

from onnxpad.errors import InternalError
from onnxpad.frameworks.words import Fill, Layer

_FREQUENT = ("tensorflow", "pytorch", "caffe", "keras", "tflite", "darknet", "torch7", "cntk")


@dataclass(frozen=True, slots=True)
class Convention:
    """A framework: its layers in its own words.

    `pads_apart` is what its own layer for padding alone can write in front of any other layer,
    such as Keras' ZeroPadding2D. `name` and `text` come from the file.
    """

    source: str
    layers: tuple[Layer, ...] = ()
    aliases: tuple[str, ...] = ()
    pads_apart: frozenset[Fill] = frozenset()
    name: str = ""
    text: str = ""


@cache
def all_conventions() -> dict[str, Convention]:
    """Every convention by its name, which is its file's with dashes."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {found.name: found for found in map(_load, names)}


def frequency(name: str) -> int:
    """The place of a convention in a list that begins with the frequent ones."""
    return _FREQUENT.index(name) if name in _FREQUENT else len(_FREQUENT)


def _load(file: str) -> Convention:
    module = import_module(f"{__name__}.{file}")
    found = getattr(module, "CONVENTION", None)
    if not isinstance(found, Convention):
        raise InternalError(f"convention file '{file}.py' lacks CONVENTION")
    return replace(found, name=file.replace("_", "-"), text=(module.__doc__ or "").strip())
