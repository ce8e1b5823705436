"""What targets say of nodes is plain English, and comes with a cure where there is one."""

from __future__ import annotations

import re

from onnxpad import inspect
from tests.models.text import text_model
from tests.names import ENTRIES

ANSWERS = {"takes", "falls back", "refuses", "miscomputes"}


def test_no_reason_is_a_raw_predicate() -> None:
    facts = [text for entry in ENTRIES if entry["kind"] == "target" for text in entry["facts"]]
    assert [text for text in facts if re.search(r"(^|, |and |or )not \(", str(text))] == []


def test_every_fact_has_evidence() -> None:
    for entry in ENTRIES:
        if entry["kind"] == "target":
            for answer in ANSWERS & entry["facts"].keys():
                assert re.search(r"\[[^]]*\w: .+", str(entry["facts"][answer])), entry["name"]


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
