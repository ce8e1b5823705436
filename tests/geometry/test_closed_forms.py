"""Formulas of windows against counting cell by cell."""

from __future__ import annotations

import random
from math import lcm

from onnxpad.geometry.size import Size, Symbol, plus, residues
from onnxpad.geometry.windows import (
    Axis,
    cells_within,
    equal_ends,
    growth,
    holds_padding_alone,
    overhang,
    possible_same_pads,
    same_pads,
    same_totals,
    sample_sizes,
)
from onnxpad.rewriting.steps.divisors import _row

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


def test_overhang() -> None:
    for axis, begin, end in CASES:
        if end < axis.span:
            every = (
                range(axis.stride)
                if axis.size is None
                else residues(plus(axis.size, begin + end - axis.span), axis.stride)
            )
            lacking = [-rest % axis.stride for rest in every]
            kept = [cells for cells in lacking if end - axis.span + cells < 0]
            assert overhang(axis, begin, end) == max(kept, default=0)


def test_windows_of_padding_alone() -> None:
    for axis, begin, count in CASES:
        if isinstance(axis.size, int):
            reads = [
                range(start, start + axis.span, axis.dilation)
                for start in range(-begin, count * axis.stride - begin, axis.stride)
            ]
            alone = any(not any(0 <= cell < axis.size for cell in cells) for cells in reads)
            assert holds_padding_alone(axis, begin, count) == alone


def test_growth() -> None:
    for axis, begin, end in CASES:
        low, high = equal_ends(axis, begin, end)
        ends = [one for one in range(low, high + 1) if (one - begin) % axis.dilation == 0]
        found = growth(axis, begin, end)
        assert (found is None) == (not ends)
        if found is not None:
            nearest = begin + (found.front - found.back) * axis.dilation
            assert nearest in ends
            assert abs(nearest - begin) == min(abs(one - begin) for one in ends)


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


def test_divisors() -> None:
    for axis, begin, end in CASES:
        if isinstance(axis.size, int):
            counted = draw.randint(0, begin), draw.randint(0, end)
            low, high = -counted[0], axis.size + counted[1]
            factors = []
            for start in range(-begin, axis.size + end - axis.span + 1, axis.stride):
                cells = range(start, start + axis.span, axis.dilation)
                count = sum(low <= cell < high for cell in cells)
                factors.append(axis.kernel / count if count else 0.0)
            expected = (1.0,) if counted == (begin, end) else tuple(factors)
            assert _row(axis, axis.size, (begin, end), counted) == expected
