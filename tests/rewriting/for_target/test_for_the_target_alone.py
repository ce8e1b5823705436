"""With a target, what onnxruntime runs as well comes first; else the target's own rows decide."""

from __future__ import annotations

from collections import Counter
from itertools import cycle, product

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from onnxpad.runtimes.targets import all_targets
from tests.laws.small_models import Case
from tests.laws.test_models_in_onnxruntime import result_of, right
from tests.models.tiny import X5, by_onnxruntime, tiny
from tests.oracle.onnxruntime_levels import ran

NO_OTHER_WAY = (
    *("concat-pads", "clipped-pads", "split-pads", "border-pads", "lift-rank"),
    *("pad-by-conv", "pad-by-two-convs"),
)
ALONE = ("onnx2torch", "opencv-classic")
TARGETS = (*ALONE, "ncnn", "mnn", "tflite")
ENOUGH = 10


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
