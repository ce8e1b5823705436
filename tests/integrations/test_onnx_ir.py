"""The pass of onnx_ir, between its own passes and on what PyTorch exports."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.integrations.conftest import Host
from tests.integrations.models import SAME, fits, proved, shown

pytestmark = pytest.mark.part(2)

AMONG_OTHERS = """
import json
import onnx_ir
from onnx_ir.passes import PassError, PassManager, Sequential, common
from onnxpad.integrations.onnx_ir import RewritePadding

model = onnx_ir.load("models/t_same_string_ts.onnx")
rewriting = RewritePadding(target="opencv")
others = common.RemoveUnusedNodesPass(), common.CheckerPass()
first = Sequential(others[0], rewriting, others[1])(model)
second = rewriting(first)
kept = sum("auto_pad" in node.attributes for node in model.graph)
ended = PassManager([rewriting], steps=5)(model)
try:
    Sequential(RewritePadding(target="nonsense"))(model)
except PassError as error:
    reason = str(error.__cause__)
print(json.dumps([first.modified, second.modified, ended.modified, kept]))
print(reason)
"""
PROGRAM = """
import torch
from onnxpad.integrations.onnx_ir import RewritePadding

torch.manual_seed(0)
network = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU()).eval()
x = torch.randn(1, 3, 8, 8)
program = torch.onnx.export(network, (x,), dynamo=True, verbose=False)
program.save("before.onnx")
program.model = RewritePadding(passes=["split-pads"])(program.model).model
program.save("after.onnx")
print([node.op_type for node in program.model.graph])
print(torch.allclose(program(x)[0], network(x), atol=1e-5))
"""


@pytest.mark.sweep
def test_what_is_shown_works(host: Callable[[str], Host]) -> None:
    tool = host("onnx_ir")
    tool.program(shown("onnx_ir"))
    after = tool.folder / "for_opencv.onnx"
    assert not fits(SAME, "opencv")
    assert fits(after, "opencv")
    assert proved(SAME, after)


def test_it_is_a_pass_as_others_are(host: Callable[[str], Host]) -> None:
    """It says whether it changed the model, leaves its input alone, comes to an end, and fails."""
    told, reason = host("onnx_ir").program(AMONG_OTHERS).splitlines()
    assert json.loads(told) == [True, False, True, 6]
    assert reason.startswith("no target is called 'nonsense'")


@pytest.mark.sweep
def test_an_onnx_program_takes_the_model(host: Callable[[str], Host]) -> None:
    tool = host("ultralytics")
    printed = tool.program(PROGRAM).splitlines()
    assert printed[-2:] == ["['Pad', 'Conv', 'Relu']", "True"]
    assert proved(tool.folder / "before.onnx", tool.folder / "after.onnx")
