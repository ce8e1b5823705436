"""Differences that look like noise: a reference that was computed with lower precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.fit import Fitting
from onnxpad.diagnosis.guesses import Choice
from onnxpad.diagnosis.rounded import upwards
from onnxpad.diagnosis.runner import Broken
from onnxpad.diagnosis.score import size_of
from onnxpad.validation.agreement import gap
from onnxpad.validation.report import OutputRow

Array = NDArray[Any]
MOST_NOISE, _MOST_UNSEEN = 5e-3, 1e-3
_FEW = 8
_PEAK, _QUIET, _BORDER = 8.0, 0.05, 3.0
_SLACK = 2.0
# A reference with so much less of it than another one agrees: noise would be in both.
_APART = 30.0


def atol_for_noise(
    fitting: Fitting,
    chosen: Choice,
    residual: float | None,
    rows: Sequence[OutputRow],
    most: float = MOST_NOISE,
) -> float | None:
    """An atol that allows what these choices leave, None where that does not look like noise.

    Noise is a small part of the largest value, at `most` so much, in every reference, spread
    evenly: no cell stands out, few are exact, and no border has more of it. Where no reference has
    spatial axes, which would show borders, it has to be smaller, and the choices others than the
    present ones.
    """
    if residual is None or not 0 < residual <= most:
        return None
    seen = any(value.ndim > 2 for values in fitting.expected.values() for value in values)
    if not seen and (residual > _MOST_UNSEEN or not any(chosen)):
        return None
    parts = []
    for got, right in _pairs(fitting, chosen):
        if got is None or not is_even(got, right):
            return None
        parts.append(gap(right, got).max_abs / size_of(right))
    if min(parts) * _APART < max(parts):
        return None
    return upwards(_SLACK * max(row.max_abs or 0.0 for row in rows))


def _pairs(fitting: Fitting, chosen: Choice) -> Iterator[tuple[Array | None, Array]]:
    """What the first sample gives with these choices, and its reference."""
    for name in fitting.names:
        state = fitting.runner.until(name, chosen)
        got = None if isinstance(state, Broken) else state.tensors.get(name)
        yield got, fitting.expected[name][0]


def is_even(got: Array, right: Array) -> bool:
    """Whether what is left of a reference is spread as noise is."""
    if got.shape != right.shape or right.dtype.kind != "f":
        return False
    left = np.abs(got.astype(np.float64) - right.astype(np.float64))
    told = left[(got != 0) | (right != 0)]
    if told.size < _FEW or not np.isfinite(told).all():
        return False
    usual = float(np.sqrt((told**2).mean()))
    if float(told.max()) > _PEAK * usual or float(np.quantile(told, 0.25)) < _QUIET * usual:
        return False
    return all(_size(side) <= _BORDER * usual for side in _borders(left))


def _borders(left: Array) -> Iterator[Array]:
    """The first and the last cells of every spatial axis."""
    for axis in range(2, left.ndim):
        for place in (0, -1):
            yield left.take(place, axis)


def _size(values: Array) -> float:
    return float(np.sqrt((values**2).mean()))
