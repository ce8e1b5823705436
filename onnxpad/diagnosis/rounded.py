"""References whose numbers were rounded to a lower precision before they were saved."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.score import size_of
from onnxpad.validation.movement import UNITS

Array = NDArray[Any]
_TELLING = 8
_SLACK = 1.5
_SEVERAL = 8
_DECIMALS = range(1, 6)
# So many steps of float32 at the largest value are finer than a decimal that tells.
_FINER = 64


def rounded_to(values: Iterable[Array], left: float | None) -> tuple[str, float] | None:
    """The precision that a reference was rounded to, and an atol that allows for it.

    `left` is the largest difference over the largest value. None where the numbers were not
    rounded, too few of them tell, or more is left than that rounding does.
    """
    known = list(values)
    for kind in ("float16", "bfloat16"):
        if left is None or left > _SLACK * UNITS[kind]:
            continue
        if known and all(_holds(kind, value) for value in known):
            most = 2 * _SLACK * UNITS[kind] * max(map(size_of, known))
            return kind, upwards(most)
    return None


def computed_in(values: Iterable[Array]) -> tuple[str, float] | None:
    """The lower precision that every number is of, and what computing in it may leave.

    As much as several roundings leave, one behind another, over the largest value. None where the
    numbers need float32, or too few of them tell.
    """
    known = list(values)
    for kind in ("float16", "bfloat16"):
        if known and all(value.dtype == kind or _holds(kind, value) for value in known):
            return kind, _SEVERAL * UNITS[kind]
    return None


def coarser(right: Array, got: Array, tolerance: float) -> str:
    """The lower precision that a reference is of and the model is not, '' where there is none.

    Only where its rounding is wider than the `tolerance` of a match, at its largest values.
    """
    for kind in ("float16", "bfloat16"):
        if _holds(kind, right) and not _holds(kind, got):
            return kind if tolerance < UNITS[kind] / 4 * size_of(right) else ""
    return ""


def decimals_of(values: Iterable[Array], left: float | None) -> tuple[int, float] | None:
    """After how many decimals a reference was cut, and an atol that allows for it.

    `left` and None are as in `rounded_to`.
    """
    known = list(values)
    size = max(map(size_of, known), default=0.0)
    for count in _DECIMALS:
        step = 10.0**-count
        if left is None or left * size > _SLACK * step / 2 or step < _FINER * size * 2.0**-23:
            continue
        if known and all(_has_decimals(count, value) for value in known):
            return count, step
    return None


def _has_decimals(count: int, value: Array) -> bool:
    if value.dtype not in (np.float32, np.float64):
        return False
    wide = value.astype(np.float64)
    if np.unique(wide[wide != np.round(wide)]).size < _TELLING:
        return False
    return bool((np.abs(wide - np.round(wide, count)) <= 2.0**-23 * np.abs(wide)).all())


def _holds(kind: str, value: Array) -> bool:
    """Whether all numbers are of this precision, and enough of them would not be by chance."""
    if value.dtype not in (np.float32, np.float64):
        return False
    wide = value.astype(np.float32)
    if np.unique(wide[wide != np.round(wide)]).size < _TELLING:
        return False
    if kind == "float16":
        with np.errstate(over="ignore"):
            return bool((wide.astype(np.float16).astype(np.float32) == wide).all())
    return not bool((wide.view(np.uint32) & 0xFFFF).any())


def upwards(value: float) -> float:
    """The next number of one digit, for an atol."""
    power = floor(log10(value))
    return float(f"{ceil(value / 10.0**power)}e{power}")
