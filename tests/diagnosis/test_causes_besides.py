"""What gives a reference besides padding is named: inputs that were prepared otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto

from onnxpad import Diagnosis, diagnose
from tests.command import run
from tests.diagnosis.texts import END, HALF, network
from tests.retargeting.running import Array, outputs, signed

X = np.abs(signed(0, 1, 3, 16, 16)).astype(np.float32)
MEAN, DEVIATION = (
    np.array(one, np.float32).reshape(1, 3, 1, 1)
    for one in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
)


def model(pads: str = HALF, epsilon: float = 0.001, alpha: float = 0.1) -> ModelProto:
    body = f"""a = Conv <strides = [2, 2], pads = [{pads}]> (x, w)
    n = BatchNormalization <epsilon = {epsilon}> (a, s, b, m, d)
    r = LeakyRelu <alpha = {alpha}> (n) y = Conv <pads = [1, 1, 1, 1]> (r, v)"""
    held = """float[4] s = {1, 0.8, 1.2, 0.9}, float[4] b = {0.1, 0, 0.2, -0.1},
    float[4] m = {0, 0.1, 0, -0.1}, float[4] d = {0.02, 0.01, 0.03, 0.02}"""
    return network(body, "float[1, 3, 16, 16] x", held, 17, w=(4, 3, 3, 3), v=(4, 4, 3, 3))


def against(reference: Array, wrong: ModelProto | None = None, budget: float = 60) -> Diagnosis:
    return diagnose(wrong or model(), inputs={"x": X}, outputs={"y": reference}, budget=budget)


PREPARED: dict[str, tuple[Callable[[Array], Array], str]] = {
    "colours": (lambda x: x[:, ::-1].copy(), "'x' has its channels in reverse order (RGB and BGR)"),
    "255": (lambda x: x * np.float32(255), "'x' is multiplied by 255"),
    "both": (
        lambda x: ((x[:, ::-1] - MEAN) / DEVIATION).astype(np.float32),
        "in reverse order (RGB and BGR) and has the mean of ImageNet taken off",
    ),
    "rows and columns": (lambda x: x.swapaxes(2, 3).copy(), "'x' has rows and columns swapped"),
}


@pytest.mark.parametrize(("prepare", "said"), PREPARED.values(), ids=PREPARED)
def test_inputs_prepared_otherwise(prepare: Callable[[Array], Array], said: str) -> None:
    found = against(outputs(model(), {"x": prepare(X)})[0])
    assert (found.explained, found.cause) == (False, "not padding")
    assert found.reason.startswith("no node pads wrong: the model gives the reference")
    assert said in found.reason
    assert (found.settles, found.settling_atol) == ("", None)


def test_padding_and_inputs_prepared_otherwise_are_found_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reference = outputs(model(), {"x": X[:, ::-1].copy()})[0]
    found = against(reference, model(END))
    assert (found.explained, found.cause) == (True, "padding"), found.reason
    assert found.preparation == "'x' has its channels in reverse order (RGB and BGR)"
    assert [entry.settings["pads"] for entry in found.plan.entries] == [[1, 1, 1, 1]]
    (tmp_path / "m.onnx").write_bytes(model(END).SerializeToString())
    np.savez(tmp_path / "r.npz", x=X, y=reference)
    assert run(["diagnose", str(tmp_path / "m.onnx"), "--data", str(tmp_path / "r.npz")]) == 0
    (said,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("next: ")]
    assert "onnxpad retarget" in said
    assert "onnxpad validate" not in said


def test_nothing_is_allowed_for_that_an_epsilon_explains() -> None:
    """Its difference is small and spread evenly, as lower precision leaves it."""
    found = against(outputs(model(epsilon=0.00101), {"x": X})[0], budget=5)
    assert (found.explained, found.settling_atol) == (False, None)
    assert "save what the framework computes for 'n'" in found.settles


@pytest.mark.parametrize("mode", ["reflect", "edge", "constant"])
@pytest.mark.parametrize("sides", [((16, 16), (16, 16)), ((0, 12), (0, 8))])
def test_padding_outside_of_the_model(mode: str, sides: tuple[tuple[int, int], ...]) -> None:
    body = """a = Conv <pads = [1, 1, 1, 1]> (x, w) b = Relu (a)
    c = Conv <pads = [1, 1, 1, 1]> (b, v) y = Resize <mode = "nearest"> (c, , s)"""
    held, shapes = "float[4] s = {1, 1, 2, 2}", {"w": (2, 1, 3, 3), "v": (1, 2, 3, 3)}
    deep = network(body, "float[1, 1, H, W] x", held, 17, **shapes)
    x = signed(6, 1, 1, 20, 24).astype(np.float32)
    padded: Array = np.pad(x, [(0, 0), (0, 0), *sides], mode=mode)  # type: ignore[call-overload]
    whole = outputs(deep, {"x": padded})[0]
    (top, bottom), (left, right) = (tuple(2 * cells for cells in pair) for pair in sides)
    rows, columns = whole.shape[2:]
    reference = whole[..., top : rows - bottom, left : columns - right]
    found = diagnose(deep, inputs={"x": x}, outputs={"y": reference}, budget=30)
    assert (found.explained, found.cause) == (False, "not padding"), found.reason
    assert "padded in front of the model" in found.reason
