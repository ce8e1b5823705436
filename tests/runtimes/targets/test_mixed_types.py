"""A convolution of two element types is taken by no target, whatever was seen of others."""

from __future__ import annotations

import pytest

from onnxpad import inspect
from tests.models.text import text_model


def nodes(node: str, data: str, weight: str) -> object:
    return text_model(node, f"{data}[1,1,8] x", constants=f"{weight}[1,1,3] w = {{1, 2, 3}}")


CONV = "y = Conv <pads = [1, 1]> (x, w)"
TRANSPOSED = "y = ConvTranspose <pads = [1, 1]> (x, w)"
INTEGERS = "y = ConvInteger <pads = [1, 1]> (x, w)"


SAME = 'y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)'


@pytest.mark.parametrize(
    ("node", "target", "answer"),
    [
        *((node, name, "refuses") for node in (CONV, SAME) for name in ("opencv", "onnxruntime")),
        (SAME, "openvino", "refuses"),
        (TRANSPOSED, "onnxruntime", "refuses"),
        (TRANSPOSED, "opencv", "unknown"),
        (CONV, "tinygrad", "unknown"),
        (SAME, "ncnn", "unknown"),
    ],
)
def test_two_types_are_not_taken(node: str, target: str, answer: str) -> None:
    """The types are the reason, whatever the rows say of the padding; no pass mends them."""
    found = inspect(nodes(node, "float", "double"), target=target)
    verdict, *_ = found.targets[target]
    assert verdict.verdict == answer
    assert not found.openings[target].granted
    assert "data is float32 and its weight float64" in verdict.reason
    assert [trap.code for trap in found.nodes[0].traps] == ["mixed-types"]


@pytest.mark.parametrize(
    ("node", "data", "weight"),
    [(CONV, "float", "float"), (CONV, "float16", "float16"), (INTEGERS, "uint8", "int8")],
)
def test_one_type_and_quantised_operators_are_no_matter(node: str, data: str, weight: str) -> None:
    found = inspect(nodes(node, data, weight), target="onnxruntime")
    assert "mixed-types" not in [trap.code for trap in found.nodes[0].traps]
    assert found.targets["onnxruntime"][0].verdict == "takes"
