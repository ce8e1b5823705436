"""inspect: what it reports, on real models and on tiny ones."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx_graphsurgeon as gs
import pytest
from onnx import ModelProto

from onnxpad import Inspection, PaddedNode, inspect
from tests.models.text import padded, text_model

MODELS = Path(__file__).parents[2] / "models"
CONV = '[conv] y = Conv <strides=[2], auto_pad="SAME_UPPER"> (x, w)'
WEIGHT = "float[1,1,3] w = {1, 10, 100}"


def only(model: ModelProto, **options: object) -> PaddedNode:
    (node,) = inspect(model, **options).nodes  # type: ignore[arg-type]
    return node


def of_model(name: str, **options: object) -> Inspection:
    return inspect(MODELS / f"{name}.onnx", **options)  # type: ignore[arg-type]


FUNCTION = """
<domain: "local", opset_import: ["" : 13]>
block (v, w) => (r) { [conv] r = Conv <pads=[1, 1]> (v, w) }
"""


def test_a_function_that_nobody_calls_is_listed() -> None:
    header = '<ir_version: 8, opset_import: ["" : 13, "local" : 1]>'
    graph = "g (float[1] x) => (y) { y = Neg (x) }"
    node = only(onnx.parser.parse_model(f"{header} {graph} {FUNCTION}"))
    assert node.node == "local:block/conv"
    assert node.input_shape is None
    assert node.reason.endswith("nothing calls it")


def test_the_operator_behind_a_pad_fits_what_both_compute() -> None:
    model = padded("[node] y = Conv (p, w)", "0, 0, 2, 0, 0, 0", more=WEIGHT)
    pad, conv = inspect(model).nodes
    assert (pad.op, conv.op) == ("Pad", "Conv")
    assert conv.forms == ("pad-node", "one-axis")
    assert conv.conventions[0] == "keras"  # causal
    assert "caffe" not in conv.conventions
    harmless = padded("[node] y = Conv (p, w)", "0, 0, 0, 0, 0, 0", more=WEIGHT)
    assert inspect(harmless).nodes[1].conventions == ("any",)


@pytest.mark.parametrize("pattern", ["MaxPool*", ["MaxPool.0"], ["*.0", "Conv.0"]])
def test_nodes_are_chosen_by_globs(pattern: str | list[str]) -> None:
    nodes = of_model("pd_same_static_op13", nodes=pattern).nodes
    expected = ["Conv.0", "MaxPool.0", "AveragePool.0"] if "*.0" in pattern else ["MaxPool.0"]
    assert [node.node for node in nodes] == expected


def test_a_name_with_brackets_is_no_pattern() -> None:
    model = text_model(CONV, constants=WEIGHT)
    model.graph.node[0].name = "blocks[0]/conv"
    assert only(model, nodes="blocks[0]/conv").node == "blocks[0]/conv"


def test_a_graphsurgeon_graph_is_read() -> None:
    path = MODELS / "kt_net_even.onnx"
    graph = gs.import_onnx(onnx.load(path))
    assert [node.pads for node in inspect(graph).nodes] == [n.pads for n in inspect(path).nodes]
