"""What gives a reference besides padding is named: how inputs were prepared, and attributes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, helper, parser

from onnxpad.cli import run
from onnxpad.diagnosis import Cause, Diagnosis, diagnose
from onnxpad.model.graph.modules import module_returning
from onnxpad.show.diagnoses import Around, diagnosis_document
from tests.retargeting.running import Array, outputs, signed

TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 3, 16, 16] x) => (float[1, 4, N, M] y)
<float[4, 3, 3, 3] w = {WEIGHTS}, float[4, 4, 3, 3] v = {MORE},
 float[4] s = {1, 0.8, 1.2, 0.9}, float[4] b = {0.1, 0, 0.2, -0.1},
 float[4] m = {0, 0.1, 0, -0.1}, float[4] d = {0.02, 0.01, 0.03, 0.02}> {
  a = Conv <strides = [2, 2], pads = [PADS]> (x, w)
  n = BatchNormalization <epsilon = EPSILON> (a, s, b, m, d)
  r = LeakyRelu <alpha = ALPHA> (n)
  y = Conv <pads = [1, 1, 1, 1]> (r, v)
}
"""
RIGHT = {"PADS": "1, 1, 1, 1", "EPSILON": "0.001", "ALPHA": "0.1"}
X = np.abs(signed(0, 1, 3, 16, 16)).astype(np.float32)
MEAN, DEVIATION = (
    np.array(one, np.float32).reshape(1, 3, 1, 1)
    for one in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
)


def numbers(seed: int, count: int) -> str:
    return ", ".join(f"{one:.6f}" for one in signed(seed, count) / 3)


def model(**parts: str) -> ModelProto:
    text = TEXT.replace("WEIGHTS", numbers(1, 108)).replace("MORE", numbers(2, 144))
    for word, part in (RIGHT | parts).items():
        text = text.replace(word, part)
    return parser.parse_model(text)


def against(reference: Array, wrong: ModelProto | None = None, budget: float = 60) -> Diagnosis:
    return diagnose(wrong or model(), inputs={"x": X}, outputs={"y": reference}, budget=budget)


PREPARED: dict[str, tuple[Callable[[Array], Array], str]] = {
    "colours": (lambda x: x[:, ::-1].copy(), "'x' has its channels in reverse order (RGB and BGR)"),
    "ImageNet": (lambda x: (x - MEAN) / DEVIATION, "has the mean of ImageNet taken off"),
    "255": (lambda x: x * np.float32(255), "'x' is multiplied by 255"),
    "both": (
        lambda x: ((x[:, ::-1] - MEAN) / DEVIATION).astype(np.float32),
        "in reverse order (RGB and BGR) and has the mean of ImageNet taken off",
    ),
    "rows and columns": (lambda x: x.swapaxes(2, 3).copy(), "'x' has rows and columns swapped"),
}


@pytest.mark.part(2)
@pytest.mark.parametrize(("prepare", "said"), PREPARED.values(), ids=PREPARED)
def test_inputs_that_were_prepared_otherwise(prepare: Callable[[Array], Array], said: str) -> None:
    found = against(outputs(model(), {"x": prepare(X)})[0])
    assert (found.explained, found.cause) == (False, Cause.NOT_PADDING)
    assert found.reason.startswith("no node pads wrong: the model gives the reference")
    assert said in found.reason
    assert (found.settles, found.settling_atol, found.warnings) == ("", None, ())


def test_padding_and_inputs_prepared_otherwise_are_found_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong, turned = model(PADS="0, 0, 1, 1"), X[:, ::-1].copy()
    reference = outputs(model(), {"x": turned})[0]
    found = against(reference, wrong)
    assert (found.explained, found.cause) == (True, Cause.PADDING), found.reason
    assert found.preparation == "'x' has its channels in reverse order (RGB and BGR)"
    assert [entry.settings["pads"] for entry in found.plan.entries] == [[1, 1, 1, 1]]
    assert diagnosis_document(found, "m.onnx").state == "wrong"
    (tmp_path / "m.onnx").write_bytes(wrong.SerializeToString())
    np.savez(tmp_path / "r.npz", x=X, y=reference)
    assert run(["diagnose", str(tmp_path / "m.onnx"), "--data", str(tmp_path / "r.npz")]) == 0
    (said,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("next: ")]
    assert "onnxpad retarget" in said
    assert "onnxpad validate" not in said


ATTRIBUTES = {
    "an epsilon": ({"EPSILON": "0.00001"}, "with epsilon 0.001 in every BatchNormalization"),
    "a slope": ({"ALPHA": "0.3"}, "with alpha 0.1 in every LeakyRelu"),
}


@pytest.mark.parametrize(("wrong", "said"), ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_attributes_that_are_otherwise(wrong: dict[str, str], said: str) -> None:
    found = against(outputs(model(), {"x": X})[0], model(**wrong))
    assert (found.explained, found.cause) == (False, Cause.NOT_PADDING)
    assert said in found.reason


def test_padding_is_found_before_it_is_looked_for_elsewhere() -> None:
    found = against(outputs(model(), {"x": X})[0], model(PADS="0, 0, 1, 1"))
    assert (found.explained, found.cause) == (True, Cause.PADDING)
    assert len(found.plan.entries) == 1


@pytest.mark.sweep
def test_what_merely_comes_nearer_is_no_cause() -> None:
    """Another epsilon and other weights: with the right epsilon it is nearer, and not right."""
    reference = outputs(model(), {"x": X})[0]
    found = against(reference * np.float32(1.01), model(EPSILON="0.00001"), budget=3)
    assert not found.explained
    assert "with epsilon 0.001" not in found.reason


@pytest.mark.sweep
def test_nothing_is_allowed_for_that_an_epsilon_explains() -> None:
    """Its difference is small and spread evenly, as lower precision leaves it."""
    reference = outputs(model(EPSILON="0.00101"), {"x": X})[0]
    found = against(reference, budget=5)
    assert (found.explained, found.settling_atol) == (False, None)
    assert "--atol" not in str(
        diagnosis_document(found, around=Around(again="onnxpad diagnose m.onnx"))
    )
    assert "save what the framework computes for 'a'" in found.settles


def test_the_module_of_pytorch_that_returns_a_tensor_is_named() -> None:
    noted = model()
    scopes = {"pkg.torch.onnx.name_scopes": "['', 'stem', 'stem.conv', 'conv2d']"}
    classes = ["torch.nn.Net", "torch.nn.modules.container.Sequential"]
    scopes["pkg.torch.onnx.class_hierarchy"] = str([*classes, "torch.nn.modules.conv.Conv2d", "x"])
    for key, value in scopes.items():
        noted.graph.node[0].metadata_props.add(key=key, value=value)
    assert module_returning(noted.graph.node, 0) == "stem.conv"
    assert module_returning(noted.graph.node, 3) == ""
    reference = outputs(model(EPSILON="0.00101"), {"x": X})[0]
    found = diagnose(noted, inputs={"x": X}, outputs={"y": reference}, budget=5)
    assert "'a' (Conv 'a', in PyTorch what module 'stem.conv' returns)" in found.settles


@pytest.mark.parametrize(
    "noted", ["", "['a'", "['a', 'b']", "[['a'], 'b', 'c']", "[" + "'a', " * 2000 + "'b']"]
)
def test_notes_that_are_no_scopes_name_no_module(noted: str) -> None:
    network = model()
    for key in ("pkg.torch.onnx.name_scopes", "pkg.torch.onnx.class_hierarchy"):
        network.graph.node[0].metadata_props.add(key=key, value=noted)
    assert module_returning(network.graph.node, 0) == ""


def test_one_node_that_is_left_is_named_with_nothing_more_to_save() -> None:
    """With the tensors around it known, the reference has nothing to add."""
    wrong, right = model(), model(ALPHA="0.15")
    for one in (wrong, right):
        one.graph.output.extend(helper.make_tensor_value_info(name, 1, None) for name in "nr")
    made = dict(zip("ynr", outputs(right, {"x": X}), strict=True))
    found = diagnose(wrong, inputs={"x": X}, outputs=made)
    assert (found.explained, found.cause) == (False, Cause.NOT_PADDING)
    assert "compare the weights and attributes of LeakyRelu 'r' with the framework's" in (
        found.settles
    )
    assert "then type" not in str(
        diagnosis_document(found, around=Around(again="onnxpad diagnose m.onnx"))
    )
