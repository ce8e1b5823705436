"""Models of an opset or an IR version that did not exist when this was written, or never will."""

from pathlib import Path

import onnx
import pytest
from onnx import parser

import onnxpad
from tests.names import PASSES

MODEL = """
<ir_version: 10, opset_import: ["" : 21]>
main (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,4,4] z) {
    sizes = Constant <value = int64[8] {0, 0, 1, 1, 0, 0, 1, 1}> ()
    p = Pad (x, sizes)
    c = Conv <auto_pad = "VALID"> (p, w)
    z = MaxPool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1> (c)
}
"""


def model(opset: int, ir_version: int = 10) -> onnx.ModelProto:
    made = parser.parse_model(MODEL)
    made.opset_import[0].version = opset
    made.ir_version = ir_version
    return made


NEXT = onnx.defs.onnx_opset_version() + 1


def test_every_node_of_a_newer_opset_is_listed_and_said_to_be_unknown() -> None:
    found = onnxpad.inspect(model(NEXT), target=["onnxruntime", "ncnn"])
    assert [node.op for node in found.nodes] == ["Pad", "Conv", "MaxPool"]
    for node in found.nodes:
        assert node.pads is None
        assert f"opset {NEXT}" in str(node.to_json())
    for told in found.targets.values():
        assert [str(one.judgement.answer) for one in told] == ["unknown"] * 3


@pytest.mark.parametrize("name", PASSES)
def test_no_pass_changes_a_newer_opset(name: str, tmp_path: Path) -> None:
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    onnx.save(model(NEXT), before)
    done = onnxpad.rewrite(before, passes=[name])
    assert not done.changes
    assert all("update onnx" in skip.skip.reason for skip in done.skips)
    done.save(after)
    assert after.read_bytes() == before.read_bytes()


def test_a_newer_ir_version_is_read() -> None:
    found = onnxpad.inspect(model(21, ir_version=99))
    assert found.nodes[1].pads is not None
    done = onnxpad.rewrite(model(21, ir_version=99))
    assert done.model.ir_version == 99
    assert len(done.changes) == 1


@pytest.mark.parametrize("opset", [-1, 2**31, 2**40])
def test_an_opset_that_no_runtime_can_name_is_refused(opset: int) -> None:
    """onnx takes an int32 and says TypeError to others."""
    for verb in (onnxpad.inspect, onnxpad.rewrite):
        with pytest.raises(onnxpad.ModelError, match=f"opset {opset}, which does not exist"):
            verb(model(opset))
    verdict = onnxpad.validate(model(opset), model(21), device="cpu", run_only=True).verdict
    assert verdict is not onnxpad.Verdict.PROVED
