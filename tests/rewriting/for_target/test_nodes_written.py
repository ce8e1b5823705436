"""What --pass brings is judged for the target by the same rows as what planning would bring."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from onnxpad import inspect, rewrite
from tests.command import run
from tests.names import TARGETS
from tests.rewriting.for_target.test_search import CONV, model_of
from tools.benchmarks.networks import Network

Captured = pytest.CaptureFixture[str]
REFLECT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,8,8] x) => (float[1,2,10,10] y) <int64[8] p = {0,0,1,1,0,0,1,1}> {
  [pad] y = Pad<mode="reflect">(x, p)
}"""
VALUED = REFLECT.replace('<mode="reflect">(x, p)', '<mode="constant">(x, p, v)').replace(
    "1,1}>", "1,1}, float v = {2}>"
)
PADDED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,8,8] x) => (float[1,3,8,8] y) <int64[8] p = {0,0,2,1,0,0,0,1}, float[3,2,3,3] w> {
  [pad] a = Pad<mode="reflect">(x, p)
  [conv] y = Conv<kernel_shape=[3,3]>(a, w)
}"""
OPEN = CONV.replace("float[1,2,8,8]", "float[n,2,h,w]").replace("float[1,3,4,4]", "float[a,b,c,d]")


def saved(folder: Path, text: str) -> Path:
    path = folder / "model.onnx"
    onnx.save(model_of(text), path)
    return path


@pytest.mark.parametrize("target", ["portable", "ncnn"])
def test_both_routes_agree(target: str, capsys: Captured, tmp_path: Path) -> None:
    model, out = saved(tmp_path, VALUED), tmp_path / "out.onnx"
    alone = run(["rewrite", str(model), "--target", target, "--check"])
    capsys.readouterr()
    options = ["--target", target, "--pass", "concat-pads", "-o", str(out)]
    assert run(["rewrite", str(model), *options]) == 1
    found = capsys.readouterr()
    if target == "portable":
        assert alone == 1
    wrong = "it gets every Concat with a constant wrong"
    said = f"pad/axis2, pad/axis3  Concat    miscomputes  {wrong} (written by concat-pads)  no way"
    assert said in found.out
    assert "nothing written" in found.err
    assert not out.exists()


def test_what_the_target_takes_may_be_brought(tmp_path: Path) -> None:
    done = rewrite(saved(tmp_path, PADDED), target="onnxruntime", passes="plain-pad")
    assert [change.rule for change in done.changes] == ["plain-pad"]
    assert done.unfit == ()


def test_what_is_not_known_may_be_brought_where_it_is_allowed() -> None:
    kept = rewrite(model_of(OPEN), target="opencv", passes="runtime-pads")
    assert kept.unfit
    assert {one.op for one in kept.unfit} >= {"Shape", "Mod"}
    allowed = rewrite(model_of(OPEN), target="opencv", passes="runtime-pads", allow_unknown=True)
    assert allowed.unfit == ()
    assert {one.op for one in allowed.fitting.granted} == {one.op for one in kept.unfit}  # type: ignore[union-attr]
    said = "taken for granted: 'conv/pads_sizes': Shape is untested on opencv\n"
    assert said in allowed.to_text("m.onnx")
    assert not kept.fitting.granted  # type: ignore[union-attr]


def test_passes_without_a_target_are_not_judged(tmp_path: Path) -> None:
    assert rewrite(saved(tmp_path, REFLECT), passes="plain-pad").unfit == ()


MIRRORED = """<ir_version: 8, opset_import: ["" : 13]>
g (float[1,4,h,w] x) => (float[1,4,a,b] y) <int64[2] hw = {2,3}, int64[1] n = {8},
  int64[6] zeros = {0,0,0,0,0,0}> {
  shape = Shape (x) sizes = Gather (shape, hw) less = Neg (sizes) rest = Mod (less, n)
  [pads] pads = Concat <axis=0> (zeros, rest)
  [pad] y = Pad <mode="reflect"> (x, pads)
}"""


def test_a_concat_that_joins_the_numbers_of_pads_writes_no_padding() -> None:
    """Ncnn joins constants wrongly where they are cells: these are numbers."""
    sizes: dict[str, int | str] = {"h": 13, "w": 14}
    done = rewrite(model_of(MIRRORED), target="ncnn", dims=sizes)
    assert done.unfit == ()
    (judged,) = inspect(model_of(MIRRORED), target="ncnn", dims=sizes).targets["ncnn"]
    assert judged.op == "Pad"


@pytest.mark.parametrize("name", TARGETS)
def test_nodes_that_lack_inputs_or_outputs_are_judged_too(name: str) -> None:
    model = model_of(PADDED)
    odd = [("Concat", ["e", "c"], []), ("Concat", ["e"], ["d"]), ("Slice", [], ["c"])]
    for op, inputs, outputs in (*odd, ("Expand", [], ["e"]), ("Slice", [], [])):
        model.graph.node.append(onnx.helper.make_node(op, inputs, outputs))
    rewrite(model, target=name)
    inspect(model, target=name)


def test_concats_that_pad_are_judged_whoever_wrote_them(tmp_path: Path) -> None:
    net = Network(size=32)
    net.padded_conv(4, 3)
    steps = ["split-pads", "concat-pads"]
    told = rewrite(net.model(), passes=steps, target="portable").unfit
    assert [one.brought_by for one in told] == ["concat-pads"] * 2
    path = tmp_path / "padded.onnx"
    rewrite(net.model(), passes=steps).save(path)
    named = [one.node.label for one in told]
    judged = inspect(path, target="portable").targets["portable"]
    assert [one.node.label for one in judged if one.judgement.answer.fails] == named
    assert [one.node.label for one in rewrite(path, target="portable").unfit] == named
