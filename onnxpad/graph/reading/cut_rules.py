"""Output types of Slice, Shape and Expand, which rewrites put beside Pad nodes."""

from __future__ import annotations

from collections.abc import Sequence

from onnxpad.geometry.size import Size, lower_bound, plus
from onnxpad.graph.reading.resize_rules import RESIZE_RULES
from onnxpad.graph.reading.shape_rules import RULES, Facts, Rule
from onnxpad.graph.reading.types import Type


def _slice(inputs: Sequence[Type], facts: Facts) -> Type:
    """Sizes behind a Slice with constant places; an axis whose size they do not settle is open."""
    dtype, dims = inputs[0]
    if dims is None:
        return Type(dtype)
    starts, ends = places(facts)
    if starts is None or ends is None:
        return Type(dtype, (None,) * len(dims))
    axes = _list(facts, "axes", 3) or tuple(range(len(starts)))
    steps = _list(facts, "steps", 4) or (1,) * len(starts)
    sizes = list(dims)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        sizes[axis] = _cut(sizes[axis], start, end, step)
    return Type(dtype, tuple(sizes))


def places(facts: Facts) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """Starts and ends of a Slice where they are constant."""
    return _list(facts, "starts", 1), _list(facts, "ends", 2)


def _list(facts: Facts, attribute: str, position: int) -> tuple[int, ...] | None:
    written = facts.attributes().get(attribute)
    if isinstance(written, tuple):
        return tuple(int(value) for value in written)
    return facts.integers(position)


def _cut(size: Size | None, start: int, end: int, step: int) -> Size | None:
    """The number of cells from `start` up to `end`; None where it hangs on a size not known."""
    if isinstance(size, int):
        return _counted(size, start, end, step)
    if size is None or step != 1:
        return None
    least = lower_bound(size)
    behind = end >= _FAR
    if start >= 0 and (behind or end < 0):
        cut = start if behind else start - end
        return plus(size, -cut) if cut < least else None
    if start < 0 and behind and -start <= least:
        return -start
    if 0 <= start <= end <= least:
        return end - start
    return None


def _counted(size: int, start: int, end: int, step: int) -> int | None:
    """Cells of a Slice-13; backwards a start in front of the first cell is the first cell.

    An end of INT_MAX is none of the text's when steps go back: onnxruntime 1.31.1 takes it for
    the very beginning, and INT_MIN says the same without doubt.
    """
    if step > 0 or not size:
        return len(range(*slice(start, end, step).indices(size)))
    if end >= _FAR:
        return None
    first = min(max(start + size if start < 0 else start, 0), size - 1)
    last = min(max(end + size if end < 0 else end, -1), size - 1)
    return len(range(first, last, step))


_FAR = 2**31 - 1


def _expand(inputs: Sequence[Type], facts: Facts) -> Type:
    """The wanted sizes, where the input is one cell."""
    dtype, dims = inputs[0]
    wanted, listed = facts.integers(1), inputs[1].dims
    if dims is None or any(size != 1 for size in dims) or not listed:
        return Type(dtype)
    if wanted is not None:
        return Type(dtype, wanted) if len(wanted) >= len(dims) else Type(dtype)
    count = listed[0]
    return Type(dtype, (None,) * count if isinstance(count, int) else None)


def _shape(inputs: Sequence[Type], facts: Facts) -> Type:
    """As many integers as there are axes, from start up to end (Shape-15)."""
    dims, marks = inputs[0].dims, facts.attributes()
    start, end = marks.get("start", 0), marks.get("end", len(dims or ()))
    if dims is None or not isinstance(start, int) or not isinstance(end, int):
        return Type("int64")
    return Type("int64", (len(dims[start:end]),))


CUT_RULES: dict[str, Rule] = {"Slice": _slice, "Expand": _expand, "Shape": _shape}

PLAIN_RULES = RULES | CUT_RULES | RESIZE_RULES
"""Rules of every operator of ONNX that has one here."""
