"""Indices of a max pool over a padded input, counted over the input without the padding."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from onnxpad.padding.chain import Pads
from onnxpad.padding.expansion import Made, Numbers, Operand
from onnxpad.rewriting.steps.composer import Composer


def original_indices(
    composer: Composer, indices: Operand, sizes: Sequence[int], pads: Pads, *, columns_first: bool
) -> Made:
    """Steps that turn flat indices over padded cells into flat indices over the cells inside.

    `indices` count over all axes, the spatial ones with `sizes` cells plus `pads`;
    `columns_first` is storage_order=1, in which the first spatial axis runs fastest
    (MaxPool-12). Each index must lie inside, which the largest of a window with a finite cell
    does. An index is nc*P + sum(q*p) over padded strides p and becomes nc*S + sum((q-begin)*s).
    """
    padded = [b + size + e for b, size, e in zip(pads.begins, sizes, pads.ends, strict=True)]
    slow_to_fast = list(range(len(sizes)))[:: -1 if columns_first else 1]
    found = rest = indices
    offset = 0
    planes = [(prod(padded), prod(sizes), 0)]
    planes += [_strides(slow_to_fast, index, padded, sizes, pads) for index in range(len(sizes))]
    for number, (wide, narrow, begin) in enumerate(planes):
        offset += begin * narrow
        if wide == 1 or all(w == n for w, n, _ in planes[number:]):
            continue
        count = composer.add("Div", rest, _number(f"cells{number}", wide), role=f"place{number}")
        if wide != narrow:
            lost = _number(f"lost{number}", wide - narrow)
            shift = composer.add("Mul", count, lost, role=f"shift{number}")
            found = composer.add("Sub", found, shift, role=f"shifted{number}")
        if any(w != n for w, n, _ in planes[number + 1 :]):
            whole = composer.add(
                "Mul", count, _number(f"cells{number}", wide), role=f"whole{number}"
            )
            rest = composer.add("Sub", rest, whole, role=f"rest{number}")
    return composer.add("Sub", found, _number("begin", offset), role="indices")


def _strides(
    order: Sequence[int], number: int, padded: Sequence[int], sizes: Sequence[int], pads: Pads
) -> tuple[int, int, int]:
    """Cells that one step along an axis skips, with the padding and without, and its begin pad."""
    faster = order[number + 1 :]
    wide, narrow = prod(padded[axis] for axis in faster), prod(sizes[axis] for axis in faster)
    return wide, narrow, pads.begins[order[number]]


def _number(role: str, value: int) -> Numbers:
    return Numbers(f"indices_{role}", "int64", (), (value,))
