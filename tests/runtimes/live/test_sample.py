"""The runtimes that install in seconds, on models whose treatment by them is known."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.environments import Unavailable
from tests.runtimes.live.running import outcomes, started
from tests.runtimes.live.sample import pair, sample

# What is not "ok". A runtime that gets better is to be recorded here and in its target.
EXPECTED: dict[str, dict[str, str]] = {
    "onnxruntime": {},
    "onnxruntime-web": {},
    "openvino": {},
    "opencv": {"conv SAME_UPPER": "wrong"},
    "opencv-classic": {
        "conv SAME_LOWER": "wrong",
        "conv 1-D causal": "wrong",
        "max with Indices": "wrong",
        "average without strides": "wrong",
    },
    "mnn": {
        "conv SAME_LOWER": "wrong",
        "max with Indices": "wrong",
        "average without strides": "crash",
    },
    "ncnn": {
        "conv SAME_LOWER": "refused",
        "transposed asymmetric": "refused",
        "max asymmetric": "wrong",
        "max with Indices": "refused",
    },
    "tinygrad": {"max with Indices": "wrong"},
}


SMALL = ("onnxruntime", "opencv-classic", "ncnn")
"""Runtimes that always run; to install the others takes longer than to run them."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.sweep] * (name not in SMALL)) for name in EXPECTED],
)
def test_runtime_does_what_is_recorded(name: str, tmp_path: Path) -> None:
    cases = sample(tmp_path)
    try:
        found = outcomes(RUNTIMES[name], cases)
    except Unavailable as reason:
        pytest.skip(str(reason))
    described = {key: f"{o.verdict} {o.message}" for key, o in found.items() if o.verdict != "ok"}
    verdicts = {key: found[key].verdict for key in described}
    assert verdicts == EXPECTED[name], described


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.sweep] * (name not in SMALL)) for name in RUNTIMES],
)
def test_a_model_that_is_kept_takes_other_inputs(name: str, tmp_path: Path) -> None:
    """Adapters load a model once: nothing of the inputs before may be left in it."""
    path = tmp_path / "pair.onnx"
    draw = np.random.default_rng(3)
    onnx.save(pair([1, 2, 3, 4]), path)
    try:
        runner = started(RUNTIMES[name])
    except Unavailable as reason:
        pytest.skip(str(reason))
    for _ in range(3):
        x, y = draw.standard_normal((2, 1, 2, 3, 4), np.float32)
        reply = runner.run(str(path), {"x": x, "y": y}, {"less": 4, "more": 4}, 90)
        assert reply.status == "ran", reply
        np.testing.assert_allclose(reply.outputs["less"], x - y, rtol=1e-6)
        np.testing.assert_allclose(reply.outputs["more"], x + y, rtol=1e-6)
    runner.close()
