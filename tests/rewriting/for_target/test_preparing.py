"""What is done to the model as a whole, and when."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from onnxpad import inspect, rewrite
from tests.command import run
from tests.models.text import text_model

PADS = "int64[8] p = {0,0,1,1,0,0,1,1}"


def opset_of(model: onnx.ModelProto) -> int:
    return next(int(one.version) for one in model.opset_import if not one.domain)


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
    assert verdict.to_json()["rewrite"]["whole"] == ["opset 18 instead of 21"]


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
    way = found.to_json()["rewrite"]
    assert (way["whole"], way["passes"]) == (["inputs of h=8, w=8"], ["split-pads"])
