"""Exact output types of operators without padding, from symbolic input types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod

import numpy as np

from onnxpad.geometry.cuts import FAR, cells_of_cut
from onnxpad.geometry.linear import Linear, added, linear_of, minus, never_below, size_of
from onnxpad.geometry.size import Size, Symbol, floor_divide, lower_bound, times
from onnxpad.model.graph.attributes import Value, integers
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.open_cells import sizes_of
from onnxpad.model.graph.types import Type, dtype_name
from onnxpad.padding.plain_operators import ARITHMETIC, CELL_BY_CELL, COMPARISONS

Sizes = tuple[Size | None, ...]


class NodeFacts:
    """What a rule may ask about one node, read in one context."""

    def __init__(self, context: Context, node: Node) -> None:
        self._context = context
        self._node = node

    def attributes(self) -> dict[str, Value]:
        """Attributes, with the call's values where they are references."""
        return self._context.attributes(self._node)

    def floats(self, position: int) -> tuple[float, ...] | None:
        """Constant numbers of floating point at an input, or None."""
        array = self._context.constant(self._node.input(position))
        if array is None or array.dtype.kind != "f":
            return None
        return tuple(float(value) for value in array.reshape(-1))

    def is_given(self, attribute: str, position: int) -> bool:
        """Whether the node has an attribute, or the input that took its place."""
        return attribute in self.attributes() or self._node.input(position) != ""

    def listed(self, attribute: str, position: int) -> Sizes | None:
        """Integers of an attribute, or of the input that replaced it; None if unknown."""
        written = self.attributes().get(attribute)
        return tuple(map(int, written)) if isinstance(written, tuple) else self.sizes(position)

    def sizes(self, position: int) -> Sizes | None:
        """Integers at an input as far as they are known; None where not even their number is."""
        name = self._node.input(position)
        value = self._context.value(name) if name else None
        return None if value is None or value.ndim > 1 else sizes_of(value)


ShapeRule = Callable[[Sequence[Type], NodeFacts], Type]
"""The type of the first output."""

_KEEP = (
    *(*CELL_BY_CELL, "PRelu", "Swish", "ThresholdedRelu", "Shrink"),
    *("Identity", "Dropout", "CumSum", "Trilu"),
    *("BatchNormalization", "InstanceNormalization", "GroupNormalization", "LRN"),
    *("LayerNormalization", "LpNormalization", "MeanVarianceNormalization"),
    *("Softmax", "LogSoftmax", "Hardmax"),
)


def keep(inputs: Sequence[Type], _: NodeFacts) -> Type:
    """The type of the first input."""
    return inputs[0]


def _cast(inputs: Sequence[Type], facts: NodeFacts) -> Type:
    to = facts.attributes().get("to")
    return Type(dtype_name(to) if isinstance(to, int) else "", inputs[0].dims)


def quantize(inputs: Sequence[Type], facts: NodeFacts) -> Type:
    """The zero point's element type, uint8 without one."""
    wanted = facts.attributes().get("output_dtype", 0)
    if len(inputs) > 2:
        return Type(inputs[2].dtype, inputs[0].dims)
    if not isinstance(wanted, int):
        return Type("", inputs[0].dims)
    return Type(dtype_name(wanted) if wanted else "uint8", inputs[0].dims)


def dequantize(inputs: Sequence[Type], _: NodeFacts) -> Type:
    """The scale's element type."""
    return Type(inputs[1].dtype or "float32", inputs[0].dims)


def broadcast(inputs: Sequence[Type], _: NodeFacts) -> Type:
    """The joint shape of all inputs (ONNX Broadcasting.md)."""
    dtype = next((one.dtype for one in inputs if one.dtype), "")
    shapes = [one.dims for one in inputs]
    if shapes.count(shapes[0]) == len(shapes):
        return Type(dtype, shapes[0])
    if any(dims is None for dims in shapes):
        return Type(dtype)
    known = [dims for dims in shapes if dims is not None]
    rank = max(len(dims) for dims in known)
    padded = [(1,) * (rank - len(dims)) + dims for dims in known]
    return Type(dtype, tuple(_joint(sizes) for sizes in zip(*padded, strict=True)))


def _joint(sizes: Sequence[Size | None]) -> Size | None:
    """The broadcast of sizes that fit each other; None where it depends on what is not known."""
    fixed = [size for size in sizes if isinstance(size, int) and size != 1]
    if fixed:
        return fixed[0]
    others = {size for size in sizes if size != 1}
    return 1 if not others else others.pop() if len(others) == 1 else None


def _logic(inputs: Sequence[Type], facts: NodeFacts) -> Type:
    return Type("bool", broadcast(inputs, facts).dims)


def _concat(inputs: Sequence[Type], facts: NodeFacts) -> Type:
    axis = facts.attributes().get("axis", 1)
    shapes = [one.dims for one in inputs if one.dims is not None]
    dtype = next((one.dtype for one in inputs if one.dtype), "")
    if len(shapes) < len(inputs) or not isinstance(axis, int):
        return Type(dtype)
    rank = len(shapes[0])
    sizes: list[Size | None] = []
    for position in range(rank):
        column = [dims[position] for dims in shapes]
        sizes.append(_sum(column) if position == axis % rank else _agreed(column))
    return Type(dtype, tuple(sizes))


def _agreed(column: Sequence[Size | None]) -> Size | None:
    fixed = next((size for size in column if isinstance(size, int)), None)
    return fixed if fixed is not None else next((size for size in column if size is not None), None)


def _sum(column: Sequence[Size | None]) -> Size | None:
    """Sizes side by side; None where one is not known, or names add up that do not fit."""
    total: Linear | None = linear_of(0)
    for size in column:
        total = None if size is None or total is None else added(total, linear_of(size))
    return None if total is None else size_of(total)


_EXACT = 2**24
"""Whole numbers up to here are exact in float32."""


def _resize(inputs: Sequence[Type], facts: NodeFacts) -> Type:
    """Sizes of Resize and of the older Upsample, where the scales are constant."""
    dtype, dims = inputs[0]
    if dims is None:
        return Type(dtype)
    scales, attributes = scales_of(len(inputs), facts), facts.attributes()
    crops = attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize"
    axes = integers(attributes, "axes") or tuple(range(len(dims)))
    if not scales or crops or len(axes) != len(scales):
        return Type(dtype, (None,) * len(dims))
    sizes = list(dims)
    for axis, scale in zip(axes, scales, strict=True):
        sizes[axis] = scaled_size(sizes[axis], scale)
    return Type(dtype, tuple(sizes))


def scales_of(inputs: int, facts: NodeFacts) -> tuple[float, ...] | None:
    """The scales of a node with this many inputs, where they are constant; () where it has none.

    Upsample-7 has them as an attribute, later ones and Resize-10 at input 1, Resize-11 at input 2.
    """
    written = facts.attributes().get("scales")
    if isinstance(written, tuple):
        return tuple(map(float, written))
    return facts.floats(2 if inputs > 2 else 1)


def scaled_size(size: Size | None, scale: float) -> Size | None:
    """floor(size * scale) (Resize-19), None where that hangs on how the product is rounded.

    onnxruntime 1.31.1 multiplies in float32, onnx 1.23.2 infers otherwise: 10 cells times 0.7 are
    7 for the one and 6 for the other.
    """
    exact = Fraction(float(np.float32(scale)))
    if size is None or exact <= 0:
        return None
    if isinstance(size, int):
        rounded = int(np.float32(size) * np.float32(scale))
        return rounded if rounded == int(exact * size) and size < _EXACT else None
    if exact.denominator == 1:
        return times(size, exact.numerator)
    return floor_divide(size, exact.denominator) if exact.numerator == 1 else None


def _slice(inputs: Sequence[Type], facts: NodeFacts) -> Type:
    """Sizes behind a Slice with constant places; an axis whose size they do not settle is open."""
    dtype, dims = inputs[0]
    if dims is None:
        return Type(dtype)
    sizes = list(dims)
    starts, ends, axes, steps = slice_lists(facts)
    if axes is None or None in axes:
        return Type(dtype, (None,) * len(dims))
    unknown = (None,) * len(axes)
    for axis, *cut in zip(axes, starts or unknown, ends or unknown, steps or unknown, strict=True):
        sizes[axis] = _cut(sizes[axis], *cut)  # type: ignore[index]
    return Type(dtype, tuple(sizes))


def slice_lists(facts: NodeFacts) -> tuple[Sizes | None, ...]:
    """Starts, ends, axes and steps of a Slice, None for a list that is not known.

    All axes from the first on are cut where none are listed, by steps of 1 where no steps are.
    """
    starts, ends = facts.listed("starts", 1), facts.listed("ends", 2)
    axes: Sizes | None = None if starts is None else tuple(range(len(starts)))
    if facts.is_given("axes", 3):
        axes = facts.listed("axes", 3)
    steps: Sizes | None = (1,) * len(axes or ())
    if facts.is_given("steps", 4):
        steps = facts.listed("steps", 4)
    return starts, ends, axes, steps


def _cut(size: Size | None, start: Size | None, end: Size | None, step: Size | None) -> Size | None:
    """The number of cells from `start` up to `end`; None where it hangs on a size not known."""
    if size is None or start is None or end is None or not isinstance(step, int):
        return None
    if isinstance(size, int) and isinstance(start, int) and isinstance(end, int):
        cells = cells_of_cut(size, start, end, step)
        return None if cells is None else len(cells)
    if step != 1:
        return None
    first = _place(size, start)
    last = linear_of(size) if isinstance(end, int) and end >= FAR else _place(size, end)
    between = None if first is None or last is None else minus(last, first)
    return None if between is None or not never_below(between, 1) else size_of(between)


def _place(size: Size, place: Size) -> Linear | None:
    """Where a cut lies within an axis, None where it may lie outside."""
    if isinstance(place, int) and place < 0:
        found = added(linear_of(size), linear_of(place))
        return found if found is not None and never_below(found, 0) else None
    cut = linear_of(place)
    rest = minus(linear_of(size), cut)
    inside = rest is not None and never_below(rest, 0) and never_below(cut, 0)
    return cut if inside else None


def _expand(inputs: Sequence[Type], facts: NodeFacts) -> Type:
    """The joint shape of the input and of the wanted sizes."""
    dtype, dims = inputs[0]
    wanted, listed = facts.sizes(1), inputs[1].dims
    if wanted is None and listed and isinstance(listed[0], int):
        wanted = (None,) * listed[0]
    if dims is None or wanted is None:
        return Type(dtype)
    return Type(dtype, broadcast((Type(dtype, dims), Type(dtype, wanted)), facts).dims)


def _constant_of_shape(_: Sequence[Type], facts: NodeFacts) -> Type:
    value = facts.attributes().get("value")
    return Type("" if value is not None else "float32", facts.sizes(0))


def _reshape(inputs: Sequence[Type], facts: NodeFacts) -> Type:
    """The wanted sizes: 0 keeps the size at its place, -1 is what is left of the cells."""
    dtype, dims = inputs[0]
    wanted = facts.sizes(1)
    if wanted is None:
        return Type(dtype)
    if facts.attributes().get("allowzero") == 1 and 0 in wanted:
        return Type(dtype, tuple(None if size == 0 else size for size in wanted))
    kept = [
        (dims[index] if dims and index < len(dims) else None) if size == 0 else size
        for index, size in enumerate(wanted)
    ]
    # A size that could be 0 or below would keep another, or be worked out from the rest.
    sure = (size is not None and (size == 0 or lower_bound(size) > 0) for size in kept)
    left = _left(dims, kept)
    return Type(
        dtype,
        tuple(
            size if ok else (left if size == -1 else None)
            for size, ok in zip(kept, sure, strict=True)
        ),
    )


def _left(dims: Sizes | None, kept: Sequence[Size | None]) -> Size | None:
    """What -1 stands for, where open sizes on both sides are the same but for one at most."""
    others = list(kept)
    if dims is None or others.count(-1) != 1:
        return None
    others.remove(-1)
    cells = []
    for size in dims:
        if isinstance(size, Symbol) and size in others and lower_bound(size) > 0:
            others.remove(size)
        else:
            cells.append(size)
    numbers = [size for size in others if isinstance(size, int) and size > 0]
    if len(numbers) < len(others):
        return None
    whole = prod(size for size in cells if isinstance(size, int))
    match [size for size in cells if not isinstance(size, int)]:
        case []:
            return whole // prod(numbers) if not whole % prod(numbers) else None
        case [Symbol() as size]:
            return floor_divide(times(size, whole), prod(numbers))
        case _:
            return None


PLAIN_RULES: dict[str, ShapeRule] = {
    **dict.fromkeys(_KEEP, keep),
    **dict.fromkeys(ARITHMETIC, broadcast),
    **dict.fromkeys((*COMPARISONS, "Not"), _logic),
    "Cast": _cast,
    "QuantizeLinear": quantize,
    "DequantizeLinear": dequantize,
    "Concat": _concat,
    "Slice": _slice,
    "Expand": _expand,
    "Reshape": _reshape,
    "ConstantOfShape": _constant_of_shape,
    **dict.fromkeys(("Resize", "Upsample"), _resize),
}
"""Rules of every operator of ONNX that has one here."""


def ruled(rule: ShapeRule, inputs: Sequence[Type], facts: NodeFacts) -> Sequence[Type]:
    """What a rule says; nothing where the node has fewer inputs or other axes than it may."""
    try:
        return (rule(inputs, facts),)
    except (IndexError, ValueError, RuntimeError, ZeroDivisionError):
        return ()
