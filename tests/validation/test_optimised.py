"""Damage by onnxruntime's default optimiser counts where nodes changed, and is said elsewhere."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from onnxpad import Validation, Verdict
from tests.validation.builders import B1, W1, W2, model, node
from tests.validation.runs import validate

WINDOW: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 2]}
POOL_PADS = np.array([0, 0, 1, 1, 0, 0, 1, 1])
AXES_PADS = np.array([1, 1, 1, 1])
X = np.random.default_rng(3).standard_normal((1, 3, 12, 11)).astype(np.float32)


def old_damage(opset: int = 18, *, axes: bool = False, **conv: Any) -> ModelProto:
    """A Conv with these attributes behind Pad(0) -> MaxPool over negative data.

    Pad_Fusion damages the pool, unless the Pad lists `axes`.
    """
    constants = {
        "W1": W1,
        "B": B1 - 20,
        "W2": W2,
        "v": np.array(0, np.float32),
        "pads": AXES_PADS if axes else POOL_PADS,
        "axes": np.array([2, 3]),
    }
    nodes = [
        node("Conv", ["x", "W1", "B"], ["c"], name="c1"),
        node("Pad", ["c", "pads", "v", *(["axes"] if axes else [])], ["q"], name="pad"),
        node("MaxPool", ["q"], ["m"], name="pool", **WINDOW),
        node("Tanh", ["m"], ["t"], name="tanh"),
        node("Conv", ["t", "W2"], ["y"], name="c2", **conv),
    ]
    return model(nodes, constants, opset=opset)


def cpu(before: object, after: object, **options: Any) -> Validation:
    return validate(before, after, device="cpu", samples=1, **options)


def reference(*, optimise: bool) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimise else level.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        old_damage().SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(["y"], {"x": X})[0]


FAULT = pytest.mark.skipif(
    np.allclose(reference(optimise=True), reference(optimise=False), atol=1e-3),
    reason="this onnxruntime does not damage the pool: 1.32 does no longer",
)


@FAULT
@pytest.mark.parametrize("runs", [True, False])
def test_damage_to_nodes_that_changed_is_different(runs: bool) -> None:
    conv: dict[str, Any] = {"pads": [2, 2, 2, 2], "dilations": [2, 2]}
    first = conv if runs else {"auto_pad": "SAME_UPPER", "dilations": [2, 2]}
    report = cpu(old_damage(axes=True, **first), old_damage(**conv))
    assert report.verdict is Verdict.DIFFERENT
    assert "default optimiser changes output 'y'" in report.reason
    assert "in the second model" in report.reason


@FAULT
def test_a_changed_node_next_to_an_old_damage_does_not_inherit_it() -> None:
    before = old_damage(auto_pad="SAME_UPPER")
    report = cpu(before, old_damage(pads=[1, 1, 1, 1]))
    assert report.verdict is Verdict.IDENTICAL
    (said,) = [w for w in report.warnings if "default optimiser" in w]
    assert "both models alike" in said


@FAULT
@pytest.mark.parametrize("optimise", [True, False])
def test_a_reference_and_the_default_optimiser_do_not_contradict_silently(optimise: bool) -> None:
    expected = {"y": reference(optimise=optimise)}
    report = validate(old_damage(), inputs={"x": X}, outputs=expected, device="cpu")
    assert report.verdict is (Verdict.DIFFERENT if optimise else Verdict.IDENTICAL)
    levels = {row.level: row.equal for row in report.outputs}
    assert levels == {"off": not optimise, "on": optimise}
    text = "only under onnxruntime's default" if optimise else "moves 'y' away"
    assert any(text in warning for warning in report.warnings)
    assert report.compared == ("reference", "model")
