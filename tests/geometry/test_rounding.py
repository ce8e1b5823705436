"""End pads that stand for ceil_mode, against windows that are slid with and without it."""

from itertools import product

import pytest

from onnxpad.geometry.size import Symbol
from onnxpad.geometry.windows import Axis, overhang

WINDOWS = list(product(range(1, 6), range(1, 6), range(1, 4)))
PADS = [(begin, end) for begin in range(5) for end in range(5)]
LIMIT = 40
each_window = pytest.mark.parametrize(("kernel", "stride", "dilation"), WINDOWS)
Starts = list[int]


def starts(cells: list[str], width: int, stride: int, *, ceil: bool) -> Starts:
    """Where windows start; with `ceil` one may hang over, unless it starts in the end padding."""
    found = []
    at = 0
    while at + width <= len(cells) or (ceil and at - stride + width < len(cells)):
        if ceil and (at >= len(cells) or cells[at] == "end"):
            break
        found.append(at)
        at += stride
    return found


def laid_out(size: int, begin: int, end: int) -> list[str]:
    return ["begin"] * begin + ["data"] * size + ["end"] * end


def serves(size: int, window: tuple[int, int, int], pads: tuple[int, int], extra: int) -> bool:
    """Whether `extra` cells at the end and rounding down give the windows of ceil_mode."""
    kernel, stride, dilation = window
    cells = laid_out(size, *pads)
    width = 1 + sum(dilation for _ in range(kernel - 1))
    wanted = starts(cells, width, stride, ceil=True)
    return starts(cells + ["end"] * extra, width, stride, ceil=False) == wanted


def sizes(least: int, modulus: int, residue: int) -> list[int]:
    return [n for n in range(least, LIMIT) if n % modulus == residue]


def pads_below(span: int) -> list[tuple[int, int]]:
    return [pads for pads in PADS if pads[1] < span]


@each_window
def test_known_sizes(kernel: int, stride: int, dilation: int) -> None:
    window = (kernel, stride, dilation)
    span = Axis(None, *window).span
    for begin, end in pads_below(span):
        for size in range(max(1, span - begin - end), 25):
            extra = overhang(Axis(size, *window), begin, end)
            assert serves(size, window, (begin, end), extra), (size, begin, end)
            fewer = [n for n in range(extra) if serves(size, window, (begin, end), n)]
            assert not fewer, f"{size} {begin},{end}: {fewer} cells are enough, not {extra}"


@pytest.mark.part(4)
@each_window
@pytest.mark.parametrize(("modulus", "residue"), [(1, 0), (2, 1), (3, 0), (4, 2), (6, 5)])
def test_unknown_sizes(kernel: int, stride: int, dilation: int, modulus: int, residue: int) -> None:
    window = (kernel, stride, dilation)
    axis = Axis(Symbol("H", modulus, residue), *window)
    for begin, end in pads_below(axis.span)[::2]:
        possible = sizes(max(1, axis.span - begin - end), modulus, residue)
        extra = overhang(axis, begin, end)
        wrong = [n for n in possible if not serves(n, window, (begin, end), extra)]
        assert not wrong, f"{extra} cells do not serve {wrong} with {begin},{end}"
        assert extra == 0 or not all(
            serves(n, window, (begin, end), extra - 1) for n in possible
        ), "fewer would do"


def test_a_size_of_which_nothing_is_known() -> None:
    for window in WINDOWS:
        named, nameless = (Axis(size, *window) for size in (Symbol("H"), None))
        assert overhang(named, 0, 0) == overhang(nameless, 0, 0)


# (kernel, stride, dilation, size, begin, end) -> cells, worked out by hand.
BY_HAND = {
    (2, 2, 1, 5, 0, 0): 1,
    (2, 2, 1, 6, 0, 0): 0,
    (1, 2, 1, 2, 0, 0): 0,
    (3, 2, 1, 6, 1, 1): 1,
    (2, 2, 3, 5, 1, 1): 1,
    (2, 3, 1, 4, 0, 0): 1,
    (2, 3, 1, 3, 0, 1): 0,
}


@pytest.mark.parametrize(("place", "cells"), BY_HAND.items())
def test_by_hand(place: tuple[int, int, int, int, int, int], cells: int) -> None:
    kernel, stride, dilation, size, begin, end = place
    assert overhang(Axis(size, kernel, stride, dilation), begin, end) == cells
