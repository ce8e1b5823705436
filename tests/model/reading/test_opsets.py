"""Opsets that no runtime can name."""

from __future__ import annotations

import pytest

import onnxpad
from onnxpad import ModelError, Verdict
from tests.models.tiny import tiny
from tests.validation.runs import validate

POOL = "y = MaxPool <kernel_shape = [3], pads = [1, 1]> (x)"


@pytest.mark.parametrize("opset", [-1, 2**31, 2**40])
def test_they_are_refused_and_are_no_other_opset(opset: int) -> None:
    """onnx takes an int32 and says TypeError to others."""
    odd, model = tiny(POOL), tiny(POOL)
    odd.opset_import[0].version = opset
    for verb in (onnxpad.inspect, onnxpad.rewrite):
        with pytest.raises(ModelError, match=f"the model uses opset {opset}, which does not exist"):
            verb(odd)
    assert validate(odd, model, device="cpu").verdict is not Verdict.PROVED
