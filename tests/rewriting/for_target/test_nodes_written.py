"""What --pass brings is judged for the target by the same rows as what planning would bring."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from onnxpad import inspect, rewrite
from tests.names import TARGETS
from tests.rewriting.for_target.test_search import CONV, model_of
from tools.benchmarks.networks import Network

PADDED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,8,8] x) => (float[1,3,8,8] y) <int64[8] p = {0,0,2,1,0,0,0,1}, float[3,2,3,3] w> {
  [pad] a = Pad<mode="reflect">(x, p)
  [conv] y = Conv<kernel_shape=[3,3]>(a, w)
}"""
OPEN = CONV.replace("float[1,2,8,8]", "float[n,2,h,w]").replace("float[1,3,4,4]", "float[a,b,c,d]")


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
