"""One axis of a sliding window."""

from __future__ import annotations

from dataclasses import dataclass

from onnxpad.geometry.size import Size, ceil_divide, floor_divide, plus


@dataclass(frozen=True, slots=True)
class Axis:
    """A window that slides along one axis; sizes and steps in cells.

    `size` is the extent of the operator's input, None where not even a name is known.
    """

    size: Size | None
    kernel: int
    stride: int = 1
    dilation: int = 1

    @property
    def span(self) -> int:
        """Extent of the dilated kernel: d(k-1)+1."""
        return self.dilation * (self.kernel - 1) + 1


def output_size(axis: Axis, begin: int, end: int, *, ceil_mode: bool = False) -> Size | None:
    """Number of windows over the padded axis.

    With ceil_mode the last window is dropped when it would start in the end padding
    (ONNX Operators, MaxPool-22 and AveragePool-22; onnxruntime does so at every opset).
    """
    if axis.size is None:
        return None
    room = plus(axis.size, begin + end - axis.span)
    if not ceil_mode:
        return plus(floor_divide(room, axis.stride), 1)
    count = plus(ceil_divide(room, axis.stride), 1)
    if isinstance(count, int) and isinstance(axis.size, int):
        return count - 1 if (count - 1) * axis.stride >= axis.size + begin else count
    return count if _last_window_starts_inside(axis, end) else None


def _last_window_starts_inside(axis: Axis, end: int) -> bool:
    """Whether no size lets the last ceil window start in the end padding.

    Its start lies at most stride-1 cells after room = size+begin+end-span.
    """
    return end - axis.span + axis.stride - 1 < 0


def smaller_than_window(axis: Axis, begin: int, end: int, *, ceil_mode: bool = False) -> bool:
    """Whether the padded axis is known to be too short for one window.

    ceil_mode rounds up to one where less than a stride is missing.
    """
    if not isinstance(axis.size, int):
        return False
    missing = axis.span - (axis.size + begin + end)
    return missing >= axis.stride if ceil_mode else missing > 0


def holds_padding_alone(axis: Axis, begin: int, windows: int) -> bool:
    """Whether one of the first `windows` windows is known to hold no cell of the input."""
    if not isinstance(axis.size, int) or axis.size < 1:
        return False
    size, step, reach = axis.size, axis.dilation, axis.span
    first = range(min(windows, -(-begin // axis.stride)))
    last = range(max(0, (size - reach + begin) // axis.stride), windows)
    return any(
        not any(0 <= start + cell < size for cell in range(0, reach, step))
        for start in (window * axis.stride - begin for window in {*first, *last})
    )
