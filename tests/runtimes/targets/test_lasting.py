"""What no pass can lift: conditions that call themselves lasting, held against every pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from onnx import ModelProto

from onnxpad.inspection import inspect
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain
from onnxpad.rewriting.for_target.judge import stays
from onnxpad.rewriting.for_target.report import NoWay
from onnxpad.rewriting.for_target.search import Planner
from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.runtimes.conditions.rows import Answer, Condition
from onnxpad.runtimes.targets import all_targets
from tests.benchmarks.networks import Network
from tests.models.text import text_model
from tests.runtimes.targets import probes

LASTING = {
    condition.text: condition
    for target in all_targets().values()
    for row in target.rows
    for condition in row.when
    if condition.lasting
}
OPEN = "float[N,2,H,W] x"
MODELS = {
    "Conv": 'auto_pad="SAME_UPPER", strides=[2, 2]',
    "Conv padded": "pads=[0, 1, 2, 1]",
    "ConvTranspose": 'auto_pad="SAME_UPPER", strides=[2, 2]',
    "ConvTranspose padded": "pads=[0, 1, 1, 0], strides=[2, 2], output_padding=[1, 1]",
    "MaxPool": "kernel_shape=[3, 3], pads=[0, 1, 1, 1], ceil_mode=1, strides=[2, 2]",
}


def small_models() -> Iterator[ModelProto]:
    weight = ", ".join(["1"] * 36)
    for name, attributes in MODELS.items():
        op, _, _ = name.partition(" ")
        reads = "x" if op == "MaxPool" else "x, w"
        for shape in (OPEN, "float[N,2,8,9] x", "float[2,2,8,9] x"):
            node = f"[node] y = {op} <{attributes}> ({reads})"
            yield text_model(node, shape, constants=f"float[2,2,3,3] w = {{{weight}}}")


def chains(model: ModelProto) -> dict[str, Chain]:
    """Operators that no pass replaces, by the name of the node."""
    survey = Survey(model)
    return {site.node.name: site.chain for site in survey.sites_now() if stays(site.chain)}


def models() -> Iterator[ModelProto]:
    yield from small_models()
    folder = probes.folder()
    for path in sorted(folder.rglob("conv*.onnx")) if folder else ():
        yield onnx.load(path)


@pytest.mark.part(11)
@pytest.mark.parametrize("rule", all_passes())
def test_no_pass_lifts_what_lasts(rule: str) -> None:
    for model in models():
        before = chains(model)
        done = rewrite(model, passes=[rule])
        if not before or not done.changed:
            continue
        assert isinstance(done.model, ModelProto)
        after = chains(done.model)
        for name, chain in before.items():
            assert name in after, f"{rule} replaces {chain.op.title}"
            assert after[name].op == chain.op
            for condition in LASTING.values():
                lifted = condition.holds(chain) in (True, None) and not kept(condition, after[name])
                assert not lifted, f"{rule}: {condition.text}"


def kept(condition: Condition, chain: Chain) -> bool:
    return condition.holds(chain) in (True, None)


def test_a_lasting_objection_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    def plan(*_: object) -> None:
        raise AssertionError("a search was begun")

    monkeypatch.setattr(Planner, "plan", plan)
    net = Network(size=32)
    net.shape = ("N", 3, 32, 32)
    for _ in range(3):
        net.padded_conv(4, 3)
    found = inspect(net.model(), target="ncnn")
    for one in found.targets["ncnn"]:
        assert one.judgement.answer is Answer.UNKNOWN
        assert isinstance(one.way, NoWay)
        assert [left.judgement for left in one.way.remaining] == [one.judgement]
    assert found.openings["ncnn"].facts == (("N", 1),)


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
