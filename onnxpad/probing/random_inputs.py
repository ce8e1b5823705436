"""Random inputs of a model: the sizes to try, and numbers that fill them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.errors import RequestError
from onnxpad.geometry.size import Size, Symbol
from onnxpad.model.comparing.networks import Network
from onnxpad.model.graph.types import Type

Array = NDArray[Any]
Feeds = dict[str, Array]
Style = Literal["range", "small", "ones"]
_STEPS = (0, 1, 3, 6)
_FIRST = 32
_SIZES: tuple[tuple[int, bool], ...] = (
    *((_FIRST, False), (64, False), (64, True), (16, False)),
    *((128, True), (224, True), (256, True), (512, True), (8, False)),
)
# Sizes where the first axis may be one of an image.
_LONG = (32, 64)
_MOST_AXES = 64
_MOST_COUNTS = 4


class Undrawable(RequestError):
    """Random numbers cannot fill an input; other inputs may be given."""


@dataclass(frozen=True, slots=True)
class Draw:
    """How one sample is tried: sizes from `size_from`, all alike (`square`) or not, and integers.

    Axis 1 of an image has so many `channels` where they are open and not 0. The first axis is a
    batch of one or two, unless it is `long` like the others. `exact`: all sizes are `size_from`.
    """

    size_from: int
    square: bool = False
    style: Style = "range"
    channels: int = 0
    long: bool = False
    exact: bool = False


def channel_counts(network: Network) -> tuple[int, ...]:
    """Numbers of channels that weights read: those of convolutions first, then rows of numbers."""
    convolved, rows = list[int](), list[int]()
    for node in network.nodes:
        shapes = [
            tuple(network.initializers[n].dims) for n in node.input if n in network.initializers
        ]
        rows += [max(dims) for dims in shapes if prod(dims) == max(dims, default=1) > 1]
        weights = [dims for dims in shapes if len(dims) > 2]
        if node.op_type == "ConvTranspose" and weights:
            convolved.append(weights[0][0])
        elif node.op_type == "Conv" and weights:
            group = next((one.i for one in node.attribute if one.name == "group"), 1)
            convolved.append(weights[0][1] * group)
    return tuple(dict.fromkeys((*convolved[:1], *rows, *convolved)))[:_MOST_COUNTS]


class Sampler:
    """Draws samples for inputs of these types; the same seed gives the same samples.

    Raises RequestError for a seed below 0, and for inputs that random numbers cannot fill.
    """

    def __init__(self, types: Mapping[str, Type], seed: int, channels: Sequence[int] = ()) -> None:
        """`channels` are numbers of channels to try where axis 1 of an image is open."""
        if seed < 0:
            raise RequestError(f"seed is {seed}: give 0 or more")
        self.settled: Draw | None = None
        self._types, self._seed = types, seed
        for name, type_ in types.items():
            _check(name, type_)
        self._dims = {name: type_.dims or () for name, type_ in types.items()}
        opens = (len(dims) > 2 and not isinstance(dims[1], int) for dims in self._dims.values())
        self._channels = channels if any(opens) else ()

    def draws(self) -> Iterator[Draw]:
        """Attempts in order: the settled one, sizes that differ, square ones, tamer integers."""
        if self.settled:
            yield self.settled
        is_open = any(isinstance(size, Symbol) for dims in self._dims.values() for size in dims)
        integers = any(one.dtype.startswith(("int", "uint")) for one in self._types.values())
        styles: tuple[Style, ...] = ("range", "small", "ones") if integers else ("range",)
        for style in styles:
            for size_from, square in _SIZES if is_open else _SIZES[:1]:
                yield Draw(size_from, square, style)
                if size_from == _FIRST:
                    yield from (Draw(size_from, square, style, count) for count in self._channels)
            if any(isinstance(size, Symbol) for dims in self._dims.values() for size in dims[:1]):
                yield from (Draw(size, style=style, long=True) for size in _LONG)

    @property
    def open_sizes(self) -> tuple[str, ...]:
        """Named dimensions whose sizes are drawn; the batch counts only where nothing else does."""
        named = [
            (axis, size.root)
            for dims in self._dims.values()
            for axis, size in enumerate(dims)
            if isinstance(size, Symbol) and size.root
        ]
        inner = [root for axis, root in named if axis]
        return tuple(dict.fromkeys(inner or [root for _, root in named]))

    def cells(self, index: int, draw: Draw) -> int:
        """How many cells all inputs have."""
        return sum(map(prod, self.shapes(index, draw).values()))

    def sample(self, index: int, draw: Draw) -> Feeds:
        """One value for every input; every third sample, from the second, has no positive float.

        Raises RequestError where they take more memory than running may.
        """
        random = np.random.default_rng([self._seed, index])
        shapes = self.shapes(index, draw)
        cells = sum(map(prod, shapes.values()))
        needed = 2 * sum(
            prod(s) * np.dtype(self._types[n].dtype).itemsize for n, s in shapes.items()
        )
        allowed = processes.current().memory_allowed()
        if needed > allowed:  # here, and where the model runs
            name = max(shapes, key=lambda one: prod(shapes[one]))
            raise Undrawable(
                f"random inputs of these sizes have {cells} cells and take "
                f"{processes.readable(needed)} of memory, more than {processes.readable(allowed)}: "
                f"'{name}' is {list(shapes[name])}\n"
                "  try     smaller sizes with --dim, inputs of your own with --inputs, or "
                f"--memory {processes.readable(2 * needed, '')}"
            )
        return {
            name: _values(random, np.dtype(self._types[name].dtype), shape, index, draw.style)
            for name, shape in shapes.items()
        }

    def shapes(self, index: int, draw: Draw) -> dict[str, list[int]]:
        """The shape of every input."""
        sizes: dict[str, int] = {}
        return {
            name: [
                _size(size, axis, len(dims), sizes, index, draw) for axis, size in enumerate(dims)
            ]
            for name, dims in self._dims.items()
        }


def _check(name: str, type_: Type) -> None:
    if type_.dtype in ("", "string"):
        kind = "texts" if type_.dtype else "a type that numpy lacks (float8, int4)"
    elif type_.dims is None or len(type_.dims) > _MOST_AXES:
        kind = "no shape in the model" if type_.dims is None else f"more than {_MOST_AXES} axes"
    else:
        return
    raise Undrawable(
        f"input '{name}' has {kind}: random numbers cannot fill it\n"
        "  try     --proof-only, which runs nothing, or inputs of your own with --inputs"
    )


def _size(
    size: Size | None, axis: int, rank: int, sizes: dict[str, int], index: int, draw: Draw
) -> int:
    if isinstance(size, int):
        return size
    if draw.channels and axis == 1 and rank > 2:
        return draw.channels
    if size is None:
        return draw.size_from
    if size.name not in sizes:
        if axis == 0 and rank > 1 and not draw.long:
            wanted = 1 + index % 2
        elif draw.exact:
            wanted = draw.size_from
        elif draw.square:
            wanted = draw.size_from * (1 + index % 2)
        else:
            wanted = draw.size_from + _STEPS[(index + len(sizes)) % len(_STEPS)]
        least = max(wanted, size.minimum, 1)
        sizes[size.name] = least + (size.residue - least) % size.modulus
    return sizes[size.name]


def _values(
    random: np.random.Generator, dtype: np.dtype[Any], shape: list[int], index: int, style: Style
) -> Array:
    if dtype.kind == "b" and not shape:
        return np.array(index % 2 == 0)  # every branch of an If gets its turn
    if style == "ones" and dtype.kind in "iu":
        return np.ones(shape, dtype)
    if dtype.kind == "b" or (dtype.kind in "iu" and style == "small"):
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu" and dtype.itemsize <= 2:
        info = np.iinfo(dtype)
        return random.integers(info.min, int(info.max) + 1, shape).astype(dtype)
    if dtype.kind in "iu":
        return random.integers(0 if dtype.kind == "u" else -4, 8, shape).astype(dtype)
    values: Array = random.standard_normal(shape)
    return np.asarray(-np.abs(values) - 0.05 if index % 3 == 1 else values).astype(dtype)
