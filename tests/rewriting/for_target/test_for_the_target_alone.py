"""With a target, what onnxruntime runs as well comes first; else the target's own rows decide."""

from __future__ import annotations

from collections import Counter
from itertools import cycle, product

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from onnxpad.runtimes.targets import all_targets
from tests.models.tiny import X5, by_onnxruntime, tiny
from tests.random_models.checking import opened
from tests.random_models.judging import by_onnxruntime as by_onnxruntime_level
from tests.random_models.judging import difference
from tests.random_models.spec import Spec, Step

NO_OTHER_WAY = (
    *("concat-pads", "clipped-pads", "split-pads", "border-pads", "lift-rank"),
    *("pad-by-conv", "pad-by-two-convs"),
)
ALONE = ("onnx2torch", "opencv-classic")
TARGETS = (*ALONE, "ncnn", "mnn", "tflite")
ENOUGH = 10


def small(kind: str) -> list[Spec]:
    """Pools behind a Pad(0), padded in each way that onnxruntime does not fuse with it."""
    ways = product(("SAME_UPPER", "SAME_LOWER", "VALID"), (2, 3), (1, 2), (5, 6), ((1, 0), (1, 1)))
    return [
        Spec(
            kind=kind,
            opset=17,
            spatial=(size,),
            kernel=(kernel,),
            strides=(stride,),
            dilations=(1,),
            padding=padding,
            front=(Step("Pad", around, value="zero"),),
            negative=True,
        )
        for padding, kernel, stride, size, around in ways
    ]


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool"])
def test_what_onnxruntime_makes_of_a_model_for_a_target(kind: str) -> None:
    """Without optimisations it runs what it ran; with them as well, or the report says it."""
    told: Counter[bool] = Counter()
    for spec, target in zip(small(kind), cycle(TARGETS), strict=False):
        original = opened(spec)
        done = rewrite(original.model, target=target, exclude=NO_OTHER_WAY)
        if not original.judged or not done.changed or done.fitting is None:
            continue
        assert isinstance(done.model, onnx.ModelProto)
        for optimised in (False, True):
            before, after = (
                by_onnxruntime_level(model, original.feeds, optimised=optimised)[0]
                for model in (original.model, done.model)
            )
            if difference(spec, before, original.expected[0]) is None:
                fine = difference(spec, after, original.expected[0]) is None
                told_so = optimised and done.fitting.elsewhere
                assert fine or told_so, (target, spec, done.fitting.elsewhere)
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
