"""Equal pads under ceil_mode, against windows that are slid cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from onnxpad.geometry.size import Symbol
from onnxpad.geometry.windows import Axis, cut_rounding_up

WINDOWS = list(product(range(1, 5), range(1, 5), range(1, 4)))
each_window = pytest.mark.parametrize(("kernel", "stride", "dilation"), WINDOWS)


def windows(axis: Axis, size: int, begin: int, end: int, *, counts: bool) -> list[list[int]]:
    """The cells of each window of ceil_mode: data, with `counts` also declared padding."""
    found, start, width = [], -begin, axis.dilation * (axis.kernel - 1) + 1
    while start + width <= size + end or (
        start - axis.stride + width < size + end and start < size
    ):
        cells = range(start, start + width, axis.dilation)
        low, high = (-begin, size + end) if counts else (0, size)
        found.append([cell for cell in cells if low <= cell < high])
        start += axis.stride
    return found


def drawn(kernel: int) -> Iterator[tuple[int, int, bool]]:
    yield from product(range(kernel), range(kernel), (False, True))


@each_window
def test_known_sizes(kernel: int, stride: int, dilation: int) -> None:
    """What is cut leaves the windows; where nothing is said, no equal pads below the kernel do.

    With gaps between taps a counted cell may lie where no tap is: that is not looked for.
    """
    for size, (begin, end, counts) in product(range(1, 11), drawn(kernel)):
        axis = Axis(size, kernel, stride, dilation)
        wanted = windows(axis, size, begin, end, counts=counts)
        if not wanted:
            continue
        found = cut_rounding_up(axis, begin, end, counts=counts)
        fitting = []
        for first, pad in enumerate(range(begin, kernel, stride)):
            every = windows(axis, size, pad, pad, counts=counts)
            if every[first : first + len(wanted)] == wanted:
                fitting.append((pad, first, len(every) - first - len(wanted)))
        if counts and dilation > 1:
            assert found is None or found in fitting, (size, begin, end)
        else:
            assert found == (fitting[0] if fitting else None), (size, begin, end)


@each_window
def test_unknown_sizes(kernel: int, stride: int, dilation: int) -> None:
    said = 0
    for modulus, (begin, end, counts) in product((1, 2, 3, 4), drawn(kernel)):
        for residue in range(modulus):
            axis = Axis(Symbol("n", modulus, residue), kernel, stride, dilation)
            found = cut_rounding_up(axis, begin, end, counts=counts)
            for size in range(1, 14) if found else ():
                wanted = windows(axis, size, begin, end, counts=counts)
                if size % modulus != residue or not wanted:
                    continue
                said += 1
                assert found is not None
                every = windows(axis, size, found.pad, found.pad, counts=counts)
                assert every[found.first : len(every) - found.beyond] == wanted, (size, begin, end)
    assert said
