"""One model for several runtimes: all of them take it, or it is said which is in the way."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from onnxpad import rewrite
from tests.random_models.building import build
from tests.random_models.drawing import draw
from tests.random_models.kinds import KINDS
from tests.rewriting.for_target.test_search import model_of

MODELS = Path(__file__).parents[3] / "models"
TOGETHER = ("opencv", "opencv-classic", "mnn", "ncnn", "openvino", "tinygrad")
ASYMMETRIC = """<ir_version: 8, opset_import: ["" : 13]>
g (float[%s,2,8,8] x) => (float[a,b,c,d] y) {
  [pool] y = AveragePool<kernel_shape=[2,2], strides=[2,2], pads=[1,1,0,0]>(x)
}"""
BRANCHES = """<ir_version: 8, opset_import: ["" : 13]>
g (float[1,2,6,6] x) => (float[a,b,d,e] y) <bool c = {1}> {
  y = If<
    then_branch = t () => (float[a,b,d,e] r) { r = Abs(x) },
    else_branch = f () => (float[a,b,d,e] q) { q = MaxPool<kernel_shape=[2,2], strides=[1,1]>(x) }
  >(c)
}"""


@pytest.mark.part(16)
@pytest.mark.parametrize("pair", list(combinations(TOGETHER, 2)), ids="+".join)
def test_each_takes_what_is_written_for_both(pair: tuple[str, str]) -> None:
    """And what one of them alone has no way for, both have none for."""
    seed = sum(map(ord, "".join(pair)))
    for name in sorted(KINDS)[seed % 5 :: 5]:
        model = build(draw(name, seed)).model
        both = rewrite(model, target=pair)
        for target in pair:
            assert both.unfit or not rewrite(both.model, target=target).fitting.plans, name  # type: ignore[union-attr]
            assert both.unfit or not rewrite(both.model, target=target).unfit, name
        assert both.unfit or not any(rewrite(model, target=one).unfit for one in pair), name


def test_it_is_said_who_stands_in_the_way() -> None:
    (found,) = rewrite(model_of(ASYMMETRIC % "3"), target=["opencv", "ncnn"]).unfit
    assert found.judgement.by == ("ncnn",)
    assert found.judgement.answer == "miscomputes"
    assert found.judgement.reason.startswith("ncnn computes wrong numbers: ")
    assert "opencv" not in found.judgement.reason
    stopped = rewrite(model_of(BRANCHES), target=["onnx2torch", "opencv", "mnn"]).unfit
    ways = {one.op: one.judgement.by for one in stopped}
    assert ways == {"If": ("onnx2torch",)}


def test_one_model_serves_two_that_want_different_things() -> None:
    """onnx2torch and ncnn have no asymmetric averages, mnn wants strides: one form suits all."""
    model = model_of((ASYMMETRIC % "1").replace(" strides=[2,2],", ""))
    done = rewrite(model, target=("mnn", "ncnn", "opencv"))
    assert not done.unfit
    assert done.target == "mnn + ncnn + opencv"
    for target in ("mnn", "ncnn", "opencv"):
        assert not rewrite(done.model, target=target).changed


def test_onnxruntime_is_one_of_them() -> None:
    done = rewrite(model_of(ASYMMETRIC % "1"), target=["onnxruntime", "ncnn"])
    assert not done.unfit


@pytest.mark.part(10)
@pytest.mark.parametrize("path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.stem)
def test_a_real_model_fits_all_or_names_who_stands_in_the_way(path: Path) -> None:
    names = ["opencv", "ncnn", "openvino@2024.6", "webgpu"]
    done = rewrite(path, target=names)
    for one in done.unfit:
        assert one.judgement.by
        assert set(one.judgement.by) <= set(names)
        assert one.judgement.reason.startswith(one.judgement.by[0])
    if not done.unfit:
        for name in names:
            assert not rewrite(done.model, target=name).unfit
