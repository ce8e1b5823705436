"""Where frameworks put padding: one file each, read by one engine; the folder is walked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from types import ModuleType
from typing import NamedTuple, TypeVar

from onnxpad.errors import RequestError, nearest
from onnxpad.frameworks import values
from onnxpad.frameworks.choices import Fill
from onnxpad.frameworks.layer import Layer
from onnxpad.plugins import Plugins, name_of, text_of

T = TypeVar("T")

OPS = ("conv", "depthwise_conv", "grouped_conv", "max_pool", "avg_pool", "conv_transpose")
_SHORT = {op.replace("_", ""): op for op in OPS} | {
    "depthwise": "depthwise_conv",
    "grouped": "grouped_conv",
    "groupconv": "grouped_conv",
    "deconv": "conv_transpose",
    "transposeconv": "conv_transpose",
    "transposedconv": "conv_transpose",
}
_LONG = {"_": "", "convolution": "conv", "pooling": "pool", "average": "avg"}


class Convention(NamedTuple):
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


def by_name_and_alias() -> dict[str, Convention]:
    """Every convention by each of its names."""
    known = all_conventions()
    return known | {alias: one for one in known.values() for alias in one.aliases}


def find_convention(name: str) -> Convention:
    """A convention by its name or alias; RequestError with the nearest."""
    return find_named(name, by_name_and_alias())


def find_named(name: str, known: Mapping[str, T]) -> T:
    """What `known` has under a name; capitals, and '_', '-' or blanks within it, do not matter.

    RequestError with the nearest name where there is none.
    """
    names = {_folded(one): one for one in known}
    if _folded(name) in names:
        return known[names[_folded(name)]]
    near = nearest(_folded(name), names)
    hint = f"did you mean '{names[near[0]]}'?" if near else "'onnxpad explain' lists them"
    raise RequestError(f"no convention is called '{name}': {hint}")


def _folded(name: str) -> str:
    return re.sub(r"[\s_]+", "-", str(name).strip().casefold())


def find_op(op: str) -> tuple[str, int | None]:
    """(operator, rank) of a name such as conv, Conv2D, MaxPool2d; no rank without a digit."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(op).strip()).casefold()
    key = re.sub(r"[\s_-]+", "_", word)
    digit = re.search(r"([123])_?d", key)
    key = re.sub(r"_?[123]_?d", "", key)
    short = key
    for long, part in _LONG.items():
        short = short.replace(long, part)
    if short not in _SHORT:
        raise RequestError(f"no operator is called {op!r}{values.hint(key, dict.fromkeys(OPS))}")
    return _SHORT[short], int(digit[1]) if digit else None


def find_layer(convention: Convention, op: str) -> Layer:
    """The framework's layer for an operator; grouped and depthwise ones may be its conv."""
    for layer in convention.layers:
        if layer.op == op:
            return layer
    for layer in convention.layers:
        if layer.op == "conv" and op in {"depthwise_conv", "grouped_conv"}:
            return layer
    known = ", ".join(layer.op for layer in convention.layers)
    raise RequestError(f"{convention.name}: nothing is known of its {op}, only of {known}")


def frequent_first(names: Iterable[str]) -> list[str]:
    """The names of conventions, those that models come from most often first."""
    known = all_conventions()
    return sorted(names, key=lambda name: (known[name].listed, name))


@cache
def _convention_in(module: ModuleType) -> Convention:
    found: Convention = module.CONVENTION
    return found._replace(name=name_of(module), text=text_of(module))


_CONVENTIONS = Plugins(__name__, "convention", _convention_in)
