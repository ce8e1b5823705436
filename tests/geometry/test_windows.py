"""Windows of one axis, counted by sliding them; transposed windows, by spreading them."""

from itertools import product

import pytest

from onnxpad.geometry.size import Symbol
from onnxpad.geometry.windows import (
    Axis,
    full_size,
    output_size,
    same_crop,
    shape_crop,
    smaller_than_window,
    transposed_output,
)

WINDOWS = list(product(range(1, 6), range(1, 6), range(1, 4)))
SIZES = range(1, 21)
PADS = list(product(range(5), repeat=2))
each_window = pytest.mark.parametrize(("kernel", "stride", "dilation"), WINDOWS)


def reach(kernel: int, dilation: int) -> int:
    """Cells from the first to the last tap."""
    return max(tap * dilation for tap in range(kernel)) + 1


def slid(axis: Axis, begin: int, end: int, *, ceil: bool) -> int:
    """Windows of a padded axis of known size, 0 where none fits."""
    assert isinstance(axis.size, int)
    cells = ["padding"] * begin + ["data"] * axis.size + ["end"] * end
    width = reach(axis.kernel, axis.dilation)
    if width - len(cells) >= (axis.stride if ceil else 1):
        return 0
    starts = [0]
    while starts[-1] + width < len(cells):
        starts.append(starts[-1] + axis.stride)
    if starts[-1] + width > len(cells) and not ceil:
        starts.pop()
    last = starts[-1]
    if ceil and (last >= len(cells) or cells[last] == "end"):
        starts.pop()
    return len(starts)


@each_window
@pytest.mark.parametrize("ceil", [False, True], ids=["floor", "ceil"])
def test_output_of_known_sizes(kernel: int, stride: int, dilation: int, ceil: bool) -> None:
    for size, (begin, end) in product(SIZES, PADS):
        axis = Axis(size, kernel, stride, dilation)
        wanted = slid(axis, begin, end, ceil=ceil)
        short = smaller_than_window(axis, begin, end, ceil_mode=ceil)
        lacking = reach(kernel, dilation) - (begin + size + end)
        assert short is (lacking >= (stride if ceil else 1)), (size, begin, end)
        if not short:
            found = output_size(axis, begin, end, ceil_mode=ceil)
            assert found == wanted, (size, begin, end)


@pytest.mark.parametrize("dilation", [1, 2, 3])
def test_span_is_the_dilated_kernel(dilation: int) -> None:
    for kernel in range(1, 6):
        assert Axis(None, kernel, 1, dilation).span == reach(kernel, dilation)


def test_output_of_a_size_without_a_name() -> None:
    assert output_size(Axis(None, 3), 1, 1) is None
    assert not smaller_than_window(Axis(None, 3), 0, 0)


@pytest.mark.part(16)
@each_window
@pytest.mark.parametrize("ceil", [False, True], ids=["floor", "ceil"])
def test_output_of_unknown_sizes(kernel: int, stride: int, dilation: int, ceil: bool) -> None:
    """What is said of the output holds for every size.

    Unsaid is only a ceil_mode that drops the last window of some size, the residue unheeded.
    """
    for (modulus, residue), (begin, end) in product([(1, 0), (2, 1), (6, 4), (8, 0)], PADS):
        # A symbol stands for sizes that hold a window: others have no output to speak of.
        least = max(1, reach(kernel, dilation) - begin - end)
        axis = Axis(Symbol("H", modulus, residue, least), kernel, stride, dilation)
        said = output_size(axis, begin, end, ceil_mode=ceil)
        every = range(least, least + 60)
        found = {n: slid(Axis(n, kernel, stride, dilation), begin, end, ceil=ceil) for n in every}
        if said is None:
            rounded_up = {n: -(-(n + begin + end - axis.span) // stride) + 1 for n in every}
            assert ceil
            assert any(found[n] < rounded_up[n] for n in every), "no window is ever dropped"
            continue
        assert isinstance(said, Symbol)
        for count in [found[n] for n in every if n % modulus == residue]:
            assert count % said.modulus == said.residue
            assert count >= said.minimum


@each_window
def test_full_size_of_transposed_windows(kernel: int, stride: int, dilation: int) -> None:
    for size in SIZES:
        touched = {i * stride + tap * dilation for i in range(size) for tap in range(kernel)}
        axis = Axis(size, kernel, stride, dilation)
        assert full_size(axis) == max(touched) + 1
        assert transposed_output(axis, 1, 0, 2) == max(touched) + 2


@each_window
@pytest.mark.parametrize("upper", [False, True], ids=["lower", "upper"])
def test_same_crop_leaves_size_times_stride(
    kernel: int, stride: int, dilation: int, upper: bool
) -> None:
    for size, more in product(SIZES, range(stride)):
        axis = Axis(size, kernel, stride, dilation)
        begin, end = same_crop(axis, more, upper=upper)
        everything = (size - 1) * stride + reach(kernel, dilation) + more
        assert transposed_output(axis, begin, end, more) == min(size * stride, everything)
        assert min(begin, end) >= 0
        assert (end - begin if upper else begin - end) in (0, 1)


@each_window
def test_shape_crop_gives_the_wanted_size(kernel: int, stride: int, dilation: int) -> None:
    for size, missing, upper in product((1, 2, 7), range(-2, 6), (False, True)):
        axis = Axis(size, kernel, stride, dilation)
        full = full_size(axis)
        assert isinstance(full, int)
        begin, end = shape_crop(full, 0, full - missing, upper=upper)
        assert full - begin - end == full - missing
        if missing >= 0:
            assert (end - begin if upper else begin - end) in (0, 1)
        else:
            assert (begin, end) == (0, missing), "cells are only ever added at the end"
