"""What a report says does not contradict what it shows."""

from __future__ import annotations

from typing import Any

from onnxpad.rewriting.rewrite import rewrite
from onnxpad.show.validations import validation_document
from onnxpad.validation import Validation, Verdict
from tests.validation.builders import two_convs
from tests.validation.runs import validate


def cpu(before: object, after: object, samples: int = 1, **options: Any) -> Validation:
    return validate(before, after, device="cpu", samples=samples, **options)


STRIDED: dict[str, Any] = {"auto_pad": "SAME_UPPER", "strides": [2, 2]}


def test_a_model_written_for_some_sizes_asks_for_the_facts() -> None:
    before = two_convs(**STRIDED)
    facts: dict[str, int | str] = {"H": "%2=0", "W": "%2=0"}
    after = rewrite(before, dims=facts).model
    said = "compared with --dim 'H%2=0' --dim 'W%2=0', as a model itself says in its metadata"
    report = cpu(before, after, samples=2)
    assert report.ok
    assert any(one.startswith(said) for one in report.warnings)
    del after.metadata_props[:]
    report = cpu(before, after, samples=2)
    assert report.verdict is Verdict.DIFFERENT
    assert report.hints == (
        "the facts that the second model was written for, such as --dim 'H%32=0' --dim 'W%32=0'",
    )
    text = str(validation_document(report))
    assert "inf" not in text
    assert text.splitlines()[1] == f"  try     {report.hints[0]}"
    assert cpu(before, after, dims=facts).hints == ()
    assert cpu(before, after, dims=facts).ok
