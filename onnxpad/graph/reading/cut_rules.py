"""Output types of operators that cut, and of those that take a shape as their input."""

from __future__ import annotations

from collections.abc import Sequence

from onnxpad.geometry.cuts import FAR, cells_of_cut
from onnxpad.geometry.size import Size, lower_bound
from onnxpad.geometry.sums import Sum, added, at_least, scaled, size_of, sum_of
from onnxpad.graph.reading.resize_rules import RESIZE_RULES
from onnxpad.graph.reading.shape_rules import RULES, Facts, Rule
from onnxpad.graph.reading.types import Type


def _slice(inputs: Sequence[Type], facts: Facts) -> Type:
    """Sizes behind a Slice with constant places; an axis whose size they do not settle is open."""
    dtype, dims = inputs[0]
    if dims is None:
        return Type(dtype)
    starts, ends = _list(facts, "starts", 1), _list(facts, "ends", 2)
    axes = _known(_list(facts, "axes", 3)) if _is_given(facts, "axes", 3, len(inputs)) else ()
    if axes is None or (starts is None and not axes):
        return Type(dtype, (None,) * len(dims))
    count = len(axes or starts or ())
    axes, steps = axes or tuple(range(count)), _list(facts, "steps", 4)
    if steps is None:
        steps = (None if len(inputs) > _STEPS else 1,) * count
    unknown = (None,) * count
    sizes = list(dims)
    for axis, *cut in zip(axes, starts or unknown, ends or unknown, steps, strict=True):
        sizes[axis] = _cut(sizes[axis], *cut)
    return Type(dtype, tuple(sizes))


def places(facts: Facts) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """Starts and ends of a Slice where they are constant."""
    return _known(_list(facts, "starts", 1)), _known(_list(facts, "ends", 2))


def _is_given(facts: Facts, attribute: str, position: int, count: int) -> bool:
    return attribute in facts.attributes() or count > position


def _known(listed: Sizes | None) -> tuple[int, ...] | None:
    numbers = tuple(number for number in listed or () if isinstance(number, int))
    return numbers if listed is not None and len(numbers) == len(listed) else None


def _list(facts: Facts, attribute: str, position: int) -> Sizes | None:
    written = facts.attributes().get(attribute)
    if isinstance(written, tuple):
        return tuple(int(value) for value in written)
    return facts.sizes(position)


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
    last = sum_of(size) if isinstance(end, int) and end >= FAR else _place(size, end)
    between = None if first is None or last is None else _difference(last, first)
    least = None if between is None else at_least(between)
    return size_of(between) if between is not None and least is not None and least > 0 else None


def _place(size: Size, place: Size) -> Sum | None:
    """Where a cut lies within an axis, None where it may lie outside."""
    if isinstance(place, int) and place < 0:
        found = added(sum_of(size), sum_of(place))
        return found if found is not None and _never_below_zero(found) else None
    rest = _difference(sum_of(size), sum_of(place))
    inside = rest is not None and _never_below_zero(rest) and _never_below_zero(sum_of(place))
    return sum_of(place) if inside else None


def _difference(one: Sum, other: Sum) -> Sum | None:
    negative = scaled(other, -1)
    return None if negative is None else added(one, negative)


def _never_below_zero(one: Sum) -> bool:
    least = at_least(one)
    return least is not None and least >= 0


Sizes = tuple[Size | None, ...]
_STEPS = 4


def _expand(inputs: Sequence[Type], facts: Facts) -> Type:
    """The wanted sizes, where the input is one cell."""
    dtype, dims = inputs[0]
    wanted, listed = facts.sizes(1), inputs[1].dims
    if dims is None or any(size != 1 for size in dims):
        return Type(dtype)
    if wanted is not None:
        return Type(dtype, wanted) if len(wanted) >= len(dims) else Type(dtype)
    count = listed[0] if listed else None
    return Type(dtype, (None,) * count if isinstance(count, int) else None)


def _constant_of_shape(_: Sequence[Type], facts: Facts) -> Type:
    value = facts.attributes().get("value")
    return Type("" if value is not None else "float32", facts.sizes(0))


def _reshape(inputs: Sequence[Type], facts: Facts) -> Type:
    """The wanted sizes: 0 keeps the size at its place, -1 is what is left of the cells."""
    dtype, dims = inputs[0]
    wanted = facts.sizes(1)
    if wanted is None:
        return Type(dtype)
    if facts.attributes().get("allowzero") == 1 and 0 in wanted:
        return Type(dtype, tuple(None if size == 0 else size for size in wanted))
    kept = [
        (dims[place] if dims and place < len(dims) else None) if size == 0 else size
        for place, size in enumerate(wanted)
    ]
    # A size that could be 0 or below would keep another, or be worked out from the rest.
    sure = (size is not None and (size == 0 or lower_bound(size) > 0) for size in kept)
    return Type(dtype, tuple(size if ok else None for size, ok in zip(kept, sure, strict=True)))


def _shape(inputs: Sequence[Type], facts: Facts) -> Type:
    """As many integers as there are axes, from start up to end (Shape-15)."""
    dims, marks = inputs[0].dims, facts.attributes()
    start, end = marks.get("start", 0), marks.get("end", len(dims or ()))
    if dims is None or not isinstance(start, int) or not isinstance(end, int):
        return Type("int64")
    return Type("int64", (len(dims[start:end]),))


CUT_RULES: dict[str, Rule] = {
    "Slice": _slice,
    "Expand": _expand,
    "Shape": _shape,
    "Reshape": _reshape,
    "ConstantOfShape": _constant_of_shape,
}

PLAIN_RULES = RULES | CUT_RULES | RESIZE_RULES
"""Rules of every operator of ONNX that has one here."""
