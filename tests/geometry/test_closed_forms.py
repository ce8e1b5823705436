"""Formulas of windows against counting cell by cell."""

from __future__ import annotations

import random
from math import lcm

from onnxpad.geometry.size import Size, Symbol
from onnxpad.geometry.windows import (
    Axis,
    cells_within,
    holds_padding_alone,
    possible_same_pads,
    same_pads,
    same_totals,
    sample_sizes,
)

draw = random.Random(7)
SIZES: list[Size | None] = [None, *range(1, 14)]
SIZES += [Symbol("S", m, r, least) for m in (1, 2, 3, 6) for r in range(m) for least in (-2, 1, 5)]
CASES = [
    (
        Axis(draw.choice(SIZES), draw.randint(1, 6), draw.randint(1, 9), draw.randint(1, 5)),
        draw.randint(0, 14),
        draw.randint(0, 14),
    )
    for _ in range(4000)
]


def halves(total: int, *, lower: bool) -> tuple[int, int]:
    small = max(0, total) // 2
    return (max(0, total) - small, small) if lower else (small, max(0, total) - small)


def test_same() -> None:
    for axis, *_ in CASES:
        for lower in (False, True):
            totals = same_totals(axis)
            pairs = {halves(total, lower=lower) for total in totals}
            assert {*possible_same_pads(axis, lower=lower)} == pairs
            begin, end = min(pairs)[0], max(end for _, end in pairs)
            room = max(begin + end - total for total in totals)
            one = len({first for first, _ in pairs}) == 1 and room < axis.stride
            assert same_pads(axis, lower=lower) == ((begin, end) if one else None)


def test_windows_of_padding_alone() -> None:
    for axis, begin, count in CASES:
        if isinstance(axis.size, int):
            reads = [
                range(start, start + axis.span, axis.dilation)
                for start in range(-begin, count * axis.stride - begin, axis.stride)
            ]
            alone = any(not any(0 <= cell < axis.size for cell in cells) for cells in reads)
            assert holds_padding_alone(axis, begin, count) == alone


def test_sizes_and_cells() -> None:
    for axis, low, high in CASES:
        known = axis.size
        if isinstance(known, Symbol):
            last = max(known.minimum, 1) + 2 * axis.span + low + lcm(axis.stride, known.modulus)
            every = range(max(known.minimum, 1), last + 1)
            fitting = [size for size in every if size % known.modulus == known.residue]
            assert list(sample_sizes(axis, low)) == fitting[:256]
        cells = range(-axis.span, 9, axis.dilation)
        assert list(cells_within(cells, low - 7, high)) == [c for c in cells if low - 7 <= c < high]
