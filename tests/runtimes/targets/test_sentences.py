"""What targets say of nodes is plain English, and comes with a cure where there is one."""

from __future__ import annotations

import re

import pytest

from onnxpad.runtimes.conditions import fronts, pads, tensors, windows
from onnxpad.runtimes.conditions.rows import Condition
from onnxpad.runtimes.targets import all_targets


@pytest.mark.parametrize("name", all_targets())
def test_no_reason_is_a_raw_predicate(name: str) -> None:
    for row in all_targets()[name].rows:
        assert not re.search(r"(^|, |and |or )not \(", row.why), row.why


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (~pads.CONSTANT, "its mode is not constant"),
        (~fronts.NEVER_NEGATIVE, "a cell of its input may be negative"),
        (~tensors.tensor_rank(1, 2), "the input does not have 1 or 2 axes"),
        (~tensors.tensor_rank(4), "the input does not have 4 axes"),
        (~windows.AUTO_PAD, "auto_pad is not written"),
        (~~windows.AUTO_PAD, "auto_pad is written"),
        (~windows.GROUPED, "not (group is above 1)"),
    ],
)
def test_negated_conditions(condition: Condition, text: str) -> None:
    assert condition.text == text


def test_opsets_and_open_sizes_come_with_a_cure() -> None:
    assert tensors.opset_above(17).cure == "export the model with opset 17 or older"
    assert tensors.opset_below(13).cure == "export the model with opset 13 or newer"
    assert tensors.UNKNOWN_SIZES.cure == "give the model's inputs fixed sizes"
    assert tensors.SPATIAL_SIZES_LEFT_OPEN.cure == tensors.UNKNOWN_SIZES.cure
    assert windows.GROUPED.cure == ""
