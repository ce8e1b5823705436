"""The custom rewriter of onnxsim."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.integrations.conftest import Host
from tests.integrations.models import SAME, fits, proved, shown

pytestmark = pytest.mark.part(2)

SPLIT = """
import onnx
import onnxsim
from onnxpad.integrations.onnxsim import rewriter

model = onnx.load("models/t_same_string_ts.onnx")
passes = ["explicit-pads", "split-pads"]
try:
    onnxsim.simplify(model, custom_rewriter=rewriter(passes=passes))
except Exception as error:
    print(f"{type(error).__name__}: {error}")
left_out = ["fuse_pad_into_conv", "fuse_pad_into_pool"]
simple, _ = onnxsim.simplify(
    model, custom_rewriter=rewriter(passes=passes), skipped_optimizers=left_out
)
onnx.save(simple, "split.onnx")
print([node.op_type for node in simple.graph.node].count("Pad"))
"""


def test_what_is_shown_works(host: Callable[[str], Host]) -> None:
    tool = host("onnxsim")
    tool.program(shown("onnxsim"))
    after = tool.folder / "simple.onnx"
    assert fits(after, "opencv")
    assert proved(SAME, after)


def test_what_onnxsim_takes_back_is_an_error_that_says_what_to_leave_out(
    host: Callable[[str], Host],
) -> None:
    """Without it, both would work against each other for 50 rounds, and either could win."""
    tool = host("onnxsim")
    printed = tool.program(SPLIT).splitlines()
    (refusal,) = (line for line in printed if line.startswith("RequestError"))
    assert "takes back what split-pads does to '/f/f.0/Conv'" in refusal
    assert "skipped_optimizers=['fuse_pad_into_conv', 'fuse_pad_into_pool']" in refusal
    assert printed[-1] == "5"
    assert proved(SAME, tool.folder / "split.onnx")
