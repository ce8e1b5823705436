"""OpenCV 5 on convolutions with as many taps as 3x3 has: each answer is one of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest

from onnxpad import inspect
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.oracle.interpreter import run_model
from tests.runtimes.targets.test_facts import chain, weights
from tests.runtimes.targets.test_held_out_facts import answers


@pytest.mark.parametrize(
    ("kernel", "given", "wrong"),
    [
        *(([9], {}, True), ([1, 9], {}, True), ([9, 1], {}, True), ([3, 3], {}, False)),
        *(([9], {"strides": [3]}, True), ([1, 9], {"pads": [0, 4, 0, 4]}, True)),
        *(([9], {"dilations": [2]}, False), ([1, 9], {"dilations": [2, 1]}, False)),
        *(([9], {"group": 2}, True), ([9], {"group": 4}, False), ([1, 9], {"group": 4}, False)),
        *(([1, 1, 9], {}, False), ([7], {}, False), ([10], {}, False), ([9, 9], {}, False)),
    ],
)
def test_nine_in_a_row(kernel: Sequence[int], given: dict[str, object], *, wrong: bool) -> None:
    weight = weights(4, 4 // int(str(given.get("group", 1))), *kernel)
    attributes = {"kernel_shape": list(kernel)} | given
    sizes = [1, 4, *(14 + size for size in kernel)]
    model = chain(13, sizes, ("Conv", [weight], attributes))
    assert (answers(model, "opencv")["Conv"] is Answer.MISCOMPUTES) is wrong
    assert answers(model, "opencv-classic")["Conv"] is Answer.TAKES


@pytest.mark.parametrize("pads", [(4, 4), (0, 0), (8, 0), (0, 3)])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_what_is_to_be_tried_computes_the_same(pads: tuple[int, int], stride: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, 2, 5, 20)).astype(np.float32)
    weight = rng.integers(1, 9, size=9).tolist()
    nine = _along_a_row(weight, pads, stride)
    eleven = _along_a_row([0, *weight, 0], (pads[0] + 1, pads[1] + 1), stride)
    np.testing.assert_array_equal(run_model(nine, {"x": x})["y"], run_model(eleven, {"x": x})["y"])
    (found,) = inspect(nine, target="opencv").targets["opencv"]
    (cure,) = found.judgement.cures
    assert cure.startswith("write it with a kernel of 11 and explicit pads")
    (taken,) = inspect(eleven, target="opencv").targets["opencv"]
    assert taken.judgement.answer is Answer.TAKES


def _along_a_row(weight: Sequence[int], pads: tuple[int, int], stride: int) -> onnx.ModelProto:
    begin, end = pads
    return text_model(
        f"y = Conv <pads=[0, {begin}, 0, {end}], strides=[1, {stride}]> (x, w)",
        "float[1,2,5,20] x",
        outputs="float[a,b,c,d] y",
        constants=f"float[1,2,1,{len(weight)}] w = {{{', '.join(map(str, [*weight, *weight]))}}}",
    )
