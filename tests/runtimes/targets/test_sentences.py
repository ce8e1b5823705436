"""What targets say of nodes is plain English, and comes with a cure where there is one."""

from __future__ import annotations

import re

import pytest

from onnxpad import inspect
from onnxpad.runtimes.targets import all_targets
from tests.models.text import text_model


@pytest.mark.parametrize("name", all_targets())
def test_no_reason_is_a_raw_predicate(name: str) -> None:
    for row in all_targets()[name].rows:
        assert not re.search(r"(^|, |and |or )not \(", row.why), row.why


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
