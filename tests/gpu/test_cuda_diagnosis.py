"""diagnose on CUDA: the same plan as on the CPU; skipped where no CUDA session opens."""

from __future__ import annotations

import pytest
from onnx import ModelProto

from onnxpad import diagnose, retarget, sessions
from onnxpad.sessions import CUDA
from tests.diagnosis.texts import END, HALF, deep
from tests.retargeting.running import outputs, relative, signed

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(
        sessions.cuda_problem() is not None, reason=f"no CUDA: {sessions.cuda_problem()}"
    ),
]


def test_wrong_nodes_are_found_on_cuda() -> None:
    right, wrong = deep(END), deep(HALF)
    x = [signed(seed, 1, 3, 64, 64) for seed in (0, 1)]
    y = [outputs(right, one)[0] for one in x]
    found = diagnose(wrong, inputs={"x": x}, outputs={"y": y}, device="cuda")
    assert found.explained, found.reason
    assert (found.device, found.cause) == ("cuda", "padding")
    assert found.providers["model"][0] == CUDA
    assert {entry.node for entry in found.plan.entries} == {"a", "c"}
    mended = retarget(wrong, plan=found.plan).model
    assert isinstance(mended, ModelProto)
    assert relative(outputs(mended, x[1])[0], y[1]) < 1e-4


def test_a_model_that_agrees_is_left_alone_on_cuda() -> None:
    model, x = deep(HALF), signed(0, 1, 3, 64, 64)
    found = diagnose(model, inputs={"x": x}, outputs={"y": outputs(model, x)[0]}, device="cuda")
    assert found.explained
    assert not found.plan.entries
