"""Rounding that hangs on the number of threads is no difference of models."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onnxpad.rewriting.rewrite import rewrite
from onnxpad.validation.report import Verdict
from tests.validation.runs import validate

MODEL = Path(__file__).parents[2] / "models" / "pd_same_static_op13.onnx"


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor: onnxruntime has no threads")
def test_another_share_of_each_thread_is_rounding() -> None:
    """Two threads split a convolution by the size of its output, which wider pads change."""
    done = rewrite(MODEL, passes=["symmetric-pads-by-slice"])
    found = validate(MODEL, done.model, samples=1)
    assert found.verdict in (Verdict.ROUNDING, Verdict.IDENTICAL), found.reason
