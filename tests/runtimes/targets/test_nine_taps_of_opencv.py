"""OpenCV 5 on convolutions with as many taps as 3x3 has: each answer is one of a run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from onnxpad.runtimes.conditions.rows import Answer
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
