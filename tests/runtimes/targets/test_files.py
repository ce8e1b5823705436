"""Shapes that a runtime wants declared: rewrite declares what inference finds."""

from __future__ import annotations

from onnx import parser

import onnxpad
from onnxpad.runtimes.conditions.plain_facts import UNSHAPED
from tests.runtimes.targets.chains import answers

BRANCHING = """<ir_version: 8, opset_import: ["": 17]>
g (float[1,2,6,6] x) => (float[] y) <bool c = {1}> {
  y = If<
    then_branch = t () => (float[] r) { r = Abs(x) },
    else_branch = f () => (float[] q) { q = Neg(x) }
  >(c)
}"""


def test_rewrite_declares_the_shapes_that_opencv_wants() -> None:
    model = parser.parse_model(BRANCHING)
    (found,) = onnxpad.inspect(model, target="opencv").targets.values()
    assert "infer_shapes" in " ".join(cure for one in found for cure in one.judgement.cures)
    done = onnxpad.rewrite(model, target="opencv")
    assert done.fitting is not None
    assert any("the shapes of 'q', 'r', 'y' declared" in one for one in done.fitting.prepared)
    assert UNSHAPED[0] not in answers(done.model, "opencv")
    sizes = [one.dim_value for one in done.model.graph.output[0].type.tensor_type.shape.dim]
    assert sizes == [1, 2, 6, 6]
    assert onnxpad.validate(model, done.model)
