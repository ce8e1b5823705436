"""What the target does not take is written by nobody who has not said so."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from onnxpad import ModelError, rewrite
from onnxpad.cli import run
from tests.models.text import text_model


def strided() -> onnx.ModelProto:
    ones = ",".join("1" * 9)
    return text_model(
        'y = Conv <auto_pad = "SAME_UPPER", strides = [2,2]> (x, w)',
        "float[batch,1,height,8] x",
        outputs="float[batch,1,a,b] y",
        constants=f"float[1,1,3,3] w = {{{ones}}}",
        opset=17,
    )


def test_unfit_models_are_not_saved(tmp_path: Path) -> None:
    out = tmp_path / "o.onnx"
    done = rewrite(strided(), target="opencv")
    (unfit,) = done.unfit
    with pytest.raises(ModelError, match="opencv does not take 1 of the nodes") as caught:
        done.save(out)
    assert not out.exists()
    assert "Conv 'y'" in str(caught.value)
    assert str(unfit).endswith("; try --dim 'height%2=0'")
    assert str(unfit) in str(caught.value)
    done.save(out, although_unfit=True)
    assert out.exists()


def test_with_what_was_to_be_tried_it_is_saved(tmp_path: Path) -> None:
    done = rewrite(strided(), target="opencv", dims={"height": "%2=0"})
    assert not done.unfit
    done.save(tmp_path / "o.onnx")


def test_a_node_says_what_the_command_line_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(strided(), path)
    assert run(["rewrite", str(path), "--target", "opencv", "-o", str(tmp_path / "o.onnx")]) == 1
    said = "".join(capsys.readouterr())
    (unfit,) = rewrite(path, target="opencv").unfit
    assert str(unfit).rpartition("try ")[2] in said
