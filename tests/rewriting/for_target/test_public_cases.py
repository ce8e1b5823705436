"""Models from public threads, each for the runtime that its thread is about, by target alone."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

import onnxpad
from onnxpad.errors import ModelError
from tests.runtimes.targets import probes

FOLDER = (probes.folder() or Path("missing")).parent / "public_cases"
MENDED = [
    *(("reflect_beyond", one) for one in ("openvino", "opencv-classic", "tinygrad", "iree")),
    *(("ort16401", one) for one in ("openvino", "ncnn", "mnn", "tract", "tflite")),
    *(("o2t251", "tflite"), ("jax2onnx202", "onnx2keras")),
    *(("maxpool_opset6", one) for one in ("portable", "iree", "onnx2torch")),
    *(("ct_output_shape", "opencv"), ("pad_value_vector", "onnx2torch"), ("ort14208", "portable")),
]
"""What is written for the target, or already fits it, with a proof."""
WIDE = ("reflect_beyond", "ort16401")
REFUSED = [
    ("len_ct_os4", "output_shape"),
    ("len_pad_2d", "pads"),
    ("len_pad_int32", "pads"),
    ("len_pad_f16value", "constant_value"),
]
"""What onnxruntime does not open, and the word that says why."""
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="../shared/public_cases is not there")


@pytest.mark.parametrize(("name", "target"), MENDED)
def test_it_is_written_and_proved(name: str, target: str) -> None:
    model = onnx.load(FOLDER / f"{name}.onnx")
    done = onnxpad.rewrite(model, target=target)
    assert not done.unfit
    if done.changed:
        verdict = onnxpad.validate(model, done.model, proof_only=True).verdict
        # Of a mirror longer than the axis the text says nothing that could be proved.
        assert verdict == ("unverified" if name in WIDE else "proved")


@pytest.mark.parametrize("name", ["tidl78", "root21873"])
def test_even_kernels_become_odd(name: str) -> None:
    model = onnx.load(FOLDER / f"{name}.onnx")
    done = onnxpad.rewrite(model, passes="odd-kernels")
    assert done.changed
    assert onnxpad.validate(model, done.model, proof_only=True).verdict == "proved"


@pytest.mark.parametrize(("name", "word"), REFUSED)
def test_what_onnxruntime_does_not_open_is_refused_with_the_reason(name: str, word: str) -> None:
    found = onnxpad.inspect(FOLDER / f"{name}.onnx", target="onnxruntime")
    (verdict,) = found.targets["onnxruntime"]
    assert verdict.judgement.answer == "refuses"
    assert word in verdict.judgement.reason


def test_a_kernel_shape_of_another_length_is_named() -> None:
    with pytest.raises(ModelError, match=r"kernel_shape is \[3\], and 2 numbers belong there"):
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
