"""Models that onnxruntime computes right raise no trap, and its target leaves them alone."""

from __future__ import annotations

import onnx
import pytest

from onnxpad import inspect, rewrite
from tests.models.tiny import X5, by_onnxruntime, tiny

ONE_EACH = "int64[6] p = {0,0,1,0,0,1}"
POOL = "y = MaxPool<kernel_shape=[3]>(t)"


def signed_zero() -> onnx.ModelProto:
    return tiny(f"t = Pad(x, p, c) {POOL}", constants=f"{ONE_EACH}, float c = {{-0.0}}")


def two_readers() -> onnx.ModelProto:
    model = tiny(f"t = Pad(x, p) {POOL} z = Neg(t)", constants=ONE_EACH)
    model.graph.output.add().name = "z"
    return model


@pytest.mark.parametrize("target", ["onnxruntime", "onnxruntime@1.31"])
@pytest.mark.parametrize("model", [signed_zero(), two_readers()], ids=["-0", "two readers"])
def test_healthy(model: onnx.ModelProto, target: str) -> None:
    assert isinstance(by_onnxruntime(model, -X5), list)
    assert by_onnxruntime(model, -X5, optimised=True) == by_onnxruntime(model, -X5)
    report = inspect(model, target=target)
    assert not any(node.traps for node in report.nodes)
    assert all(not one.judgement.answer.fails for one in report.targets[target])
    assert not rewrite(model, target=target).changed


def test_valid_in_front_of_a_signed_zero_is_no_shield() -> None:
    model = signed_zero()
    model.graph.node[1].attribute.append(onnx.helper.make_attribute("auto_pad", "VALID"))
    after = rewrite(model, passes="explicit-pads")
    assert after.changed
    assert isinstance(after.model, onnx.ModelProto)
    assert by_onnxruntime(after.model, -X5, optimised=True) == by_onnxruntime(model, -X5)
