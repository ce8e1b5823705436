"""A report in an interactive session: a few lines, whatever it holds."""

from pathlib import Path

import pytest

import onnxpad

MODELS = Path(__file__).resolve().parents[2] / "models"
MODEL = MODELS / "k_unet_dyn_op13.onnx"


@pytest.mark.parametrize(
    "report",
    [
        lambda: onnxpad.inspect(MODEL, target=["opencv", "tvm"]),
        lambda: onnxpad.rewrite(MODEL),
        lambda: onnxpad.retarget(MODEL, to="pytorch"),
        lambda: onnxpad.resolve(
            "keras", "Conv2D", input_shape=(1, 3, 8, 8), kernel_size=3, padding="same"
        ),
        lambda: onnxpad.explain("ncnn"),
    ],
    ids=["inspect", "rewrite", "retarget", "resolve", "explain"],
)
def test_reports_say_briefly_what_they_hold(report: object) -> None:
    assert callable(report)
    found = repr(report())
    assert 20 < len(found) < 1000
    assert "\n" not in found


def test_single_items_say_in_a_line_what_they_are() -> None:
    done = onnxpad.rewrite(MODEL)
    (change, *_), (skip, *_) = done.changes, done.skips
    assert isinstance(change, onnxpad.Change)
    assert isinstance(skip, onnxpad.Refusal)
    assert str(change).startswith("explicit-pads: Conv 'Conv__")
    assert str(skip).startswith("skip: explicit-pads, Conv 'Conv__8990': SAME_UPPER with kernel")
    assert "--dim 'unk__9106%2=0', or " in str(skip.skip)
    (verdict, *_) = onnxpad.inspect(MODEL, target="opencv").targets["opencv"]
    assert isinstance(verdict, onnxpad.NodeVerdict)
    assert str(verdict) == "takes: Conv 'Conv__8978'"
    found = onnxpad.validate(MODEL, MODEL, proof_only=True)
    assert str(found).startswith("proved: both are the same function")
    for one in (change, skip, verdict, found):
        assert len(repr(one)) < 600
    report = done.to_json()
    assert change.to_json() == report["changes"][0]
    assert skip.to_json() == report["skips"][0]


def test_strict_raises_what_would_be_skipped() -> None:
    with pytest.raises(onnxpad.ModelError, match="strict allows no skips, and there are 2: skip:"):
        onnxpad.rewrite(MODEL, strict=True)
    sizes = {"unk__9105": "%4=0", "unk__9106": "%4=0"}
    assert not onnxpad.rewrite(MODEL, strict=True, dims=sizes).skips
    with pytest.raises(onnxpad.ModelError, match=r"opencv does not take 2 of .*try --dim 'unk__"):
        onnxpad.rewrite(MODEL, strict=True, target="opencv")


def test_what_no_command_prints_is_an_error() -> None:
    with pytest.raises(onnxpad.RequestError, match="no command prints a Porting"):
        onnxpad.port(MODEL).to_text()
