"""Models in other forms: what came in comes back, and the numbers are the same."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import onnxpad
from onnxpad import RequestError

PATH = Path(__file__).parents[2] / "models" / "pd_same_static_op13.onnx"
DATA = PATH.read_bytes()
verbs: Any = onnxpad


def is_explicit(model: onnx.ModelProto) -> bool:
    names = {one.name for node in model.graph.node for one in node.attribute}
    return "pads" in names and "auto_pad" not in names


def test_bytes_give_bytes() -> None:
    done = onnxpad.rewrite(DATA)
    assert isinstance(done.model, bytes)
    expected: Any = onnxpad.rewrite(PATH).model
    assert onnx.load_from_string(done.model) == expected
    assert onnxpad.validate(DATA, done.model, proof_only=True).ok
    assert onnxpad.inspect(DATA).to_json() == onnxpad.inspect(PATH).to_json()


def test_bytes_that_need_no_change_come_back_as_they_are(tmp_path: Path) -> None:
    done = onnxpad.rewrite(DATA, passes="floor-pool")
    assert done.model is DATA
    done.save(tmp_path / "same.onnx")
    assert (tmp_path / "same.onnx").read_bytes() == DATA


def test_an_onnxscript_function_is_read_as_its_model() -> None:
    class Function:
        def to_model_proto(self) -> onnx.ModelProto:
            return onnx.load(PATH)

    given: Any = Function()
    done = onnxpad.rewrite(given)
    assert is_explicit(done.model)
    assert onnxpad.rewrite(given, passes="floor-pool").model is given


def test_other_values_are_refused_and_what_is_taken_is_said() -> None:
    with pytest.raises(RequestError, match=r"a model is a path, bytes, .* not SimpleNamespace"):
        verbs.inspect(SimpleNamespace(model=3))


@pytest.fixture
def ir() -> Any:
    return pytest.importorskip("onnx_ir")


def test_onnx_ir_gives_onnx_ir(ir: Any) -> None:
    given = ir.from_proto(onnx.load(PATH))
    before = ir.to_proto(given)
    done = onnxpad.rewrite(given)
    assert isinstance(done.model, ir.Model)
    assert is_explicit(ir.to_proto(done.model))
    assert ir.to_proto(given) == before
    assert onnxpad.validate(given, done.model, proof_only=True).ok
    assert onnxpad.rewrite(given, passes="floor-pool").model is given
    assert isinstance(onnxpad.retarget(given, to="pytorch").model, ir.Model)


def test_external_data_of_onnx_ir_stays_where_it_is(ir: Any, tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")
    node = helper.make_node("Conv", ["x", "w"], ["y"], auto_pad="SAME_UPPER")
    x, y = (helper.make_tensor_value_info(n, 1, [1, c, 8, 8]) for n, c in (("x", 3), ("y", 4)))
    opset = [helper.make_opsetid("", 17)]
    made = helper.make_model(
        helper.make_graph([node], "g", [x], [y], [weight]), opset_imports=opset, ir_version=8
    )
    onnx.save(made, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0, location="w")
    done = onnxpad.rewrite(ir.load(tmp_path / "m.onnx"))
    (held,) = done.model.graph.initializers.values()
    assert isinstance(held.const_value, ir.ExternalTensor)
    assert np.array_equal(held.const_value.numpy(), np.ones((4, 3, 3, 3), np.float32))
    done.save(tmp_path / "out.onnx")
    assert onnxpad.validate(tmp_path / "m.onnx", tmp_path / "out.onnx", proof_only=True).ok


def test_a_program_of_torch_comes_back_around_another_model(ir: Any) -> None:
    """torch.onnx.ONNXProgram holds its onnx_ir model as `model`."""

    class Program:
        def __init__(self, model: object) -> None:
            self.model = model
            self.exported_program = "exported"
            self._inference_session = "open"

    given: Any = Program(ir.from_proto(onnx.load(PATH)))
    done = onnxpad.rewrite(given)
    assert isinstance(done.model, Program)
    assert done.model is not given
    assert (done.model.exported_program, vars(done.model)["_inference_session"]) == (
        "exported",
        None,
    )
    assert is_explicit(ir.to_proto(done.model.model))
    assert not is_explicit(ir.to_proto(given.model))
