"""Pads of Col2Im as a Slice; row 66 of the tricky cases."""

from __future__ import annotations

import numpy as np
import pytest

from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import AutoPad, Chain, Skip
from onnxpad.padding.fills import Constant
from onnxpad.padding.operators import operator
from onnxpad.rewriting.passes import find_pass
from tests.models.tiny import kinds, left_alone, refused, tiny
from tests.rewriting.passes.expanded import agrees, levels, rewritten_model

COL2IM = "plain-col2im"
SHAPES = "int64[2] image = {4, 5}, int64[2] block = {2, 3}"


@pytest.mark.parametrize("image", ["image", "given"])
@pytest.mark.parametrize("pads", [(1, 0, 0, 1), (0, 0, 1, 0), (1, 2, 1, 1), (0, 1, 0, 0)])
def test_row_66(pads: tuple[int, ...], image: str) -> None:
    rows = 4 + pads[0] + pads[2] - 1
    columns = 5 + pads[1] + pads[3] - 2
    inputs = "int64[2] given" if image == "given" else ""
    model = tiny(
        f"[op] y = Col2Im <pads = [{','.join(map(str, pads))}]> (x, {image}, block)",
        f"float[1,12,{rows * columns}]",
        constants=SHAPES if image == "image" else "int64[2] block = {2, 3}",
        opset=18,
        inputs=inputs,
    )
    after = rewritten_model(model, COL2IM)
    assert kinds(after) == ["Add"] * (image == "given") + ["Col2Im", "Slice"]
    x = np.random.default_rng(1).integers(-9, 9, (1, 12, rows * columns)).astype(np.float32)
    feed = {"x": x} | ({"given": np.array([4, 5])} if image == "given" else {})
    wanted = levels(model, feed)[0][0]
    assert wanted.shape == (1, 2, 4, 5)
    for found in levels(after, feed):
        np.testing.assert_array_equal(found[0], wanted)


def test_strides_and_dilations() -> None:
    model = tiny(
        "[op] y = Col2Im <pads = [1, 0, 1, 1], strides = [2, 1], dilations = [1, 2]> "
        "(x, image, block)",
        "float[2,6,3]",
        constants="int64[2] image = {4, 4}, int64[2] block = {2, 3}",
        opset=18,
    )
    agrees(model, COL2IM, [(2, 6, 3)])


def test_refuses_a_computed_block_shape() -> None:
    model = tiny(
        "[op] y = Col2Im <pads = [1, 0, 0, 1]> (x, image, block)",
        "float[1,6,16]",
        constants="int64[2] image = {4, 5}",
        inputs="int64[2] block",
        opset=18,
    )
    assert "block_shape" in refused(model, COL2IM).reason


def test_refuses_pads_that_are_no_crop() -> None:
    model = tiny(
        "[op] y = Col2Im <pads = [-1, 0, 0, 1]> (x, image, block)",
        "float[1,6,6]",
        constants=SHAPES,
        opset=18,
    )
    assert refused(model, COL2IM).reason == (
        "the pads [-1, 0, 0, 1] are negative, the ONNX text has no meaning for it"
    )
    op = operator("", "Col2Im")
    assert op is not None
    same = Chain(op, 18, (Axis(4, 2),), AutoPad.SAME_UPPER, Constant(0))
    assert find_pass(COL2IM).rewrite(same) == Skip("its pads are not known")


def test_leaves_others_alone() -> None:
    uncropped = tiny(
        "[op] y = Col2Im (x, image, block)", "float[1,6,12]", constants=SHAPES, opset=18
    )
    assert left_alone(uncropped, COL2IM, "explicit-pads", "split-pads", "auto-pads", "lift-rank")
    assert left_alone(tiny("[op] y = MaxPool <kernel_shape = [2]> (x)"), COL2IM)
