"""inspect: what it reports, on real models and on tiny ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from onnx import ModelProto

from onnxpad import Inspection, ModelError, PaddedNode, RequestError, inspect
from tests.models.text import padded, text_model

MODELS = Path(__file__).parents[2] / "models"
CONV = '[conv] y = Conv <strides=[2], auto_pad="SAME_UPPER"> (x, w)'
WEIGHT = "float[1,1,3] w = {1, 10, 100}"


def only(model: ModelProto, **options: object) -> PaddedNode:
    (node,) = inspect(model, **options).nodes  # type: ignore[arg-type]
    return node


def of_model(name: str, **options: object) -> Inspection:
    return inspect(MODELS / f"{name}.onnx", **options)  # type: ignore[arg-type]


# Nodes, those that pad, unevenly, unknown; traps; and a few forms.
COUNTS = {
    "k_avgnet_tflite_autopad": (7, 5, 3, 0, 0, {"auto_pad": 7}),
    "k_yolo_tiny_op15": (10, 9, 4, 0, 0, {"auto_pad": 9}),
    "kt_net_even": (6, 5, 4, 0, 0, {"pads": 4, "asymmetric": 3, "pad-node": 2, "edge": 2}),
    "pd_same_static_op13": (7, 6, 5, 0, 0, {"auto_pad": 6, "pads": 1, "asymmetric": 1}),
    "t_avgpool_both_ts_op11_qoperator": (10, 7, 0, 0, 1, {"ceil_mode": 3, "counts-padding": 2}),
    "t_same_string_ts": (6, 5, 3, 0, 2, {"auto_pad": 6}),
    "t_ssd_mobilenet_ts_op11_attr_functions": (17, 11, 0, 0, 0, {"pads": 11}),
    "tf_cond_conv_op13": (4, 4, 3, 0, 0, {"pads": 4, "asymmetric": 3}),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_on_real_models(name: str) -> None:
    nodes, padding, asymmetric, unknown, traps, forms = COUNTS[name]
    summary = of_model(name).summary
    found = {form: count for form, count in summary.pop("forms").items() if count}
    assert forms.items() <= found.items()
    assert summary == {
        "nodes": nodes,
        "padding": padding,
        "asymmetric": asymmetric,
        "unknown": unknown,
        "traps": traps,
    }


def test_a_node_in_full() -> None:
    first = of_model("pd_same_static_op13").nodes[0]
    assert first.conventions[:2] == ("tensorflow", "keras")
    assert first._asdict() == {
        "node": "Conv.0",
        "scope": "",
        "op": "Conv",
        "opset": 13,
        "dtype": "float32",
        "input": first.input,
        "input_shape": (1, 3, 40, 44),
        "output_shape": (1, 12, 20, 22),
        "kernel": (3, 3),
        "strides": (2, 2),
        "dilations": (1, 1),
        "written": {"auto_pad": "SAME_UPPER"},
        "pads": (0, 0, 1, 1),
        "reason": "",
        "hints": (),
        "forms": ("auto_pad",),
        "conventions": first.conventions,
        "traps": (),
    }


def test_a_node_of_a_function_is_listed_for_each_call() -> None:
    nodes = of_model("t_ssd_mobilenet_ts_op11_attr_functions").nodes
    assert nodes[0].node == "/b/b.0/b.0.0/Conv/conv"
    assert all(node.node.endswith("/conv") for node in nodes)
    assert len({node.node for node in nodes}) == len(nodes)
    assert {node.pads for node in nodes} == {(0, 0, 0, 0), (1, 1, 1, 1)}


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


def test_bodies_of_if_say_where_they_are() -> None:
    nodes = of_model("tf_cond_conv_op13").nodes
    assert [node.scope for node in nodes] == ["", "5.then_branch", "5.else_branch", "5.else_branch"]
    assert nodes[1].node.startswith("cond.then_branch/")


def test_unknown_sizes_have_names_reasons_and_hints() -> None:
    node = only(text_model(CONV, "float[1,1,height] x", constants=WEIGHT))
    assert node.input_shape == (1, 1, "height")
    assert node.output_shape == (1, 1, "ceil(height/2)")
    assert node.pads is None
    assert (
        node.reason
        == "SAME_UPPER with kernel 3 needs the size of axis 2 (which is 'height', stride 2)"
    )
    assert node.hints == ("--dim 'height=640'", "--dim 'height%2=0'")
    assert {"tensorflow", "keras", "onnx"} <= set(node.conventions)
    assert not {"pytorch", "caffe"} & set(node.conventions)


@pytest.mark.parametrize(
    ("fact", "pads"), [(8, (0, 1)), (7, (1, 1)), ("%2==0", (0, 1)), ("%2=1", (1, 1))]
)
def test_dims_settle_them(fact: int | str, pads: tuple[int, int]) -> None:
    model = text_model(CONV, "float[1,1,height] x", constants=WEIGHT)
    found = inspect(model, dims={"height": fact})
    assert found.nodes[0].pads == pads
    assert found.assumed == {"height": fact}


def test_a_dimension_that_does_not_exist_is_refused() -> None:
    with pytest.raises(RequestError, match="no dimension is called 'width'"):
        inspect(text_model(CONV, "float[1,1,height] x", constants=WEIGHT), dims={"width": 8})


@pytest.mark.parametrize(("settled", "pads"), [("auto_pad", (0, 1)), ("pads", (2, 0))])
def test_auto_pad_with_pads_can_be_settled(settled: str, pads: tuple[int, int]) -> None:
    both = CONV.replace("strides", "pads=[2, 0], strides")
    model = text_model(both, constants=WEIGHT)
    assert only(model).pads is None
    assert "--ambiguous pads" in only(model).hints
    node = only(model, ambiguous=settled)
    assert node.pads == pads
    assert [trap.code for trap in node.traps] == ["auto-pad-with-pads"]
    assert node.written == {"auto_pad": "SAME_UPPER", "pads": (2, 0)}


def test_pad_nodes_are_listed_over_all_axes() -> None:
    model = text_model(
        "[pad] y = Pad (x, pads, c, axes)",
        constants="int64[2] pads = {3, -1}, float c = {-inf}, int64[1] axes = {-1}",
        opset=18,
    )
    node = only(model)
    assert node.pads == (0, 0, 3, 0, 0, -1)
    assert node.output_shape == (1, 1, 10)
    assert node.written == {
        "mode": "constant",
        "value": float("-inf"),
        "pads": (3, -1),
        "axes": (-1,),
    }
    assert node.forms == ("pad-node", "negative", "pad-axes", "pad-value")
    assert node.conventions == ()
    assert node.to_json()["written"]["value"] == "-inf"


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


def test_a_glob_that_matches_nothing_is_refused() -> None:
    with pytest.raises(RequestError, match=r"no padded node matches 'stem/\*'; there are: Conv.0"):
        of_model("pd_same_static_op13", nodes="stem/*")


def test_a_name_with_brackets_is_no_pattern() -> None:
    model = text_model(CONV, constants=WEIGHT)
    model.graph.node[0].name = "blocks[0]/conv"
    assert only(model, nodes="blocks[0]/conv").node == "blocks[0]/conv"


def test_a_graphsurgeon_graph_is_read() -> None:
    path = MODELS / "kt_net_even.onnx"
    graph = gs.import_onnx(onnx.load(path))
    assert [node.pads for node in inspect(graph).nodes] == [n.pads for n in inspect(path).nodes]


def test_unreadable_models_are_errors(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", np.ones(3))
    with pytest.raises(ModelError, match=r"array\.npy"):
        inspect(tmp_path / "array.npy")
    with pytest.raises(RequestError, match="not int"):
        inspect(3)
