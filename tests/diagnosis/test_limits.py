"""A diagnosis ends at its budget and its limits, whatever the model does."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from onnxpad import processes
from onnxpad.diagnosis import Cause, diagnose, search
from onnxpad.diagnosis.score import Score, scored
from onnxpad.errors import LimitMet
from tests.diagnosis.networks import AMBIGUOUS, resnet
from tests.diagnosis.test_not_padding import against, changed
from tests.models import runaway
from tests.models.tiny import tiny

ONE = np.ones(1, np.float32)


def test_a_running_session_is_ended_at_the_budget() -> None:
    started = time.monotonic()
    found = diagnose(
        runaway.endless_loop(), inputs={"x": ONE}, outputs={"y": ONE}, device="cpu", budget=2
    )
    assert time.monotonic() - started < 8
    assert (found.explained, found.cause, found.complete) == (False, Cause.UNKNOWN, False)
    assert found.reason.startswith("the time was up while onnxruntime was running")
    assert not found.plan.entries
    assert found.to_json()["residual"] is None


def test_what_came_nearest_is_kept_where_a_run_is_ended_at_the_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last run is ended while it computes; what was found before is judged behind that."""
    count = 0

    def slow(*given: Any) -> Score:
        nonlocal count
        count += 1
        if count == 60:
            time.sleep(max(0.0, processes.current().deadline - time.monotonic()))
            raise LimitMet("the time was up while onnxruntime was running, which was ended")
        return scored(*given)

    monkeypatch.setattr(search, "scored", slow)
    true = changed(resnet(dict.fromkeys(AMBIGUOUS, "upper")), "s2b0_2_w", lambda w: w * 1.01)
    found = against(resnet({}), true, budget=6)
    assert (found.explained, found.tried) == (False, 59)
    assert found.nearest is not None
    assert {"stem", "pool"} <= {entry.node for entry in found.nearest.entries}
    assert found.before is not None
    assert found.nearest_residual is not None
    assert found.nearest_residual < found.before / 10
    assert any(one.startswith("the search ended with its budget") for one in found.reasons)


def test_limits_end_it_too() -> None:
    given = {"inputs": {"x": ONE}, "outputs": {"y": ONE[0]}, "device": "cpu"}
    found = diagnose(runaway.four_gigabytes(), memory="300M", **given)  # type: ignore[arg-type]
    assert "more than 300 MiB of memory" in found.reason
    given["outputs"] = {"y": ONE}
    found = diagnose(runaway.endless_loop(), timeout=0.5, **given)  # type: ignore[arg-type]
    assert "took more than 0.5 s" in found.reason


def test_an_operator_on_an_empty_axis_is_no_internal_error() -> None:
    pool = "z = Slice (x, a, a, b) [op] y = MaxPool <kernel_shape = [3], pads = [1, 1]> (z)"
    model = tiny(pool, "float[1,1,9]", constants="int64[1] a = {9}, int64[1] b = {2}")
    nine = np.ones((1, 1, 9), np.float32)
    found = diagnose(model, inputs={"x": nine}, outputs={"y": nine}, device="cpu", budget=3)
    assert not found.explained
