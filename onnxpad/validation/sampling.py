"""Random inputs that show padding: signed, of odd and even sizes, never constant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import RequestError
from onnxpad.geometry.size import Size, Symbol
from onnxpad.model.shapes.types import Type

Array = NDArray[Any]
Feeds = dict[str, Array]
Style = Literal["range", "small", "ones"]
_STEPS = (0, 1, 3, 6)
_SCHEMES: tuple[tuple[int, bool], ...] = (
    (32, False),
    (64, False),
    (64, True),
    (16, False),
    (128, True),
    (224, True),
    (256, True),
    (512, True),
    (8, False),
)


@dataclass(frozen=True, slots=True)
class Draw:
    """How one sample is tried: sizes from `size_from`, all alike or not, and integers."""

    size_from: int
    square: bool
    style: Style


class Sampler:
    """Draws samples for inputs of these types; the same seed gives the same samples.

    Raises RequestError for a seed below 0, and for inputs that random numbers cannot fill.
    """

    def __init__(self, types: Mapping[str, Type], seed: int) -> None:
        if seed < 0:
            raise RequestError(f"seed is {seed}: give 0 or more")
        self._types = types
        self._seed = seed
        for name, type_ in types.items():
            _check(name, type_)

    def draws(self) -> Iterator[Draw]:
        """Attempts in order: sizes that differ first, then square ones, then tamer integers."""
        dims = [d for t in self._types.values() for d in t.dims or ()]
        open_sizes = any(isinstance(size, Symbol) for size in dims)
        integers = any(t.dtype.startswith(("int", "uint")) for t in self._types.values())
        styles: tuple[Style, ...] = ("range", "small", "ones") if integers else ("range",)
        for style in styles:
            for size_from, square in _SCHEMES if open_sizes else _SCHEMES[:1]:
                yield Draw(size_from, square, style)

    @property
    def open_sizes(self) -> tuple[str, ...]:
        """Named dimensions whose sizes are drawn; the batch counts only where nothing else does."""
        named = [
            (axis, size.root)
            for type_ in self._types.values()
            for axis, size in enumerate(type_.dims or ())
            if isinstance(size, Symbol) and size.root
        ]
        inner = [root for axis, root in named if axis]
        return tuple(dict.fromkeys(inner or [root for _, root in named]))

    def sample(self, index: int, draw: Draw) -> Feeds:
        """One value for every input; every third sample, from the second, has no positive float."""
        random = np.random.default_rng([self._seed, index])
        sizes: dict[str, int] = {}
        feeds = {}
        for name, type_ in self._types.items():
            shape = [
                _size(size, axis, len(type_.dims or ()), sizes, index, draw)
                for axis, size in enumerate(type_.dims or ())
            ]
            feeds[name] = _values(random, np.dtype(type_.dtype), shape, index, draw.style)
        return feeds


def _check(name: str, type_: Type) -> None:
    if type_.dtype in ("", "string"):
        kind = type_.dtype or "no plain tensor type"
        raise RequestError(f"input '{name}' has {kind}: random numbers cannot fill it; give inputs")
    if type_.dims is None:
        raise RequestError(f"input '{name}' has no shape in the model: give inputs for it")


def _size(
    size: Size | None, axis: int, rank: int, sizes: dict[str, int], index: int, draw: Draw
) -> int:
    if isinstance(size, int):
        return size
    if size is None:
        return draw.size_from
    if size.name not in sizes:
        if axis == 0 and rank > 1:
            wanted = 1 + index % 2
        elif draw.square:
            wanted = draw.size_from * (1 + index % 2)
        else:
            wanted = draw.size_from + _STEPS[(index + len(sizes)) % len(_STEPS)]
        sizes[size.name] = _fitting(size, wanted)
    return sizes[size.name]


def _fitting(size: Symbol, wanted: int) -> int:
    least = max(wanted, size.minimum, 1)
    return least + (size.residue - least) % size.modulus


def _values(
    random: np.random.Generator, dtype: np.dtype[Any], shape: list[int], index: int, style: Style
) -> Array:
    if dtype.kind == "b" and not shape:
        return np.array(index % 2 == 0)  # every branch of an If gets its turn
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return _integers(random, dtype, shape, style)
    values = random.standard_normal(shape)
    if index % 3 == 1:
        values = -np.abs(values) - 0.05
    drawn: Array = values.astype(dtype)
    return drawn


def _integers(
    random: np.random.Generator, dtype: np.dtype[Any], shape: list[int], style: Style
) -> Array:
    if style == "ones":
        return np.ones(shape, dtype)
    if style == "small":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.itemsize <= 2:
        info = np.iinfo(dtype)
        return random.integers(info.min, int(info.max) + 1, shape).astype(dtype)
    least = 0 if dtype.kind == "u" else -4
    return random.integers(least, 8, shape).astype(dtype)
