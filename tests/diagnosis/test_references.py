"""What is given as a reference: layouts that are turned, and what is refused with a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from onnxpad import RequestError, diagnose
from tests.diagnosis.texts import END, HALF, deep
from tests.retargeting.running import Array, outputs, signed

INSIDE = "c"
WRONG = deep(HALF)
X = signed(0, 1, 3, 64, 64)


def reference() -> tuple[Array, Array]:
    right = deep(END)
    right.graph.output.append(helper.make_tensor_value_info(INSIDE, 1, None))
    dense, inside = outputs(right, X)
    return dense, inside


Y, MIDDLE = reference()


def last(value: Array) -> Array:
    return np.ascontiguousarray(np.moveaxis(value, 1, -1))


def without_a_number(value: float) -> Array:
    found = Y.copy()
    found[0, 3] = value
    return found


TAKEN: dict[str, tuple[Array, dict[str, Any], str]] = {
    "images with channels last": (last(X), {"y": Y}, "'x' of shape [1, 64, 64, 3] is read as"),
    "tensors with channels last": (X, {"y": Y, INSIDE: last(MIDDLE)}, "channels last (NHWC)"),
    "float64": (X.astype(np.float64), {"y": Y.astype(np.float64)}, "is rounded to float32"),
    "float16": (X, {"y": Y.astype(np.float16)}, "compared no closer than that rounds"),
}


@pytest.mark.part(3)
@pytest.mark.parametrize(("x", "given", "said"), TAKEN.values(), ids=TAKEN)
def test_what_is_turned_or_rounded_is_said(x: Array, given: dict[str, Any], said: str) -> None:
    found = diagnose(WRONG, inputs={"x": x}, outputs=given)
    assert found.explained, found.reason
    assert {entry.node for entry in found.plan.entries} == {"a", "c"}
    assert any(said in warning for warning in found.warnings), found.warnings


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "output": ({"x": X}, {"yy": Y}, "no tensor 'yy': there is 'y'"),
    "input": ({"z": X}, {"y": Y}, "no input 'z'"),
    "NaN": ({"x": X}, {"y": without_a_number(np.nan)}, "holds NaN in 1 of 10 elements"),
    "infinite": ({"x": X}, {"y": np.full_like(Y, np.inf)}, "holds no finite number"),
    "NaN input": ({"x": X * np.nan}, {"y": Y}, "input 'x' of sample 0 holds NaN"),
    "integers": ({"x": X}, {"y": Y.astype(np.int64)}, "holds int64, the model computes float"),
    "texts": ({"x": X}, {"y": Y.astype(object)}, "elements of type object: give numbers"),
    "empty": ({"x": X}, {"y": Y[:0]}, "is empty: its shape is [0, 10]"),
    "no output": ({"x": X}, {}, "there is no reference: give an output"),
    "rank": ({"x": X}, {"y": Y[0]}, "has shape [10], the model gives [1, 10]"),
    "images": (
        {"x": X},
        {"y": np.tile(Y, (2, 1))},
        "[2, 10], the model gives [1, 10]",
    ),
    "batch": (
        {"x": np.tile(X, (2, 1, 1, 1))},
        {"y": Y},
        "takes 1 at axis 0; give single samples, in a file as s0_in0, s1_in0 and s0_ref0, s1_ref0",
    ),
    "channels last": (
        {"x": last(X[:, :1])},
        {"y": Y},
        "has shape [1, 64, 64, 1], the model takes 3 at axis 1",
    ),
    "counts": ({"x": [X, X]}, {"y": [Y]}, "1 of outputs, 2 of inputs"),
}


@pytest.mark.parametrize(("inputs", "given", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_compared_is_refused(inputs: Any, given: Any, said: str) -> None:
    with pytest.raises(RequestError) as raised:
        diagnose(WRONG, inputs=inputs, outputs=given)
    assert said in str(raised.value)


SQUARE = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 3, 8, 12] x) => (float[1, 8, H, W] y)
<float[8, 3, 3, 3] w = {WEIGHTS}> { y = Conv <pads = [PADS]> (x, w) }
"""


def square(pads: str, sizes: str = "8, 12") -> onnx.ModelProto:
    """A model with as many channels as rows, so that sizes do not tell the layout."""
    weights = ", ".join(f"{one:.6f}" for one in signed(3, 8, 3, 3, 3).ravel())
    text = SQUARE.replace("WEIGHTS", weights).replace("PADS", pads).replace("8, 12", sizes)
    return onnx.parser.parse_model(text)


@pytest.mark.parametrize("sizes", ["8, 12", "8, 8", "12, 8"])
@pytest.mark.parametrize("turned", [True, False])
def test_outputs_are_turned_where_all_their_sizes_tell(sizes: str, *, turned: bool) -> None:
    """Where none tells, they are read as the model has them, and nothing is claimed."""
    height, width = map(int, sizes.split(", "))
    x = signed(4, 1, 3, height, width)
    y = outputs(square("1, 1, 1, 1", sizes), x)[0]
    given = {"y": last(y) if turned else y}
    found = diagnose(square("0, 0, 2, 2", sizes), inputs={"x": last(x)}, outputs=given, budget=60)
    said = any("'y'" in one and "channels last (NHWC)" in one for one in found.warnings)
    if turned and height == width:
        assert (found.cause, said) == ("unknown", False), found.reason
    else:
        assert (found.explained, said) == (True, turned), found.reason
