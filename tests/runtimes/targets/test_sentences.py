"""What targets say of nodes is plain English, and comes with a cure where there is one."""

from __future__ import annotations

import re

import pytest

from onnxpad import inspect
from onnxpad.runtimes.conditions.words import condition_of
from onnxpad.runtimes.judge import judge_plain
from onnxpad.runtimes.targets import all_targets
from tests.models.text import text_model


@pytest.mark.parametrize("name", all_targets())
def test_no_reason_is_a_raw_predicate(name: str) -> None:
    for row in all_targets()[name].rows:
        assert not re.search(r"(^|, |and |or )not \(", row.why), row.why


def test_opsets_and_open_sizes_come_with_a_cure() -> None:
    assert condition_of(("opset_above", 17)).cure == "export the model with opset 17 or older"
    assert condition_of(("opset_below", 13)).cure == "export the model with opset 13 or newer"
    assert condition_of("open_sizes").cure == "give the model's inputs fixed sizes"
    assert not condition_of("grouped").cure


def sentence(name: str, body: str, shape: str = "1, 2, 8, 8") -> str:
    model = text_model(body, inputs=f"float[{shape}] x", outputs="float[a, b, c, d] y")
    (found,) = inspect(model, target=name).targets[name]
    return found.judgement.sentence


def test_what_is_not_known_begins_with_what_may_happen() -> None:
    symmetric = "y = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)"
    said = sentence("ncnn", symmetric, "n, 2, 8, 8")
    assert said.startswith(
        "may compute wrong numbers: the model leaves open whether the batch is not 1"
    )


@pytest.mark.parametrize("name", all_targets())
def test_what_an_operator_is_beside_is_not_called_missing(name: str) -> None:
    """'it has no Concat' is a sentence about an operator, not about where one stands."""
    for row in all_targets()[name].rows:
        for operator in row.operators if row.answer == "refuses" else ():
            if " " in operator:
                said = judge_plain(all_targets()[name], operator, 17).reason
                assert f"it has no {operator}" not in said
