"""Models from public threads: each ends as it should, in a row or a test of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnxpad
from onnxpad import ModelError
from tests.runtimes.targets import probes

FOLDER = (probes.folder() or Path("missing")).parent / "public_cases"
BY_TARGET = [
    *(("reflect_beyond", one) for one in ("openvino", "opencv-classic", "tinygrad", "iree")),
    *(("ort16401", one) for one in ("openvino", "ncnn", "mnn", "tract", "tflite")),
    *(("o2t251", "tflite"), ("jax2onnx202", "onnx2keras"), ("ct_no_kernel_shape", "tflite")),
    *(("maxpool_opset6", one) for one in ("portable", "iree", "onnx2torch")),
    *(("ct_output_shape", "opencv"), ("pad_value_vector", "onnx2torch"), ("ort14208", "portable")),
    *(("ort14208", "onnxruntime"), ("conv_op22", "onnxruntime@1.17"), ("conv_neg", "openvino")),
    *((name, one) for name in ("ort28356", "ort28356b") for one in ("webgpu", "webgpu-jsep")),
    *((name, "iree") for name in ("declared_mid", "dcl_ceilpool_11", "dcl_ceilpool_22")),
    *(("onnx7721", "iree"), ("ort11525_qdq", "onnxruntime")),
    *((name, "onnxruntime") for name in ("len_ct_os4", "len_pad_2d", "len_pad_int32")),
    ("len_pad_f16value", "onnxruntime"),
    *(("root21873", "sofie"), ("ct_output_shape", "tract"), ("pad_value_vector", "tract")),
    *(("o2t444", "tflite-int8"), ("espnn31", "tflite-int8"), ("jax2onnx202", "hls4ml")),
    *(("o2t251", "esp-ppq"), ("ct_output_shape", "esp-ppq")),
]
"""What is written for the target, or already fits it."""
WITHOUT_RESULT = ("reflect", "ort16401", "conv_neg", "len_ct", "len_pad_i", "len_pad_f")
"""Models of which the text says nothing that could be proved."""
BY_PASSES = [
    ("tidl78", "odd-kernels"),
    ("root21873", "odd-kernels"),
    ("stb436", "plain-batches absorb-pad"),
    ("onnx7721", "declared-shapes"),
    ("ort14422_qdq", "quantised-pad"),
    ("ort14422_qdq", "quantised-pad absorb-pad"),
    ("o2t444", "border-pads split-pads"),
    ("espnn31", "border-pads split-pads"),
    ("jax2onnx202", "written-defaults"),
    ("ct_output_shape", "plain-transpose"),
    ("pad_value_vector", "plain-value"),
    ("pad_wrap19", "plain-pad"),
]
NAMED = [
    ("vision7541_ts", "joined", "", "wrap, joined"),
    ("icefall661", "context", "", "context the value of 'cache'"),
    ("stb436", "in-batches", "--pass plain-batches", "k3 d2"),
    ("onnx7721", "pads", "--pass declared-shapes", "trap: declared-shape"),
    ("ort14422_qdq", "pads", "--pass quantised-pad", "pad-of-floats"),
    ("conv_neg", "negative", "", "trap: negative-pads"),
    ("burn405_ts", "dynamic", "--pass static-pads --dim 'L=640'", "Pad '/Pad' and 1 more"),
]
"""A form that inspect names, the command that it prints, and words of its report."""
REFUSED = [
    ("len_ct_os4", "output_shape"),
    ("len_pad_2d", "pads"),
    ("len_pad_int32", "pads"),
    ("len_pad_f16value", "constant_value"),
]
"""What onnxruntime does not open, and the word that says why."""
DIAGNOSED = [
    ("alone_pad_edge", "alone_pad_reflect", "reflect"),
    ("alone_pad_reflect", "alone_pad_edge", "edge"),
    ("chainner3106", "chainner3106_reflect", "reflect"),
    ("vision7541_ts", "vision7541_zero", "constant"),
]
"""The model, the reference, and the mode in which it pads."""
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="../shared/public_cases is not there")


def is_sound(model: onnx.ModelProto) -> bool:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def check(name: str, done: onnxpad.Rewriting) -> None:
    model = onnx.load(FOLDER / f"{name}.onnx")
    assert is_sound(done.model) or not is_sound(model)
    if done.changed:
        verdict = onnxpad.validate(model, done.model, proof_only=True).verdict
        assert verdict == ("unverified" if name.startswith(WITHOUT_RESULT) else "proved")


@pytest.mark.parametrize(("name", "target"), BY_TARGET)
def test_it_is_written_for_the_target(name: str, target: str) -> None:
    done = onnxpad.rewrite(onnx.load(FOLDER / f"{name}.onnx"), target=target)
    assert not done.unfit
    check(name, done)


def test_an_even_kernel_becomes_odd_for_an_accelerator() -> None:
    model = onnx.load(FOLDER / "tidl78.onnx")
    done = onnxpad.rewrite(model, target="tidl", require_device=True)
    assert [change.rule for change in done.changes] == ["odd-kernels"]
    check("tidl78", done)


@pytest.mark.parametrize("name", ["trt2045", "trt2487_swin"])
def test_an_old_release_refuses_computed_pads(name: str) -> None:
    found = onnxpad.inspect(FOLDER / f"{name}.onnx", target="tensorrt@8.6")
    assert "refuses" in {str(one.judgement.answer) for one in found.targets["tensorrt@8.6"]}
    dims = dict.fromkeys(("H", "W"), f"%{28 if 'swin' in name else 7}==0")
    done = onnxpad.rewrite(FOLDER / f"{name}.onnx", target="tensorrt@8.6", dims=dims)
    assert done.changed
    assert not done.unfit


@pytest.mark.parametrize(("name", "passes"), BY_PASSES)
def test_passes_mend_it(name: str, passes: str) -> None:
    done = onnxpad.rewrite(onnx.load(FOLDER / f"{name}.onnx"), passes=passes.split())
    assert done.changed
    assert not done.skips
    check(name, done)


@pytest.mark.parametrize(("name", "form", "command", "words"), NAMED)
def test_inspect_names_it(name: str, form: str, command: str, words: str) -> None:
    found = onnxpad.inspect(FOLDER / f"{name}.onnx")
    assert any(form in node.forms for node in found.nodes)
    text = found.to_text()
    assert command in text
    assert words in text


@pytest.mark.parametrize(("name", "word"), REFUSED)
def test_what_onnxruntime_does_not_open_is_refused_with_the_reason(name: str, word: str) -> None:
    found = onnxpad.inspect(FOLDER / f"{name}.onnx", target="onnxruntime")
    (verdict,) = found.targets["onnxruntime"]
    assert verdict.judgement.answer == "refuses"
    assert word in verdict.judgement.reason


def test_a_kernel_shape_of_another_length_is_named() -> None:
    with pytest.raises(ModelError, match=r"kernel_shape is \[3\], 2 numbers expected"):
        onnxpad.inspect(FOLDER / "len_conv_k1.onnx", target="onnxruntime")


@pytest.mark.parametrize(("name", "divisor"), [("trt2487_swin", 28), ("trt2045", 7)])
def test_the_divisor_is_read_from_the_arithmetic_of_the_model(name: str, divisor: int) -> None:
    found = onnxpad.inspect(FOLDER / f"{name}.onnx")
    told = f"--dim 'H%{divisor}=0' --dim 'W%{divisor}=0'"
    assert any(told in hint for node in found.nodes for hint in node.hints)
    dims = dict.fromkeys(("H", "W"), f"%{divisor}==0")
    done = onnxpad.rewrite(FOLDER / f"{name}.onnx", passes="static-pads", dims=dims)
    assert done.changed
    assert not done.skips


def given(reference: str) -> dict[str, Any]:
    with np.load(FOLDER / f"{reference}.npz") as held:
        return {"inputs": {"x": held["x"]}, "outputs": {"y": held["y"]}}


@pytest.mark.parametrize(("name", "reference", "mode"), DIAGNOSED)
def test_every_pad_is_tried_by_mode(name: str, reference: str, mode: str) -> None:
    found = onnxpad.diagnose(FOLDER / f"{name}.onnx", **given(reference))
    assert found.explained
    assert f"'mode': '{mode}'" in str(found.plan.to_json())
    done = onnxpad.retarget(FOLDER / f"{name}.onnx", plan=found.plan)
    assert onnxpad.validate(done.model, **given(reference)).ok


def test_a_pad_in_front_of_a_mean_is_right_as_it_is() -> None:
    found = onnxpad.diagnose(FOLDER / "alone_mean_edge.onnx", **given("alone_mean_edge"))
    assert found.hypothesis == "as it is"


def test_padding_outside_of_the_model_is_named() -> None:
    found = onnxpad.diagnose(FOLDER / "chainner3106.onnx", **given("chainner3106_tile"))
    assert "'x' padded in front of the model" in found.reason
    assert "mode reflect, and its outputs cropped" in found.reason


def test_lone_concats_have_one_answer() -> None:
    model = onnx.load(FOLDER / "pad_wrap19.onnx")
    done = onnxpad.rewrite(model, passes="plain-pad")
    for asked in (
        onnxpad.rewrite(model, passes="plain-pad", target="portable"),
        onnxpad.rewrite(done.model, target="portable"),
    ):
        assert "no convolution or pool in front" in asked.unfit[0].judgement.reason
    back = onnxpad.rewrite(done.model, passes="joined-pads").model
    assert [node.op_type for node in back.graph.node] == ["Pad"]


def test_counts_are_of_nodes() -> None:
    found = onnxpad.inspect(FOLDER / "conv_op22.onnx", target="onnxruntime@1.17")
    assert "refuses 1 of 1 node" in found.to_text()


def test_a_hint_does_something() -> None:
    x = np.ones((1, 1, 9, 9), np.float32)
    y = np.ones((1, 3, 6, 6), np.float32)
    found = onnxpad.validate(FOLDER / "ort14208.onnx", inputs={"x": x}, outputs={"y": y})
    assert "onnxpad rewrite --target onnxruntime" in found.to_text()
    written = onnxpad.rewrite(FOLDER / "ort14208.onnx", target="onnxruntime")
    assert written.changed


def test_every_file_has_a_row() -> None:
    rows = Path(__file__).read_text("utf-8")
    files = {path.stem for path in FOLDER.glob("*.*") if path.stem != "README"}
    assert not {name for name in files if name not in rows}
