from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad import Verdict
from tests.oracle import operators as oracle
from tests.validation.builders import B1, W1, W2, two_convs
from tests.validation.runs import validate

X = np.random.default_rng(3).standard_normal((1, 3, 12, 11)).astype(np.float32)


def exact(begin: int, end: int) -> dict[str, NDArray[np.float64]]:
    def conv(x: NDArray[np.float64], w: NDArray[np.float32], near: int, far: int) -> Any:
        return oracle.conv(x, w.astype(np.float64), pads=[near, near, far, far])

    first = conv(X.astype(np.float64), W1, begin, end) + B1.reshape(-1, 1, 1)
    return {"c": first, "y": conv(np.maximum(first, 0), W2, 1, 1)}


def test_a_right_model_is_apart_by_rounding() -> None:
    outputs = exact(1, 1)
    report = validate(two_convs(pads=[1] * 4), inputs={"x": X}, outputs=outputs, device="cpu")
    assert report.verdict is Verdict.ROUNDING
    largest = max(row.bound for row in report.outputs if row.bound is not None)
    assert largest < 1e-3 * np.abs(outputs["y"]).max()


def test_wrong_padding_is_found_at_the_first_given_tensor() -> None:
    model = two_convs(pads=[1] * 4)
    report = validate(model, inputs={"x": X}, outputs=exact(0, 2), device="cpu")
    assert report.verdict is Verdict.DIFFERENT
    assert report.first_difference is not None
    assert report.first_difference.node == "Conv 'c1'"


def test_a_model_that_does_not_run_is_unverified() -> None:
    model = two_convs(auto_pad="SAME_UPPER", dilations=[2, 2], group=2)
    report = validate(model, inputs={"x": X}, outputs={"y": exact(1, 1)["y"]}, device="cpu")
    assert report.verdict is Verdict.UNVERIFIED
    assert "\n" not in report.reason
    assert "rewrite" in report.hints[0]
