"""Verdicts on CUDA beside those on the CPU; skipped where no CUDA session opens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto

import onnxpad
from onnxpad import Verdict, sessions
from onnxpad.sessions import CUDA, RunFailure, Session, Settings, open_session
from tests.validation.builders import RANDOM, two_convs

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(
        sessions.cuda_problem() is not None, reason=f"no CUDA: {sessions.cuda_problem()}"
    ),
]
MODELS = sorted((Path(__file__).parents[2] / "models").glob("*.onnx"))


@pytest.mark.parametrize("tf32", [False, True])
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_rewrites_have_the_verdict_that_they_have_on_the_cpu(path: Path, tf32: bool) -> None:
    after = onnxpad.rewrite(path).model
    here = onnxpad.validate(path, after, device="cpu", samples=1)
    there = onnxpad.validate(path, after, device="cuda", samples=1, tf32=tf32)
    assert there.verdict is here.verdict, there.reason
    assert there.providers["after"][0] == CUDA


@pytest.mark.parametrize("tf32", [False, True])
def test_a_pad_off_by_one_is_different_on_cuda_too(tf32: bool) -> None:
    before, after = two_convs(pads=[1, 1, 1, 1]), two_convs(pads=[0, 1, 2, 1])
    found = onnxpad.validate(before, after, device="cuda", tf32=tf32)
    assert found.verdict is Verdict.DIFFERENT
    assert found.run is not None
    assert found.run.verdict is Verdict.DIFFERENT


@pytest.mark.parametrize("tf32", [False, True])
def test_cuda_is_near_the_cpu(tf32: bool) -> None:
    model = two_convs(pads=[1, 1, 1, 1])
    assert isinstance(model, ModelProto)
    x = RANDOM.standard_normal((1, 3, 33, 30)).astype(np.float32)
    made = []
    for settings in (Settings(), Settings(device="cuda", tf32=tf32)):
        session = open_session(model.SerializeToString(), settings)
        assert isinstance(session, Session), session
        found = session.run({"x": x})
        assert not isinstance(found, RunFailure), found
        made.append(found["y"])
    scale = np.abs(made[0]).max()
    assert np.abs(made[1] - made[0]).max() <= scale * (2e-2 if tf32 else 1e-4)
