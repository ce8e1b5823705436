"""What a cell of an output reads, found by moving inputs: for people who look at a counterexample.

Along each axis of an input, one slice after the other is moved far up and far down; the cell reads
those slices that it follows. That is at least a part of what it reads, as numbers show it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.endings import Undecided
from onnxpad.proof.evaluation import Fork
from onnxpad.proof.regions import Region, Sizes, Workshop, in_numbers

Array = NDArray[Any]
_MOST_SLICES = 96
_FAR = 1000.0


def cells_read(
    region: Region,
    sizes: Sizes,
    inputs: Mapping[Any, Array],
    cell: tuple[int, tuple[int, ...]],
    shop: Workshop,
) -> tuple[str, str]:
    """What each side reads for a cell (an output by its place, and an index), such as 'x[0, 2:5]'.

    Empty where that is too much to find out, and where both read the same.
    """
    if sum(sum(cut.shape(sizes)) for cut in region.cuts) > _MOST_SLICES:
        return "", ""

    try:
        seen = _slices_read(region, sizes, inputs, cell, shop)
    except (Undecided, Fork):
        return "", ""
    first, second = (
        " and ".join(
            f"{name}[{', '.join(map(_range, places))}]"
            for name, places in side.items()
            if all(places)
        )
        or "no input"
        for side in seen
    )
    return ("", "") if first == second else (first, second)


def _slices_read(
    region: Region,
    sizes: Sizes,
    inputs: Mapping[Any, Array],
    cell: tuple[int, tuple[int, ...]],
    shop: Workshop,
) -> tuple[dict[str, list[list[int]]], dict[str, list[list[int]]]]:
    """For each side, the slices of each axis of each input that the cell follows."""

    def given(moved: Mapping[Any, Array]) -> list[float]:
        made = in_numbers(region, sizes, {**inputs, **moved}, shop)
        both = [one for one in made if isinstance(one, list)]
        if len(both) < len(made):
            raise Undecided("no result")
        return [float(one[cell[0]].cells[cell[1]]) for one in both]

    seen: tuple[dict[str, list[list[int]]], dict[str, list[list[int]]]] = ({}, {})
    plain = given({})
    for cut in (one for one in region.cuts if one.dtype.kind == "f"):
        value, name = inputs[cut.key], cut.names[0][0]
        far = _FAR * max(1.0, float(np.abs(value).max(initial=0.0)))
        for side in seen:
            side[name] = [[] for _ in value.shape]
        for axis, size in enumerate(value.shape):
            for at in range(size):
                moves = np.zeros_like(value)
                np.moveaxis(moves, axis, 0)[at] = far
                moved = [given({cut.key: value + way * moves}) for way in (1, -1)]
                for number, side in enumerate(seen):
                    if any(one[number] != plain[number] for one in moved):
                        side[name][axis].append(at)
    return seen


def _range(places: list[int]) -> str:
    """'2', '2:5', or '0, 2, 4' in brackets."""
    first, last = places[0], places[-1]
    if len(places) == 1:
        return str(first)
    if places == list(range(first, last + 1)):
        return f"{first}:{last + 1}"
    return f"({', '.join(map(str, places))})"
