"""What the target does not take is written by nobody who has not said so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import onnx
import pytest

from onnxpad import ModelError, RequestError, each, inspect, retarget, rewrite
from tests.models.text import text_model

MODELS = Path(__file__).parents[3] / "models"
NINE_TAPS = text_model(
    "a = Conv <pads = [1, 1, 1, 1]> (x, v) y = Conv (a, w)",
    "float[1,1,12,4] x",
    outputs="float[a,b,c,d] y",
    constants="float[1,1,1,1] v = {2}, float[1,1,9,1] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}",
)
"""OpenCV computes both wrongly, and of the second there is no other form."""


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


def test_what_is_refused_and_what_has_a_way_are_what_inspect_counts(tmp_path: Path) -> None:
    onnx.save(NINE_TAPS, tmp_path / "m.onnx")
    failing = inspect(NINE_TAPS, target="opencv").targets["opencv"]
    assert sum(one.judgement.answer.fails for one in failing) == 2
    (record,) = each("rewrite", tmp_path / "m.onnx", target="opencv").records
    said = record["refused"]
    assert said == "no way was found for 1 of its nodes on opencv"


def test_a_node_that_a_pass_writes_is_not_counted_as_the_users() -> None:
    done = rewrite(NINE_TAPS, target="opencv")
    (own,) = done.unfit
    written = next(filter(None, (getattr(edit, "address", None) for edit in done.script)))
    assert done.fitting is not None
    more = replace(own, node=written)
    both = replace(done, fitting=done.fitting._replace(no_way=(more, own)))
    assert (both.unfit, both.stuck) == ((more, own), (own,))


@pytest.mark.parametrize("alias", ["itself", "relative", "link", "hard link"])
def test_the_input_is_overwritten_in_place_alone(
    alias: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path, other = tmp_path / "m.onnx", tmp_path / "o.onnx"
    onnx.save(strided(), path)
    names = {"itself": path, "relative": Path("m.onnx")}
    before, same = path.read_bytes(), names.get(alias, other)
    if alias == "link":
        other.symlink_to(path)
    elif alias == "hard link":
        other.hardlink_to(path)
    for done in (rewrite(path), rewrite(path, passes="split-pads"), retarget(path, to="keras")):
        with pytest.raises(RequestError, match=r"is the input, .*in_place=True"):
            done.save(same)
        assert path.read_bytes() == before
    rewrite(path, dims={"height": "%2=0"}).save(same, in_place=True)
    assert same.read_bytes() != before


def test_what_came_from_no_file_is_saved_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(strided(), path)
    for model in (path.read_bytes(), onnx.load(path)):
        rewrite(model).save(path)
