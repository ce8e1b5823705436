"""Models that never end or take all memory: an answer within the limits, nothing left running."""

import os
import signal
import threading
import time

import numpy as np
import onnx
import pytest
from onnx import ModelProto

import onnxpad
from onnxpad import RequestError, Verdict, processes
from onnxpad.sessions import CPU
from tests.models import runaway
from tests.validation.builders import two_convs
from tests.validation.runs import validate


def test_an_endless_loop_is_not_verified() -> None:
    model = runaway.endless_loop()
    found = validate(model, model, device="cpu", timeout=1)
    assert found.verdict is Verdict.UNVERIFIED
    assert not found.ok
    assert found.reason == (
        "onnxruntime took more than 1 s and was ended; --timeout 600 gives it more"
    )


def test_four_gigabytes_are_not_taken() -> None:
    model = runaway.four_gigabytes()
    found = validate(model, model, device="cpu", memory="300M")
    assert found.verdict is Verdict.UNVERIFIED
    assert "more than 300 MiB of memory" in found.reason
    assert "--memory 1.2G" in found.reason


def counting(times: int) -> ModelProto:
    """A Loop that ends, of which nothing here knows how often it runs."""
    model = runaway.endless_loop()
    loop = model.graph.node[0]
    loop.input[0] = "n"
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(times), "n"))
    return model


def test_what_ends_is_judged_in_the_child_as_here() -> None:
    for child in processes.running():
        child.end()
    found = validate(counting(3), counting(5), device="cpu")
    assert (found.verdict, found.providers) == (
        Verdict.IDENTICAL,
        {"before": (CPU,), "after": (CPU,)},
    )
    assert [child.module for child in processes.running()] == ["onnxpad.sessions.served"]
    warm = processes.running()[0].pid
    validate(counting(3), counting(4), device="cpu")
    assert [child.pid for child in processes.running()] == [warm]


def test_a_child_ended_from_outside_is_an_error() -> None:
    def end() -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            for child in processes.running():
                if child.grown() > 0:
                    time.sleep(0.5)
                    os.kill(child.pid, signal.SIGKILL)
                    return
            time.sleep(0.01)

    for child in processes.running():
        child.end()
    thread = threading.Thread(target=end)
    thread.start()
    model = runaway.endless_loop()
    with pytest.raises(onnxpad.OnnxpadError, match=r"ended from outside \(SIGKILL\)"):
        validate(model, model, device="cpu", timeout=30)
    thread.join()


@pytest.mark.parametrize("sizes", [(99_999_999, 99), (2**31, 2**31)])
def test_inputs_that_do_not_fit_are_refused_before_they_are_drawn(sizes: tuple[int, int]) -> None:
    dims = dict(zip("HW", sizes, strict=True))
    with pytest.raises(
        RequestError, match=r"cells and take .*GiB.*'x' is .*(?s:.*)(?:--dim|dims).*memory"
    ):
        validate(two_convs(), two_convs(), dims=dims, device="cpu")
