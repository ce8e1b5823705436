"""Two pools on one Pad: onnxruntime makes one of equal ones, and fuses the Pad into that."""

from __future__ import annotations

import onnx
import pytest
from onnx import parser

from onnxpad.rewriting.rewrite import rewrite


def pools(op: str, more: str, cells: int) -> onnx.ModelProto:
    """A Pad of zeros, read by two pools that mean the same; the second leaves its pads out."""
    return parser.parse_model(f"""
    <ir_version: 8, opset_import: ["" : 17]>
    g (float[1, 1, 9] x) => (float[1, 1, ?] y, float[1, 1, ?] z)
    <int64[6] pads = {{0, 0, {cells}, 0, 0, 0}}, float zero = {{0}}> {{
        p = Pad <mode = "constant"> (x, pads, zero)
        [one] y = {op} <kernel_shape = [3], strides = [1], pads = [0, 0]{more}> (p)
        [two] z = {op} <kernel_shape = [3], strides = [1]{more}> (p)
    }}
    """)


@pytest.mark.parametrize(
    ("op", "more", "cells", "changed"),
    [
        pytest.param("AveragePool", ", count_include_pad = 1", 3, False, id="reaches the kernel"),
        pytest.param("AveragePool", ", count_include_pad = 1", 2, True, id="fits"),
        pytest.param("MaxPool", "", 1, False, id="pads with something else than 0"),
        pytest.param("LpPool", "", 3, True, id="is never fused"),
    ],
)
def test_attributes_are_written_where_equal_pools_do_no_harm(
    op: str, more: str, cells: int, changed: bool
) -> None:
    done = rewrite(pools(op, more, cells), passes="written-defaults", nodes="two")
    assert done.changed is changed
    if not changed:
        assert "with equal attributes onnxruntime makes one" in done.skips[0].skip.reason
