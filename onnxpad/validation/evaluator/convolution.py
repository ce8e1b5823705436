"""Convolution and transposed convolution, in the dtype of the operands."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from onnxpad.validation.evaluator.windows import (
    Array,
    NotEvaluable,
    span,
    surrounded,
    taps,
    trailing,
    window_count,
)


def convolve(  # noqa: PLR0913 - the operands and attributes of the operator
    x: Array,
    w: Array,
    b: Array | None = None,
    *,
    strides: Sequence[int],
    dilations: Sequence[int],
    begins: Sequence[int],
    ends: Sequence[int],
    group: int = 1,
) -> Array:
    """Cross-correlation of x [N, C, *H] with w [M, C/group, *k]; pads in cells, filled with 0.

    ONNX Operators, Conv-22. Raises NotEvaluable for negative pads or sizes that do not fit.
    """
    kernel = w.shape[2:]
    check_operands(x, w, group, transposed=False)
    extents = [span(k, d) for k, d in zip(kernel, dilations, strict=True)]
    rows = zip(x.shape[2:], begins, ends, extents, strides, strict=True)
    counts = [window_count(*row) for row in rows]
    padded = surrounded(x, begins, ends, 0)
    batch, filters = x.shape[0], w.shape[0]
    total = np.zeros((batch, group, filters // group, int(np.prod(counts))), dtype=x.dtype)
    for offset, view in taps(padded, kernel, strides, dilations, counts):
        cells = view.reshape(batch, group, x.shape[1] // group, -1)
        total += trailing(w, offset).reshape(1, group, filters // group, -1) @ cells
    y: Array = total.reshape(batch, filters, *counts)
    return y if b is None else y + b.reshape(-1, *[1] * len(kernel))


def transposed(  # noqa: PLR0913 - the operands and attributes of the operator
    x: Array,
    w: Array,
    b: Array | None = None,
    *,
    strides: Sequence[int],
    dilations: Sequence[int],
    begins: Sequence[int],
    ends: Sequence[int],
    output_padding: Sequence[int],
    group: int = 1,
) -> Array:
    """Transposed convolution of x [N, C, *H] with w [C, M/group, *k].

    The full output of (H-1)s + span cells loses `begins` and `ends`; `output_padding` lets zeros
    in at the end, before the bias (ONNX Operators, ConvTranspose-22). Raises NotEvaluable where
    nothing is left or a pad is negative.
    """
    kernel = w.shape[2:]
    check_operands(x, w, group, transposed=True)
    extents = [span(k, d) for k, d in zip(kernel, dilations, strict=True)]
    full = [(n - 1) * s + e for n, s, e in zip(x.shape[2:], strides, extents, strict=True)]
    sizes = [f + o - p - q for f, o, p, q in zip(full, output_padding, begins, ends, strict=True)]
    if min(sizes) < 1 or min((*begins, *ends)) < 0:
        raise NotEvaluable(f"pads {[*begins, *ends]} leave a transposed output of size {sizes}")
    batch, features = x.shape[0], w.shape[1]
    room = [max(f, p + n) for f, p, n in zip(full, begins, sizes, strict=True)]
    buffer = np.zeros((batch, group * features, *room), dtype=x.dtype)
    cells = x.reshape(batch, group, x.shape[1] // group, -1)
    weights = w.reshape(group, -1, features, *kernel)
    for offset in product(*(range(k) for k in kernel)):
        part = trailing(weights, offset).transpose(0, 2, 1)[None] @ cells
        rows = zip(offset, dilations, strides, x.shape[2:], strict=True)
        place = tuple(slice(o * d, o * d + (n - 1) * s + 1, s) for o, d, s, n in rows)
        written = trailing(buffer, place)
        written += part.reshape(batch, group * features, *x.shape[2:])
    crop = tuple(slice(p, p + n) for p, n in zip(begins, sizes, strict=True))
    y = trailing(buffer, crop)
    return y if b is None else y + b.reshape(-1, *[1] * len(kernel))


def check_operands(x: Array, w: Array, group: int, *, transposed: bool) -> None:
    """Raise NotEvaluable where the channels of x, w and group contradict each other."""
    channels = w.shape[0] if transposed else w.shape[1] * group
    if x.ndim != w.ndim or x.shape[1] != channels or w.shape[0] % group:
        raise NotEvaluable(f"input {x.shape} does not fit weight {w.shape} with group {group}")
