"""Graphs that read what nothing makes, and operators that ONNX does not have."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import ModelProto, parser

from onnxpad import ModelError, inspect, rewrite
from tests.models.real import CORPUS
from tests.models.text import text_model

POOL = "y = MaxPool <kernel_shape = [2]> ({})"
HEAD = '<ir_version: 8, opset_import: ["": 17{}]>\n'
IN_A_BRANCH = """
g (bool c, float[1,1,8] x) => (float[1,1,7] y) {
    y = If (c) <
        then_branch = t () => (float[1,1,7] a) { a = MaxPool <kernel_shape = [2]> (x) },
        else_branch = e () => (float[1,1,7] b) { b = MaxPool <kernel_shape = [2]> (OUTER) }
    >
}
"""
IN_A_LOOP = """
g (int64 n, bool c, float[1,1,8] x) => (float[1,1,8] y) {
    y = Loop (n, c, x) <
        body = l (int64 i, bool d, float[1,1,8] s) => (bool k, float[1,1,8] t) {
            k = Identity (d)
            p = Add (s, OUTER)
            t = MaxPool <kernel_shape = [3], pads = [1, 1]> (p)
        }
    >
}
"""
IN_A_FUNCTION = """
g (float[1,1,8] x) => (float[1,1,7] y) { y = own.pool (x) }
<domain: "own", opset_import: ["": 17]>
pool (a) => (b) { b = MaxPool <kernel_shape = [2]> (OUTER) }
"""
IN_A_BRANCH_OF_A_FUNCTION = """
g (bool c, float[1,1,8] x) => (float[1,1,7] y) { y = own.pool (c, x) }
<domain: "own", opset_import: ["": 17]>
pool (c, a) => (b) {
    b = If (c) <
        then_branch = t () => (r) { r = MaxPool <kernel_shape = [2]> (a) },
        else_branch = e () => (s) { s = MaxPool <kernel_shape = [2]> (OUTER) }
    >
}
"""


def parsed(text: str, domains: str = "") -> ModelProto:
    return parser.parse_model(HEAD.format(domains) + text)


def broken() -> dict[str, ModelProto]:
    return {
        "MaxPool 'y' reads 'nowhere'": text_model(POOL.format("nowhere"), "float[1,1,8] x"),
        "MaxPool 'y.else_branch/b' reads 'nowhere'": parsed(
            IN_A_BRANCH.replace("OUTER", "nowhere")
        ),
        "Add 'y.body/p' reads 'nowhere'": parsed(IN_A_LOOP.replace("OUTER", "nowhere")),
        "MaxPool 'own:pool/b' reads 'x'": parsed(IN_A_FUNCTION.replace("OUTER", "x"), ', "own": 1'),
        "MaxPool 'own:pool/b.else_branch/s' reads 'x'": parsed(
            IN_A_BRANCH_OF_A_FUNCTION.replace("OUTER", "x"), ', "own": 1'
        ),
    }


@pytest.mark.parametrize("said", broken())
def test_a_node_that_reads_what_nothing_makes_is_named(said: str) -> None:
    model = broken()[said]
    for verb in (inspect, rewrite):
        with pytest.raises(ModelError, match=f"the graph is broken: {said}, which no node makes"):
            verb(model)


@pytest.mark.parametrize(
    "model",
    [
        parsed(IN_A_BRANCH.replace("OUTER", "x")),
        parsed(IN_A_LOOP.replace("OUTER", "x")),
        parsed(IN_A_FUNCTION.replace("OUTER", "a"), ', "own": 1'),
        parsed(IN_A_BRANCH_OF_A_FUNCTION.replace("OUTER", "a"), ', "own": 1'),
        text_model(
            'y = Resize <mode = "nearest"> (x, "", s)',
            "float[1,1,8] x",
            constants=("float[3] s = {1, 1, 2}"),
        ),
    ],
)
def test_what_other_scopes_and_empty_names_mean_is_fine(model: ModelProto) -> None:
    found = inspect(model)
    assert not found.model.unknown_operators
    rewrite(model)


def test_sparse_initializers_and_notes_of_quantisation_are_no_fault() -> None:
    model = text_model("y = Conv (x, w)", "float[1,1,8] x")
    values = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [1], [1.0])
    places = onnx.helper.make_tensor("i", onnx.TensorProto.INT64, [1], [1])
    model.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, places, [1, 1, 3]))
    note = model.graph.quantization_annotation.add(tensor_name="y")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="elsewhere")
    assert inspect(model).nodes


def test_an_operator_that_onnx_does_not_have_is_said_by_both_verbs() -> None:
    model = text_model(f"[odd] a = Konv (x)\n{POOL.format('a')}", "float[1,1,8] x", opset=17)
    said = (
        "unknown operator: Konv 'odd': opset 17 of ONNX has no Konv: only a runtime with an "
        "operator of its own of that name loads the model\n"
    )
    found = inspect(model)
    assert said in found.to_text()
    assert said in rewrite(model).to_text("m.onnx")
    (one,) = found.to_json()["model"]["unknown_operators"]
    assert one == {"operator": "Konv", "opset": 17, "node": "odd", "nodes": 1, "since": 0}


def test_an_operator_of_a_later_opset_says_since_when() -> None:
    model = text_model(f"a = Mish (x)\n{POOL.format('a')}", "float[1,1,8] x", opset=17)
    (one,) = inspect(model).model.unknown_operators
    assert one.since == 18
    assert "has no Mish; it came with 18" in one.sentence


@pytest.mark.parametrize(
    ("node", "opset", "domains"),
    [("a = Konv (x)", 99, ""), ("a = own.Konv (x)", 17, "own")],
)
def test_nothing_is_said_of_later_opsets_and_other_domains(
    node: str, opset: int, domains: str
) -> None:
    model = text_model(f"{node}\n{POOL.format('a')}", "float[1,1,8] x", opset=17)
    del model.opset_import[:]
    model.opset_import.append(onnx.helper.make_opsetid("", opset))
    if domains:
        model.opset_import.append(onnx.helper.make_opsetid(domains, 1))
    assert not inspect(model).model.unknown_operators


@pytest.mark.parametrize("path", sorted(CORPUS.glob("**/*.onnx"))[::6], ids=lambda path: path.stem)
def test_no_real_model_is_blamed(path: Path) -> None:
    assert not inspect(path).model.unknown_operators
