from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto

import onnxpad
from onnxpad import ModelError, RequestError
from tests.validation.builders import W1, model, node, two_convs
from tests.validation.runs import validate

PADS = [1, 1, 1, 1]
ONE = two_convs(pads=PADS)
X = np.random.default_rng(0).standard_normal((1, 3, 9, 8)).astype(np.float32)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"inputs": {"images": X}}, "no input 'images': there is 'x'"),
        ({"inputs": {}}, "lack 'x'"),
        ({"inputs": {"x": X[0]}}, "rank 3"),
        ({"inputs": {"x": X.astype(np.int32)}}, "takes float32"),
        ({"inputs": {"x": X[:, :2]}}, "the model takes 3 at axis 1"),
        ({"dims": {"Q": 3}}, "no dimension is called 'Q'"),
        ({"samples": 0}, "samples is 0"),
        ({"seed": -1}, "seed is -1: give 0 or more"),
        ({"outputs": {"y": X}}, "not both"),
    ],
)
def test_requests_that_do_not_fit(options: dict[str, object], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        validate(ONE, ONE, device="cpu", **options)  # type: ignore[arg-type]


def test_models_with_other_inputs() -> None:
    half = model([node("Relu", ["x"], ["y"])], {}, dtype=TensorProto.FLOAT16)
    with pytest.raises(RequestError, match="float32 in the first model and float16"):
        validate(ONE, half, device="cpu")
    fixed = model([node("Relu", ["x"], ["y"])], {}, shape=[2, 3, 9, 9])
    with pytest.raises(RequestError, match=r"\[1, 3, H, W\] in the first model and \[2, 3, 9, 9\]"):
        validate(ONE, fixed, device="cpu")


def test_a_size_that_one_model_fixes_holds_for_both() -> None:
    conv = [node("Conv", ["x", "W"], ["y"], name="c", pads=PADS)]
    fixed = model(conv, {"W": W1}, shape=[1, 3, 20, "W"])
    report = validate(model(conv, {"W": W1}), fixed, device="cpu", dims={"W": "%8==4"})
    assert report.ok
    assert {shapes["x"][2] for shapes in report.input_shapes} == {20}
    assert all(shapes["x"][3] % 8 == 4 for shapes in report.input_shapes)


def test_given_inputs_are_used_and_samples_may_differ_in_size() -> None:
    report = validate(ONE, ONE, device="cpu", inputs={"x": [X, X[:, :, :7].astype(np.float64)]})
    assert [shapes["x"] for shapes in report.input_shapes] == [(1, 3, 9, 8), (1, 3, 7, 8)]
    assert report.seed is None


def test_files_and_external_data(tmp_path: Path) -> None:
    big = two_convs(pads=PADS)
    path = tmp_path / "external.onnx"
    onnx.save(big, path, save_as_external_data=True, size_threshold=0, location="weights.bin")
    in_memory = onnx.load(path, load_external_data=False)
    for after in (two_convs(auto_pad="SAME_UPPER"), in_memory):
        report = validate(str(path), after, device="cpu")
        assert report.verdict == "identical"
        assert report.judge == "onnxruntime"
        assert report.warnings == ()
    different = validate(path, two_convs(pads=[0, 0, 2, 2]), device="cpu")
    assert different.first_difference is not None
    assert different.first_difference.node == "Conv 'c1'"


def test_a_model_in_memory_whose_weights_lie_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "external.onnx"
    onnx.save(ONE, path, save_as_external_data=True, size_threshold=0, location="weights.bin")
    lost, outputs = onnx.load(path, load_external_data=False), {"y": X}
    advice = (
        r"'weights.bin', which is no file in '.*'.*; give the path of the model's file, or load it"
    )
    for run in (
        lambda: validate(lost, path, device="cpu"),
        lambda: validate(lost, lost, device="cpu", run_only=True),
        lambda: validate(lost, inputs={"x": X}, outputs=outputs, device="cpu"),
        lambda: onnxpad.inspect(lost, device="cpu"),
        lambda: onnxpad.diagnose(lost, inputs={"x": X}, outputs=outputs, device="cpu"),
    ):
        with pytest.raises(ModelError, match=advice):
            run()
    assert validate(onnx.load(path, load_external_data=True), path, device="cpu").ok
    assert onnxpad.validate(lost, path, proof_only=True).verdict == "unverified"
