"""With a target, what onnxruntime runs as well comes first; else the target's own rows decide."""

from __future__ import annotations

from collections import Counter
from itertools import cycle, product

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.rewrite import Rewriting, rewrite
from onnxpad.runtimes.targets import all_targets
from onnxpad.show.rewritings import rewriting_document
from tests.laws.small_models import Case
from tests.laws.test_models_in_onnxruntime import result_of, right
from tests.models.tiny import X5, by_onnxruntime, tiny
from tests.oracle.onnxruntime_levels import ran

X = -np.arange(1, 7, dtype=np.float32).reshape(1, 1, 6)
SHIELDED = """t = Pad<mode="constant">(x, p)
y = MaxPool<auto_pad="SAME_UPPER", kernel_shape=[3], strides=[2]>(t)"""
"""auto_pad keeps onnxruntime from fusing the Pad; many targets compute it wrongly."""
NO_OTHER_WAY = (
    *("concat-pads", "clipped-pads", "split-pads", "border-pads", "lift-rank"),
    *("pad-by-conv", "pad-by-two-convs"),
)
ALONE = ("onnx2torch", "opencv-classic")
TARGETS = (*ALONE, "ncnn", "mnn", "tflite")
ENOUGH = 10


def shielded() -> onnx.ModelProto:
    pads = "int64[6] p = {0,0,1,0,0,0}"
    return tiny(SHIELDED, "float[1,1,6]", constants=pads, result="float[1,1,n]")


def levels(done: Rewriting) -> list[bool]:
    """Whether onnxruntime computes the same as of the original: without and with optimisations."""
    wanted = by_onnxruntime(shielded(), X)
    assert isinstance(done.model, onnx.ModelProto)
    return [by_onnxruntime(done.model, X, optimised=on) == wanted for on in (False, True)]


@pytest.mark.parametrize("target", ALONE)
def test_what_both_run_comes_first(target: str) -> None:
    done = rewrite(shielded(), target=target)
    assert done.changed
    assert done.fitting is not None
    assert not done.fitting.elsewhere
    assert levels(done) == [True, True]


@pytest.mark.parametrize("target", ALONE)
def test_where_there_is_no_other_way_it_is_written_for_the_target_alone(target: str) -> None:
    done = rewrite(shielded(), target=target, exclude=NO_OTHER_WAY)
    assert not done.unfit
    assert levels(done) == [True, False]
    assert done.fitting is not None
    (harmed,) = done.fitting.elsewhere
    assert harmed.op == "MaxPool"
    assert "a Pad node that writes 0 stands in front" in harmed.judgement.reason
    assert f"MaxPool 'y' is written for {target} alone: onnxruntime" in str(
        rewriting_document("m", "o", done)
    )
    assert done.to_json()["target"]["onnxruntime"][0]["verdict"] == "miscomputes"


def test_onnxruntime_itself_is_asked_where_it_is_the_target() -> None:
    model = shielded()
    model.graph.node[1].attribute.append(onnx.helper.make_attribute("dilations", [2]))
    done = rewrite(model, target="onnxruntime@1.31", exclude=NO_OTHER_WAY)
    assert [one.op for one in done.unfit] == ["MaxPool"]
    assert not done.changed


def test_what_the_target_takes_is_not_written_for_it_alone() -> None:
    """opencv takes VALID: the pass asked for would only take its protection away."""
    text = SHIELDED.replace("SAME_UPPER", "VALID")
    constants = "int64[6] p = {0,0,1,0,0,0}"
    model = tiny(text, "float[1,1,6]", constants=constants, result="float[1,1,n]")
    done = rewrite(model, passes="explicit-pads", target="opencv")
    assert not done.changed
    assert "keeps onnxruntime from fusing the Pad" in done.skips[0].skip.reason


def small(kind: str) -> list[Case]:
    """Pools behind a Pad(0), padded in each way that onnxruntime does not fuse with it."""
    ways = product(("SAME_UPPER", "SAME_LOWER", "VALID"), (2, 3), (1, 2), (5, 6), ((1, 0), (1, 1)))
    return [
        Case(kind, (size,), (kernel,), (stride,), (1,), padding, (), "zero", around, opset=17)
        for padding, kernel, stride, size, around in ways
    ]


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool"])
def test_what_onnxruntime_makes_of_a_model_for_a_target(kind: str) -> None:
    """Without optimisations it runs what it ran; with them as well, or the report says it."""
    told: Counter[bool] = Counter()
    for case, target in zip(small(kind), cycle(TARGETS), strict=False):
        wanted = result_of(case)
        done = rewrite(case.model(), target=target, exclude=NO_OTHER_WAY)
        if wanted is None or not done.changed or done.fitting is None:
            continue
        assert isinstance(done.model, onnx.ModelProto)
        for optimised in (False, True):
            if right(ran(case.model(), case.feed(), optimised=optimised), wanted, case, done):
                fine = right(ran(done.model, case.feed(), optimised=optimised), wanted, case, done)
                told_so = optimised and done.fitting.elsewhere
                assert fine or told_so, (target, case, done.fitting.elsewhere)
                told[fine] += 1
    assert told[True] > ENOUGH
    assert bool(told[False]) == (kind == "MaxPool"), told


def test_onnxruntime_loads_what_is_written_for_another_alone() -> None:
    """No target has seen pads that reach the kernel: onnxruntime loads no pool that has them."""
    body = """t = Pad<mode="constant">(x, p, low) [op] y = MaxPool<kernel_shape=[2]>(t)"""
    low = np.finfo(np.float32).min
    model = tiny(body, constants=f"int64[6] p = {{0,0,2,0,0,0}}, float low = {{{low}}}")
    for name in all_targets():
        done = rewrite(model, target=name, exclude=NO_OTHER_WAY)
        assert isinstance(done.model, onnx.ModelProto)
        assert by_onnxruntime(done.model, -X5) == by_onnxruntime(model, -X5), name
