"""ResNet-50 at 224, random weights: eight nodes that might be padded in two ways or more."""

from __future__ import annotations

import time
from functools import partial

import pytest
from onnx import ModelProto

from onnxpad.diagnosis import diagnose
from onnxpad.retargeting import retarget
from tests.diagnosis.networks import AMBIGUOUS, resnet
from tests.retargeting.running import outputs, relative, signed


@pytest.mark.sweep
def test_a_resnet_50_with_half_of_its_nodes_wrong_in_a_minute() -> None:
    full = partial(resnet, blocks=(3, 4, 6, 3), width=64, size=224, classes=1000)
    pads = dict.fromkeys(AMBIGUOUS[1::2], "upper")
    wrong, right = full({}), full(pads)
    x = [signed(seed, 1, 3, 224, 224) for seed in (1, 2)]
    y = [outputs(right, one)[0] for one in x]
    started = time.process_time()
    found = diagnose(wrong, inputs={"x": x[0]}, outputs={"fc_out": y[0]})
    spent = time.process_time() - started  # whatever else the machine does
    assert found.explained, found.reason
    assert {entry.node for entry in found.plan.entries} == set(pads)
    assert spent < 60
    mended = retarget(wrong, plan=found.plan).model
    assert isinstance(mended, ModelProto)
    assert relative(outputs(mended, x[1])[0], y[1]) < 1e-4
