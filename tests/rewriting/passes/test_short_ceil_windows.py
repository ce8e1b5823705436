"""Inputs that are shorter than the window, of which ceil_mode still gives one."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from onnxpad.proof.alone import computed
from tests.models.tiny import refused, tiny
from tests.oracle.windows import pool_average, pool_lp, pool_max
from tests.rewriting.passes.expanded import drawn, levels, rewritten_model

FLOOR, SPLIT, CONV = "floor-pool", "split-pads", "average-by-conv"
COUNTED, UNCOUNTED, SYMMETRIC = "counted-padding", "uncounted-padding", "symmetric-pads"
PASSES = {
    "MaxPool": (FLOOR, SPLIT, SYMMETRIC),
    "LpPool": (FLOOR, SPLIT, SYMMETRIC),
    "AveragePool": (FLOOR, UNCOUNTED, CONV),
    "AveragePool counting": (COUNTED, SPLIT, CONV),
}


def wanted(op: str, x: Any, kernel: int, **geometry: Any) -> Any:
    if op == "MaxPool":
        return pool_max(x, [kernel], **geometry)[0]
    if op == "LpPool":
        return pool_lp(x, [kernel], **geometry)
    return pool_average(x, [kernel], count_include_pad="counting" in op, **geometry)


@pytest.mark.parametrize("op", PASSES)
def test_passes_keep_the_window_of_ceil_mode(op: str) -> None:
    """Kernels 2..5, strides 2..4, sizes 1..4, pads 0..2, less than a stride too few cells."""
    changed = dict.fromkeys(PASSES[op], 0)
    draws = product(range(2, 6), (2, 3, 4), range(1, 5), range(3), range(3))
    for kernel, stride, size, begin, end in draws:
        lacking = kernel - begin - size - end
        if not 0 < lacking < stride:
            continue
        counts = ", count_include_pad = 1" if "counting" in op else ""
        written = f"kernel_shape = [{kernel}], strides = [{stride}], pads = [{begin}, {end}]"
        body = f"[op] y = {op.split(maxsplit=1)[0]} <{written}, ceil_mode = 1{counts}> (x)"
        model = tiny(body, f"float[1,2,{size}]", opset=22)
        x = drawn((1, 2, size), "float32", size) - 10
        expected = wanted(op, x, kernel, strides=[stride], pads=[begin, end], ceil_mode=True)
        for rule in PASSES[op]:
            if (rule in (SPLIT, UNCOUNTED) and not begin + end) or (
                rule == SYMMETRIC and begin == end
            ):
                continue
            changed[rule] += 1
            for (found,) in levels(rewritten_model(model, rule), {"x": x}):
                np.testing.assert_allclose(found, expected, rtol=2e-6, err_msg=f"{rule}: {body}")
    assert min(changed.values()) > 5, changed


def test_the_kernel_knows_the_window_too() -> None:
    x = np.asarray([[[-1.0, -2, -3, -4, -5, -6]]])
    attributes = {"kernel_shape": [7], "strides": [2], "ceil_mode": 1}
    assert computed("AveragePool", "", 22, attributes, [x])[0].tolist() == [[[-3.5]]]


def test_a_whole_stride_too_few_is_no_window() -> None:
    for strides, size in ((1, 6), (2, 5), (3, 4)):
        written = f"kernel_shape = [7], strides = [{strides}], ceil_mode = 1"
        model = tiny(f"[op] y = AveragePool <{written}> (x)", f"float[1,1,{size}]")
        assert "fewer than the window's 7" in refused(model, CONV).reason
