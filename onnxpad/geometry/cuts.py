"""Cells of one axis that a Slice takes or that a mode of Pad repeats, for every size."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

FAR = 2**31 - 1


def cells_of_cut(size: int, start: int, end: int, step: int) -> range | None:
    """Places of the cells that Slice-13 takes of an axis of `size` cells, in their order.

    Backwards a start in front of the first cell is the first cell. An end of INT_MAX is none of
    the text's when steps go back: onnxruntime 1.31.1 takes it for the very beginning, and INT_MIN
    says the same without doubt; None for that.
    """
    if step > 0 or not size:
        return range(*slice(start, end, step).indices(size))
    if end >= FAR:
        return None
    first = min(max(start + size if start < 0 else start, 0), size - 1)
    last = min(max(end + size if end < 0 else end, -1), size - 1)
    return range(first, last, step)


LAST = 2**63 - 1


class Cut(NamedTuple):
    """The cells from `start` up to `stop`; negative places count from the end of the axis.

    With step -1 it runs backwards, and `stop` lies in front of its last cell.
    """

    start: int
    stop: int
    step: Literal[1, -1] = 1


WHOLE = Cut(0, LAST)
Mode: TypeAlias = Literal["reflect", "edge", "wrap"]
LONGEST_ROW = 8


def repeated_cells(
    mode: Mode, width: int, size: int | None, *, behind: bool, steps: bool
) -> list[Cut]:
    """What stands in front of the axis or behind it, in order (ONNX Operators, Pad; numpy.pad).

    `size` is needed for a wrap that is wider than the axis may be. `steps` allows cuts that
    run backwards. A reflection wider than size - 1 is no padding at all and not checked here.
    """
    if mode == "edge":
        return [Cut(-1, LAST) if behind else Cut(0, 1)] * width
    if mode == "reflect" and steps and width > LONGEST_ROW:
        return [Cut(-2, -2 - width, -1) if behind else Cut(width, 0, -1)]
    if mode == "reflect":
        places = range(-2, -2 - width, -1) if behind else range(width, 0, -1)
        return [Cut(place, place + 1) for place in places]
    rounds, rest = (0, width) if size is None or not width else divmod(width, size)
    part = [Cut(0, rest) if behind else Cut(-rest, LAST)] * (rest > 0)
    return [WHOLE] * rounds + part if behind else part + [WHOLE] * rounds
