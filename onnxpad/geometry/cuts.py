"""Which cells of an axis a Slice takes."""

from __future__ import annotations

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
