"""What runtime-pads writes is read again: as numbers where sizes are known, as sizes otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from onnxpad.geometry.size import show
from onnxpad.inspection import inspect
from onnxpad.model.reading.survey import Survey
from onnxpad.rewriting.rewrite import rewrite
from tests.oracle.onnxruntime_levels import ran

TEXT = """g (float[N,2,H,W] x, float[3,2,{k},{k}] k, float[3,3,5,5] l) => (float[a,b,c,d] y) {{
  a = Conv<auto_pad = "{mode}", strides = [2, {stride}]>(x, k)
  b = Conv<auto_pad = "{mode}", strides = [2, 2]>(a, l)
  y = MaxPool<kernel_shape = [3, 3], auto_pad = "{mode}", strides = [2, 2]>(b)
}}"""
KINDS = [(3, 2, "SAME_UPPER"), (4, 3, "SAME_LOWER"), (2, 3, "SAME_UPPER")]


def written(kernel: int, stride: int, mode: str, opset: int = 17) -> tuple[ModelProto, ModelProto]:
    """A model with SAME, and with pads that it computes."""
    header = f'<ir_version: 8, opset_import: ["" : {opset}]>\n'
    text = TEXT.format(k=kernel, stride=stride, mode=mode)
    same: ModelProto = parser.parse_model(header + text)
    found = rewrite(same, passes=["runtime-pads"]).model
    assert isinstance(found, ModelProto)
    return same, found


def data(kernel: int, height: int, width: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(height)
    shapes = {"x": (2, 2, height, width), "k": (3, 2, kernel, kernel), "l": (3, 3, 5, 5)}
    return {
        name: -np.abs(draw.standard_normal(shape)).astype(np.float32)
        for name, shape in shapes.items()
    }


@pytest.mark.parametrize("opset", [11, 14, 17])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dims", [{"H": 24, "W": 19}, {"H": "%8=0", "W": "%24=19"}])
def test_computed_same_pads_become_constants_again(
    kind: tuple[int, int, str], dims: dict[str, int | str], opset: int
) -> None:
    same, computed = written(*kind, opset)
    done = rewrite(computed, passes=["static-pads"], dims=dims)
    assert len(done.changes) == len(rewrite(same, passes=["runtime-pads"]).changes)
    assert isinstance(done.model, ModelProto)
    assert {node.op_type for node in done.model.graph.node} == {"Pad", "Conv", "MaxPool"}
    given = data(kind[0], 24, 19)
    expected = ran(computed, given, optimised=False)
    assert not isinstance(expected, str)
    np.testing.assert_array_equal(ran(done.model, given, optimised=False), expected)


def test_sizes_behind_are_those_of_same() -> None:
    """Names may differ (floor((H-1)/2)+1 is ceil(H/2)), numbers not."""
    _, computed = written(3, 2, "SAME_UPPER")
    sites = [site for site in Survey(computed).sites() if site.op != "Pad"]
    sizes = [site.contexts[0].type_of(site.node.outputs[0]).dims for site in sites]
    assert [show(size) for size in sizes[0] or ()] == [
        "N", "3", "floor((H-1)/2)+1", "floor((W-1)/2)+1"
    ]  # fmt: skip
    assert [show(size) for size in (sizes[2] or ())[2:]] == [
        "floor((H-1)/8)+1", "floor((W-1)/8)+1"
    ]  # fmt: skip


def test_inspect_says_what_is_not_known_and_what_to_try() -> None:
    _, computed = written(3, 2, "SAME_UPPER")
    pads = [node for node in inspect(computed).nodes if node.op == "Pad"]
    assert len(pads) == 3
    for node in pads:
        assert "computed from the size of axis 2 of" in node.reason
        assert node.hints == ("--dim 'H=640' --dim 'W=640'",)
