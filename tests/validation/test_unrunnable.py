"""Models that onnxruntime does not open, and nodes with both auto_pad and pads."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

import onnxpad
from onnxpad import Validation, Verdict
from tests.validation.builders import B1, W1, W2, model, node, two_convs
from tests.validation.runs import validate

SAME: dict[str, Any] = {"auto_pad": "SAME_UPPER"}
PADS: dict[str, Any] = {"pads": [1, 1, 1, 1]}
SHIFTED: dict[str, Any] = {"pads": [0, 0, 2, 2]}


def cpu(before: object, after: object, **options: Any) -> Validation:
    return validate(before, after, device="cpu", samples=2, **options)


def twins(**attributes: Any) -> ModelProto:
    """Two nodes of one name, which onnxruntime refuses."""
    nodes = [
        node("Conv", ["x", "W", "B"], ["c"], name="twin", **attributes),
        node("Relu", ["c"], ["r"], name="twin"),
        node("Conv", ["r", "W2"], ["y"], name="c2", **attributes),
    ]
    return model(nodes, {"W": W1, "B": B1, "W2": W2})


@pytest.mark.parametrize(("after", "ok"), [(PADS, True), (SHIFTED, False)])
def test_changed_nodes_of_models_that_nothing_runs(after: dict[str, Any], ok: bool) -> None:
    report = cpu(twins(**SAME), twins(**after))
    assert report.ok is ok, report.reason
    assert report.judge == "onnxpad float64 evaluator"


@pytest.mark.parametrize(
    ("keep", "after", "ok"),
    [
        ("pads", SHIFTED, True),
        ("pads", PADS, False),
        ("auto_pad", PADS, True),
        ("auto_pad", SHIFTED, False),
    ],
)
def test_a_node_with_auto_pad_and_pads_is_read_as_asked(
    keep: str, after: dict[str, Any], ok: bool
) -> None:
    report = cpu(two_convs(**SAME, **SHIFTED), two_convs(**after), ambiguous=keep)
    assert report.ok is ok, report.reason
    assert any(f"judged by {keep} alone" in w and "Conv 'c1'" in w for w in report.warnings)


@pytest.mark.parametrize("run_only", [False, True])
def test_what_a_slice_hides_in_models_that_nothing_runs_is_not_different(run_only: bool) -> None:
    """Two nodes of one name keep onnxruntime away; in the row that is left a weight reads 0."""

    def first_row(value: float) -> ModelProto:
        weight = np.array([value, 1], np.float32).reshape(1, 1, 2, 1)
        nodes = [
            node("Relu", ["x"], ["r"], name="twin"),
            node("Conv", ["r", "W"], ["c"], name="twin", pads=[1, 0, 0, 0]),
            node("Slice", ["c", "from", "to", "rows"], ["y"], name="s"),
        ]
        numbers = {"from": np.array([0]), "to": np.array([1]), "rows": np.array([2])}
        return model(nodes, {"W": weight, **numbers}, shape=[1, 1, 5, 5])

    found = onnxpad.validate(first_row(2), first_row(3), device="cpu", run_only=run_only)
    assert found.verdict is (Verdict.IDENTICAL if run_only else Verdict.PROVED)
