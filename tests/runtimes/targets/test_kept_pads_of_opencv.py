"""One Net of OpenCV's classic engine that is fed images of two sizes, each after the other.

Run with opencv-python-headless 4.8.1.78, 4.10.0.84, 4.12.0.88, 4.14.0.94 and 5.0.0.93 over all
pairs of 9 sizes: a Net keeps the begin pads of the first, of no other operator and of no bytes.
"""

from __future__ import annotations

import pytest

from onnxpad import inspect, rewrite
from onnxpad.runtimes.conditions.rows import Answer
from tests.runtimes.targets.test_open_sizes import said, windows

OPEN, KEPT, TAKEN = "h,v", Answer.MISCOMPUTES, Answer.TAKES


@pytest.mark.parametrize(
    ("kernel", "stride", "answer"),
    [
        *((kernel, 1, TAKEN) for kernel in (1, 2, 3, 4)),
        *((kernel, 2, TAKEN) for kernel in (1, 2, 4, 6)),
        *((kernel, 2, KEPT) for kernel in (3, 5, 7)),
        *((kernel, 3, KEPT) for kernel in (3, 4, 5)),
        *((2, 3, TAKEN), (5, 4, KEPT)),
    ],
)
@pytest.mark.parametrize("sizes", ["h", OPEN, f"{OPEN},u"], ids=["1-D", "2-D", "3-D"])
def test_begin_pads_of_the_first_size_are_kept(
    kernel: int, stride: int, answer: Answer, sizes: str
) -> None:
    found = said(windows("Conv", "SAME_UPPER", (kernel, stride, 1), sizes))
    assert found["opencv-classic"] is answer


def test_of_fixed_sizes_nothing_is_said() -> None:
    for size in range(6, 12):
        found = said(windows("Conv", "SAME_UPPER", (3, 2, 1), f"{size},{size + 1}"))
        assert found["opencv-classic"] is TAKEN


@pytest.mark.parametrize(("op", "sizes"), [("MaxPool", OPEN), ("AveragePool", OPEN)])
def test_pools_count_their_pads_again(op: str, sizes: str) -> None:
    assert said(windows(op, "SAME_UPPER", (3, 2, 1), sizes))["opencv-classic"] is TAKEN


def test_what_helps_is_named() -> None:
    model = windows("Conv", "SAME_UPPER", (3, 2, 1), OPEN)
    (found,) = inspect(model, target="opencv-classic").targets["opencv-classic"]
    assert found.judgement.sentence == (
        "may compute wrong numbers: a Net keeps the pads of the first size that it is fed, and "
        "SAME needs others at other sizes"
    )
    assert found.judgement.cures == ("build a new Net for each size of its input",)
    assert dict(found.facts) == {"h": "%2=0", "v": "%2=0"}
    for dims in ({"h": "%2==0", "v": "%2==0"}, {"h": 9, "v": 8}):
        assert not rewrite(model, target="opencv-classic", dims=dims).unfit
        (taken,) = inspect(model, target="opencv-classic", dims=dims).targets["opencv-classic"]
        assert taken.judgement.answer is TAKEN
