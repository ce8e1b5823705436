"""SAME padding against sliding the window cell by cell."""

from functools import cache
from itertools import product

import pytest

from onnxpad.geometry.size import Size, Symbol
from onnxpad.geometry.windows import Axis, same_output, same_pads

WINDOWS = list(product(range(1, 6), range(1, 6), range(1, 4)))
SIZES = range(1, 21)
LIMIT = 64
"""Unknown sizes are tried up to here: every residue of every pair of moduli occurs, some twice."""

each_side = pytest.mark.parametrize("lower", [False, True], ids=["upper", "lower"])
Contents = tuple[tuple[int | None, ...], ...]


def counted_outputs(size: int, stride: int) -> int:
    """Windows of SAME: one starts at the first cell, and at each stride-th cell after it."""
    return len([cell for cell in range(size) if cell % stride == 0])


@cache
def naive_pads(size: int, kernel: int, stride: int, dilation: int, lower: bool) -> tuple[int, int]:
    """Cells are added one by one, first at the favoured side, until the last window fits."""
    begin = end = 0
    last_start = (counted_outputs(size, stride) - 1) * stride
    last_cell = max(last_start + tap * dilation for tap in range(kernel))
    while begin + size + end <= last_cell:
        if (begin + end) % 2 == (0 if lower else 1):
            begin += 1
        else:
            end += 1
    return begin, end


def contents(size: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int]) -> Contents:
    """What every window reads: numbers of cells, None for padding."""
    begin, end = pads
    cells: list[int | None] = [None] * begin + list(range(size)) + [None] * end
    windows = []
    start = 0
    while start + (kernel - 1) * dilation < len(cells):
        windows.append(tuple(cells[start + tap * dilation] for tap in range(kernel)))
        start += stride
    return tuple(windows)


@each_side
@pytest.mark.parametrize(("kernel", "stride", "dilation"), WINDOWS)
def test_known_sizes(kernel: int, stride: int, dilation: int, lower: bool) -> None:
    for size in SIZES:
        pads = same_pads(Axis(size, kernel, stride, dilation), lower=lower)
        assert pads == naive_pads(size, kernel, stride, dilation, lower), size
        outputs = contents(size, kernel, stride, dilation, pads)
        assert len(outputs) == same_output(size, stride) == counted_outputs(size, stride), size


@cache
def serving(
    size: int, kernel: int, stride: int, dilation: int, lower: bool
) -> set[tuple[int, int]]:
    """Every pads vector that gives the windows of SAME for this size."""
    wanted = contents(
        size, kernel, stride, dilation, naive_pads(size, kernel, stride, dilation, lower)
    )
    # A begin beyond the kernel, or an end by a stride more, only adds windows of padding.
    reach = dilation * kernel + stride
    return {
        pads
        for pads in product(range(dilation * kernel + 1), range(reach + 1))
        if sum(pads) <= reach and contents(size, kernel, stride, dilation, pads) == wanted
    }


def symbols() -> list[Size | None]:
    known = [
        Symbol("H", m, r, minimum)
        for m in (1, 2, 3, 4, 5, 6, 8)
        for r in range(m)
        for minimum in (1, 4)
    ]
    return [None, *known]


def admitted(size: Size | None) -> list[int]:
    if not isinstance(size, Symbol):
        return list(range(1, LIMIT))
    return [n for n in range(size.minimum, LIMIT) if n % size.modulus == size.residue]


@pytest.mark.part(6)
@each_side
@pytest.mark.parametrize(("kernel", "stride", "dilation"), WINDOWS)
def test_unknown_sizes(kernel: int, stride: int, dilation: int, lower: bool) -> None:
    window = (kernel, stride, dilation)
    for size in symbols():
        pads = same_pads(Axis(size, *window), lower=lower)
        serve_all = set.intersection(*(serving(n, *window, lower) for n in admitted(size)))
        if pads is None:
            assert not serve_all, f"{size}: {serve_all} serve every size"
        else:
            assert pads in serve_all, size


@each_side
def test_a_begin_that_is_one_off_is_noticed(lower: bool) -> None:
    begin, end = naive_pads(9, 3, 2, 2, lower)
    assert (begin, end) in serving(9, 3, 2, 2, lower)
    assert (begin + 1, end - 1) not in serving(9, 3, 2, 2, lower)


# Semantics of auto_pad, resolved once by hand: (kernel, stride, dilation, size) -> upper, lower.
BY_HAND = {
    (3, 2, 1, 224): ((0, 1), (1, 0)),
    (3, 1, 1, 5): ((1, 1), (1, 1)),
    (3, 1, 2, 5): ((2, 2), (2, 2)),
    (2, 1, 3, 5): ((1, 2), (2, 1)),
    (1, 4, 1, 8): ((0, 0), (0, 0)),
    (4, 2, 1, 6): ((1, 1), (1, 1)),
    (4, 2, 1, 5): ((1, 2), (2, 1)),
}


@pytest.mark.parametrize(("place", "pads"), BY_HAND.items())
def test_by_hand(
    place: tuple[int, int, int, int], pads: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    kernel, stride, dilation, size = place
    axis = Axis(size, kernel, stride, dilation)
    assert (same_pads(axis, lower=False), same_pads(axis, lower=True)) == pads


@pytest.mark.parametrize(
    ("kernel", "stride", "lower", "pads"),
    [
        (3, 1, False, (1, 1)),
        (2, 2, False, (0, 1)),
        (4, 2, False, (1, 2)),
        (3, 2, True, (1, 1)),
        (3, 2, False, None),
        (2, 2, True, None),
        (3, 3, True, None),
    ],
)
def test_a_size_of_which_nothing_is_known(
    kernel: int, stride: int, lower: bool, pads: tuple[int, int] | None
) -> None:
    assert same_pads(Axis(None, kernel, stride), lower=lower) == pads
    assert same_pads(Axis(Symbol("H"), kernel, stride), lower=lower) == pads
