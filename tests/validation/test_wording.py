"""What a report says does not contradict what it shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from onnxpad.rewriting.rewrite import rewrite
from onnxpad.show.validations import validation_document
from onnxpad.validation import Validation, Verdict
from onnxpad.validation.report import OutputRow
from tests.validation.builders import W1, model, node, two_convs
from tests.validation.runs import validate


def cpu(before: object, after: object, samples: int = 1, **options: Any) -> Validation:
    return validate(before, after, device="cpu", samples=samples, **options)


def behind_transpose(size: int, outputs: int = 4) -> Any:
    """Pad in channels-last order, Transpose, Conv."""
    nodes = [
        node("Pad", ["x", "pads"], ["xp"], name="pad"),
        node("Transpose", ["xp"], ["xpt"], perm=[0, 2, 1]),
        node("Conv", ["xpt", "W"], ["y"], name="conv"),
    ]
    constants = {"pads": np.array([0, 2, 0, 0, 0, 0]), "W": W1[:outputs, :, 0]}
    return model(nodes, constants, shape=(1, size, 3))


def test_a_tensor_that_keeps_its_name_without_padding_is_no_alarm() -> None:
    before = behind_transpose(12)
    after = rewrite(before, passes="absorb-pad")
    assert after.changed
    report = cpu(before, after.model)
    assert report.verdict is Verdict.IDENTICAL
    assert report.warnings == ()


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


@pytest.mark.parametrize("shapes", [((), None), (None, ()), (None, None)])
def test_a_scalar_that_one_of_them_computes_is_a_row(
    shapes: tuple[tuple[int, ...] | None, tuple[int, ...] | None],
) -> None:
    found = cpu(two_convs(), two_convs())
    row = OutputRow(0, "alone", "on", *shapes, equal=False, max_abs=None, bound=None)
    shown = str(validation_document(replace(found, outputs=(row,))))
    assert ("alone" in shown) == (shapes != (None, None))
