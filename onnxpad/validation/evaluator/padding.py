"""The Pad operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from onnxpad.validation.evaluator.windows import Array, NotEvaluable

Mode = Literal["constant", "reflect", "edge", "wrap"]


def pad(
    x: Array,
    begins: Sequence[int],
    ends: Sequence[int],
    mode: Mode = "constant",
    value: float | Array = 0,
) -> Array:
    """`x` padded on every axis; negative pads crop first (ONNX Operators, Pad-25).

    Raises NotEvaluable where a crop leaves nothing or `reflect` reaches beyond the far cell.
    """
    crop = []
    for size, begin, end in zip(x.shape, begins, ends, strict=True):
        first, last = max(0, -begin), size - max(0, -end)
        if first > last:
            raise NotEvaluable(f"Pad crops {begin} and {end} from an axis of {size} cells")
        crop.append(slice(first, last))
    kept = x[tuple(crop)]
    widths = [(max(0, b), max(0, e)) for b, e in zip(begins, ends, strict=True)]
    if mode == "constant":
        return np.pad(kept, widths, constant_values=value)
    for size, width in zip(kept.shape, widths, strict=True):
        if max(width) > 0 and (size == 0 or (mode == "reflect" and max(width) >= size)):
            raise NotEvaluable(f"Pad mode {mode} cannot fill {width} around {size} cells")
    return np.pad(kept, widths, mode=mode)
