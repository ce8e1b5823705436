"""What a report says does not contradict what it shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxpad.rewriting import rewrite
from onnxpad.validation import Validation, Verdict, concluding, validate
from onnxpad.validation.report import OutputRow
from tests.validation.builders import W1, model, node


def cpu(before: object, after: object, **options: Any) -> Validation:
    return validate(before, after, device="cpu", samples=1, **options)


def row(level: str, *, equal: bool, max_abs: float, bound: float | None) -> OutputRow:
    return OutputRow(0, "y", level, (1,), (1,), equal, max_abs, bound)


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (3e-5, " without optimisations; apart by up to 9.5e-06 with them, which is rounding "
         "(allowed 3e-05)"),
        (1e-6, " without optimisations; apart by up to 9.5e-06 with them"),
        (None, " without optimisations; apart by up to 9.5e-06 with them"),
    ],
)  # fmt: skip
def test_what_optimisations_change_is_said(bound: float | None, said: str) -> None:
    rows = [
        row("on", equal=True, max_abs=0.0, bound=None),
        row("on", equal=False, max_abs=9.5e-6, bound=bound),
    ]
    assert concluding.apart_when_optimised(rows) == said
    assert concluding.apart_when_optimised(rows[:1]) == ""


def test_bit_equal_without_optimisations_only() -> None:
    """A 1-D network lifted to 2-D, which onnxruntime optimises with other kernels."""
    weights = np.random.default_rng(5).standard_normal((2, 16, 16, 5)).astype(np.float32)
    nodes = [
        node("Conv", ["x", "A"], ["a"], name="a", pads=[2, 2]),
        node("Relu", ["a"], ["r"]),
        node("Conv", ["r", "B"], ["y"], name="b"),
    ]
    before = model(nodes, {"A": weights[0], "B": weights[1]}, shape=(1, 16, 40))
    report = cpu(before, rewrite(before, passes="lift-rank").model)
    assert report.ok
    for found in report.outputs:
        if found.level == "on" and not found.equal:
            assert found.bound is not None
            assert found.max_abs is not None
            assert found.max_abs <= found.bound
            assert found.where == ""
            assert "without optimisations" in report.reason


def behind_transpose(size: int, outputs: int = 4) -> Any:
    """Pad in channels-last order, Transpose, Conv."""
    nodes = [
        node("Pad", ["x", "pads"], ["xp"], name="pad"),
        node("Transpose", ["xp"], ["xpt"], perm=[0, 2, 1]),
        node("Conv", ["xpt", "W"], ["y"], name="conv"),
    ]
    constants = {"pads": np.array([0, 2, 0, 0, 0, 0]), "W": W1[:outputs, :, 0]}
    return model(nodes, constants, shape=(1, size, 3))


def test_a_tensor_that_keeps_its_name_without_padding_is_no_alarm() -> None:
    before = behind_transpose(12)
    after = rewrite(before, passes="absorb-pad")
    assert after.changed
    report = cpu(before, after.model)
    assert report.verdict is Verdict.IDENTICAL
    assert report.warnings == ()
