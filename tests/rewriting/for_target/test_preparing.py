"""What is done to the model as a whole, and when."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from onnxpad import inspect, rewrite
from onnxpad.cli import run
from onnxpad.rewriting.for_target.report import PassPlan
from tests.models.text import text_model

PADS = "int64[8] p = {0,0,1,1,0,0,1,1}"


def opset_of(model: onnx.ModelProto) -> int:
    return next(int(one.version) for one in model.opset_import if not one.domain)


def test_the_opset_stays_where_a_node_keeps_it() -> None:
    model = text_model(
        "a = Pad (x, p) y = Gelu (a)",
        "float[1,1,4,4] x",
        outputs="float[1,1,6,6] y",
        constants=PADS,
        opset=20,
    )
    done = rewrite(model, target="onnx2torch")
    assert isinstance(done.model, onnx.ModelProto)
    assert done.fitting is not None
    (told,) = done.fitting.prepared
    assert told.startswith("the model stays of opset 20: Gelu 'y' has no such operator in opset")
    assert opset_of(done.model) == 20


def test_inspect_looks_as_long_as_rewrite_behind_another_opset() -> None:
    model = text_model(
        "y = AveragePool <kernel_shape = [3,3], strides = [2,2], pads = [1,0,1,1], ceil_mode = 1, "
        "count_include_pad = 1> (x)",
        "float[1,3,14,17] x",
        outputs="float[1,3,a,b] y",
        opset=21,
    )
    done = rewrite(model, target="portable")
    (verdict,) = inspect(model, target="portable").targets["portable"]
    assert done.unfit == ()
    assert isinstance(verdict.way, PassPlan)
    assert verdict.way.whole == ("opset 18 instead of 21",)


def test_a_pad_that_onnxruntime_would_fuse_then_is_marked() -> None:
    model = text_model(
        "a = Pad (x, q, , s) b = Pad (a, p) "
        "y = AveragePool <ceil_mode = 1, count_include_pad = 1, kernel_shape = [2,3]> (b)",
        "float[1,1,6,6] x",
        outputs="float[1,1,c,d] y",
        constants="int64[4] q = {2,2,2,1}, int64[2] s = {3,2}, int64[8] p = {0,0,0,2,0,0,0,2}",
        opset=18,
    )
    done = rewrite(model, target="ncnn")
    assert done.fitting is not None
    ways = [one.way for one in done.fitting.plans if isinstance(one.way, PassPlan)]
    assert {one.passes for one in ways if one.alone} == {("all-axes",)}


def test_inspect_says_what_is_done_to_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = text_model(
        "y = Pad (x, p)", "float[1,1,4,4] x", outputs="float[a,b,c,d] y", constants=PADS, opset=20
    )
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    run(["inspect", str(path), "--target", "onnx2torch"])
    told = capsys.readouterr().out
    assert "  opset 17 instead of 20\n" in told
    assert f"next: onnxpad rewrite {path} --target onnx2torch -o OUT" in told


def test_why_there_is_no_way_is_said_of_the_opset_that_a_rewrite_gives_the_model() -> None:
    model = text_model(
        'y = Pad <mode = "edge"> (x, p)',
        "float[1,1,4,4] x",
        outputs="float[a,b,c,d] y",
        constants=PADS,
        opset=20,
    )
    found = inspect(model, target="portable")
    assert list(found.openings["portable"].left.values()) == ["its mode is reflect or edge or wrap"]


def test_inspect_takes_the_sizes_that_a_rewrite_writes() -> None:
    model = text_model(
        "y = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (x)",
        "float[1,1,h,w] x",
        outputs="float[a,b,c,d] y",
    )
    (found,) = inspect(model, target="qnn", dims={"h": 8, "w": 8}).targets["qnn"]
    assert isinstance(found.way, PassPlan)
    assert found.way.steps == "inputs of h=8, w=8, split-pads"
