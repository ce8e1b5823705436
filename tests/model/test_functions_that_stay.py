"""What may not be written out: each was once a wrong number, or a model that did not load."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import onnxpad
from tests.oracle.interpreter import run_model

HEAD = '<ir_version: 8, opset_import: ["" : 17, "p" : 1{more}]>\n'
FUNCTION = '<domain: "{domain}", opset_import: ["" : 17, "p" : 1]>\n'
X = np.asarray([[[-3, 1, -4, -1, 5, -9, -2]]], np.float32)
DEFAULT = """F <pads: ints = [1, 1]> (a) => (o)
{ o = AveragePool <pads: ints = @pads, kernel_shape = [2]> (a) }"""
ABSENT = "G (a) => (o) { o = p.F <pads: ints = @nowhere> (a) }"
CALLED = 'F (a) => (o) { o = MaxPool <auto_pad = "SAME_UPPER", kernel_shape = [2]> (a) }'
LACKING = """G <count> (a) => (o) { m = p.F (a)
o = AveragePool <kernel_shape = [2], pads = [0, 1], count_include_pad: int = @count> (m) }"""


def model_of(graph: str, *functions: str, domain: str = "p", more: str = "") -> onnx.ModelProto:
    parts = [HEAD.format(more=more) + f"g (float[1,1,7] x) => (float[a,b,c] y) {{ {graph} }}"]
    parts += [FUNCTION.format(domain=domain) + one for one in functions]
    model: onnx.ModelProto = onnx.parser.parse_model("\n".join(parts))
    return model


def test_a_default_behind_a_reference_to_nothing_is_not_lost() -> None:
    model = model_of("y = p.G (x)", DEFAULT, ABSENT)
    right = run_model(model, {"x": X})["y"]
    assert right.shape == (1, 1, 8)
    done = onnxpad.rewrite(model, passes=["written-defaults", "split-pads"])
    assert isinstance(done.model, onnx.ModelProto)
    assert done.changed
    np.testing.assert_array_equal(run_model(done.model, {"x": X})["y"], right)


@pytest.mark.parametrize("graph", ["z = p.F (x) y = p.G (z)", "z = Relu (x) y = p.G (z)"])
def test_what_a_function_that_stays_calls_stays_as_well(graph: str) -> None:
    model = model_of(graph, CALLED, LACKING)
    done = onnxpad.rewrite(model, passes="explicit-pads")
    assert isinstance(done.model, onnx.ModelProto)
    onnx.checker.check_model(done.model, full_check=True)
    assert {one.name for one in done.model.functions} == {"F", "G"}
    np.testing.assert_array_equal(
        run_model(done.model, {"x": X})["y"], run_model(model, {"x": X})["y"]
    )
    other = model_of(graph, CALLED.replace("UPPER", "LOWER"), LACKING)
    assert onnxpad.validate(model, other, proof_only=True).verdict == "different"


def test_nodes_of_a_function_that_stays_are_edited_by_no_pass() -> None:
    padded = """G (a) => (o) { n = Constant <value = int64[6] {0, 0, 1, 0, 0, 1}> ()
        o = Pad <mode = "reflect"> (a, n) }"""
    model = model_of("y = Relu (x)", padded)
    for name in ("written-defaults", "plain-pad", "explicit-pads"):
        assert not onnxpad.rewrite(model, passes=name).changed


def test_a_function_with_the_name_of_an_operator_stays() -> None:
    body = "FusedConv (a) => (o) { o = AveragePool <kernel_shape = [2], pads = [1, 0]> (a) }"
    more = ', "com.microsoft" : 1'
    model = model_of("y = com.microsoft.FusedConv (x)", body, domain="com.microsoft", more=more)
    done = onnxpad.rewrite(model, passes="split-pads")
    assert isinstance(done.model, onnx.ModelProto)
    assert [one.op_type for one in done.model.graph.node] == ["FusedConv"]
    assert not done.changed
