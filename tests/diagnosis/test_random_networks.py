"""Random networks, wrong at several nodes: found, and nothing claimed that is not so."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from onnxpad import diagnose, retarget
from tests.diagnosis.texts import network
from tests.retargeting.running import outputs, relative, signed

WAYS = {
    "tensorflow": {"Conv": "SAME", "MaxPool": "SAME", "AveragePool": "SAME"},
    "pytorch": {"Conv": "half", "MaxPool": "half", "AveragePool": "half, count_include_pad = 1"},
    "caffe": {
        "Conv": "half",
        "MaxPool": "half, ceil_mode = 1",
        "AveragePool": "half, ceil_mode = 1",
    },
    "lower": {"Conv": "LOWER", "MaxPool": "LOWER", "AveragePool": "LOWER"},
    "valid": {"Conv": "none", "MaxPool": "none", "AveragePool": "none"},
}
SIZE, CHANNELS = 33, 4


def layers(random: Random) -> list[tuple[str, int, int]]:
    """Operators with kernels and strides; sizes stay above 3."""
    found, left = [], SIZE
    for _ in range(random.randint(3, 7)):
        op = random.choice(("Conv", "Conv", "Conv", "MaxPool", "AveragePool"))
        stride = random.choice((1, 2, 2)) if left > 8 else 1
        kernel = random.choice((3, 5) if op == "Conv" and left > 12 else (2, 3))
        left = (left - kernel) // stride
        if left < 4:
            break
        found.append((op, kernel, stride))
    return found


def written(way: str, kernel: int) -> str:
    """The padding of a node as attributes."""
    half = ", ".join([str(kernel // 2)] * 4)
    words, _, more = way.partition(", ")
    text = {
        "SAME": 'auto_pad = "SAME_UPPER"',
        "LOWER": 'auto_pad = "SAME_LOWER"',
        "half": f"pads = [{half}]",
        "none": "pads = [0, 0, 0, 0]",
    }[words]
    return f"{text}, {more}" if more else text


def model(steps: list[tuple[str, int, int]], ways: list[str]) -> ModelProto:
    nodes, weights = list[str](), dict[str, Any]()
    for number, ((op, kernel, stride), way) in enumerate(zip(steps, ways, strict=True)):
        last = number + 1 == len(steps)
        more = "" if op == "Conv" else f", kernel_shape = [{kernel}, {kernel}]"
        given = f"{written(way, kernel)}, strides = [{stride}, {stride}]{more}"
        reads = f"t{number}" if number else "x"
        if op == "Conv":
            weights[f"w{number}"] = (CHANNELS, CHANNELS, kernel, kernel)
            nodes.append(f"a{number} = Conv <{given}> ({reads}, w{number})")
        else:
            nodes.append(f"a{number} = {op} <{given}> ({reads})")
        nodes.append(f"{'y' if last else f't{number + 1}'} = LeakyRelu (a{number})")
    x = f"float[1, {CHANNELS}, {SIZE}, {SIZE}] x"
    return network(" ".join(nodes), x, **weights)


@pytest.mark.part(4)
@pytest.mark.parametrize("seed", range(16))
def test_a_claim_holds_on_a_sample_that_was_not_seen(seed: int) -> None:
    random = Random(seed)
    steps = layers(random)
    names = random.sample(sorted(WAYS), 2)
    right = [WAYS[names[0]][op] for op, _, _ in steps]
    other = [WAYS[names[1]][op] for op, _, _ in steps]
    chosen = [random.choice(pair) for pair in zip(right, other, strict=True)]
    models = model(steps, right), model(steps, chosen)
    x = [signed(seed + n, 1, CHANNELS, SIZE, SIZE) for n in range(3)]
    y = [outputs(models[0], one)[0] for one in x]
    noisy = [(one + np.float32(1e-7) * one * signed(9, *one.shape)).astype(np.float32) for one in y]
    found = diagnose(models[1], inputs={"x": x[:2]}, outputs={"y": noisy[:2]})
    assert found.explained, found.reason
    mended = retarget(models[1], plan=found.plan).model if found.plan.entries else models[1]
    assert isinstance(mended, ModelProto)
    assert relative(outputs(mended, x[2])[0], y[2]) < 1e-4
