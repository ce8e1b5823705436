"""A report in an interactive session: a few lines, whatever it holds."""

from pathlib import Path

import pytest

import onnxpad
from onnxpad.cli import run
from onnxpad.rewriting.steps.run_time_pads import RUN_TIME

MODELS = Path(__file__).resolve().parents[2] / "models"
MODEL = MODELS / "k_unet_dyn_op13.onnx"


@pytest.mark.parametrize(
    "report",
    [
        lambda: onnxpad.inspect(MODEL, target=["opencv", "ncnn"]),
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
    assert str(skip.skip).endswith(f"--dim 'unk__9106%2=0', or {RUN_TIME}")
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
    with pytest.raises(onnxpad.ModelError, match=r"opencv does not take 2 of .*try dims=\{'unk__"):
        onnxpad.rewrite(MODEL, strict=True, target="opencv")


def test_a_report_names_what_it_counts() -> None:
    found = repr(onnxpad.inspect(MODEL))
    assert found.startswith("Inspection(model=ModelFacts(producer='tf2onnx 1.17.0', opset=13")
    assert "nodes=<12>" in found
    assert "targets" not in found


@pytest.mark.parametrize(
    ("said", "in_python"),
    [
        ("try --dim 'H%4=0' --dim 'W=640'", "try dims={'H': '%4=0', 'W': 640}"),
        (
            "try --dim 'x[0]=1', or --pass split-pads",
            "try dims={'x[0]': 1}, or passes='split-pads'",
        ),
        ("--pass absorb-pad --pass plain-pad", "passes=['absorb-pad', 'plain-pad']"),
        ("; --timeout 0.5 gives it more", "; timeout=0.5 gives it more"),
        ("--memory 20G, --allow-unknown", "memory='20G', allow_unknown=True"),
        ("--source NAME, or --plan FILE", "source=NAME, or plan=FILE"),
        ("give another -o, or --in-place", "give another output, or in_place=True"),
        (
            "--prefer and --exclude: only together with --target T",
            "prefer and exclude: only together with target=T",
        ),
        ("with --dim NAME=NUMBER, or --dim N=1", "with dims={'NAME': 'NUMBER'}, or dims={'N': 1}"),
        ("--ambiguous auto_pad or --ambiguous pads", "ambiguous='auto_pad' or ambiguous='pads'"),
        ("4 million; --dim states sizes", "4 million; dims states sizes"),
        ("--proof-only, or your own with --inputs", "proof_only=True, or your own with inputs"),
        (
            "try onnxpad inspect M --target ncnn -o O; or --node",
            "try onnxpad inspect M --target ncnn -o O; or nodes",
        ),
        ("trtexec --fp16 --inputs-of-its-own", "trtexec --fp16 --inputs-of-its-own"),
        ("--dim 'H' stays, and a -- b", "--dim 'H' stays, and a -- b"),
    ],
)
def test_errors_have_arguments_of_python_and_the_command_line_its_options(
    said: str, in_python: str
) -> None:
    error = onnxpad.ModelError(said)
    assert str(error) == in_python
    assert error.told == said


def test_wishes_without_a_target_are_refused_in_python() -> None:
    with pytest.raises(onnxpad.RequestError) as caught:
        onnxpad.rewrite(MODEL, exclude="split-pads", allow_unknown=True)
    said = "exclude and allow_unknown=True: only together with target=T"
    assert str(caught.value) == said


def test_the_command_line_goes_on_to_show_options(capsys: pytest.CaptureFixture[str]) -> None:
    (skip, *_) = onnxpad.rewrite(MODEL).skips
    assert "try dims={'unk__9105': 640, 'unk__9106': 640}" in str(skip)
    assert run(["rewrite", str(MODEL), "--check"]) == 1
    assert run(["inspect", str(MODEL), "--dim", "unk_9105=3"]) == 2
    printed = capsys.readouterr()
    assert "try     --dim 'unk__9105=640'" in printed.out
    assert "dims=" not in printed.out + printed.err


def test_targets_are_found_by_the_name_that_was_asked_for() -> None:
    found = onnxpad.inspect(MODEL, target=["opencv@4.10", "TensorRT"]).targets
    assert list(found) == ["opencv-classic@4.10", "tensorrt"]
    assert found["opencv@4.10"] is found["opencv-classic@4.10"]
    assert found["trt"] is found["tensorrt"]
    for name in ("ncnn", "no-such-target"):
        with pytest.raises(KeyError, match=name):
            found[name]
