"""What a cell of an output reads, found by moving inputs: for people who look at a counterexample.

Along each axis of an input, one slice after the other is moved far up and far down; the cell reads
those slices that it follows. That is at least a part of what it reads, as numbers show it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.endings import NoResult, Undecided
from onnxpad.proof.evaluation import Fork
from onnxpad.proof.floats import Numeric
from onnxpad.proof.regions import Region, Sizes, Workshop, outcomes

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
        plain = _cells(region, sizes, inputs, cell, shop)
        found: tuple[list[str], list[str]] = ([], [])
        for cut in region.cuts:
            if cut.dtype.kind != "f":
                continue
            seen = _followed(region, sizes, inputs, cut.key, cell, plain, shop)
            for side in (0, 1):
                if all(seen[side]):
                    places = ", ".join(_range(axis) for axis in seen[side])
                    found[side].append(f"{cut.names[0][0]}[{places}]")
    except (Undecided, Fork):
        return "", ""
    first, second = (" and ".join(one) or "no input" for one in found)
    return ("", "") if first == second else (first, second)


def _followed(  # noqa: PLR0913, PLR0917 - what an evaluation takes, and what to compare with
    region: Region,
    sizes: Sizes,
    inputs: Mapping[Any, Array],
    key: Any,  # noqa: ANN401 - of a cut
    cell: tuple[int, tuple[int, ...]],
    plain: Sequence[float],
    shop: Workshop,
) -> tuple[list[list[int]], list[list[int]]]:
    """For each side and each axis of an input, the slices that the cell follows."""
    value = inputs[key]
    found: tuple[list[list[int]], list[list[int]]] = (
        [[] for _ in value.shape],
        [[] for _ in value.shape],
    )
    for axis, size in enumerate(value.shape):
        for at in range(size):
            moved = [
                _cells(region, sizes, {**inputs, key: one}, cell, shop)
                for one in _moves(value, axis, at)
            ]
            for side in (0, 1):
                if any(one[side] != plain[side] for one in moved):
                    found[side][axis].append(at)
    return found


def _moves(value: Array, axis: int, at: int) -> Iterator[Array]:
    far = _FAR * max(1.0, float(np.abs(value).max(initial=0.0)))
    for way in (far, -far):
        moved = value.copy()
        np.moveaxis(moved, axis, 0)[at] += way
        yield moved


def _cells(
    region: Region,
    sizes: Sizes,
    inputs: Mapping[Any, Array],
    cell: tuple[int, tuple[int, ...]],
    shop: Workshop,
) -> list[float]:
    """The number that each side gives in a cell."""
    with np.errstate(all="ignore"):
        made = outcomes(region, Numeric(inputs), sizes, shop, {0.0: False, 1.0: True})
    output, index = cell
    found = []
    for one in made:
        if isinstance(one, NoResult):
            raise Undecided("no result")
        found.append(float(one[output].cells[index]))
    return found


def _range(places: list[int]) -> str:
    """'2', '2:5', or '0, 2, 4' in brackets."""
    first, last = places[0], places[-1]
    if len(places) == 1:
        return str(first)
    if places == list(range(first, last + 1)):
        return f"{first}:{last + 1}"
    return f"({', '.join(map(str, places))})"
