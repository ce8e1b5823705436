"""Networks damaged in several places at once: found, least changed, and nothing claimed falsely."""

from __future__ import annotations

import pytest

from onnxpad.diagnosis import Cause, Diagnosis, diagnose
from onnxpad.retargeting import retarget
from onnxpad.show.diagnoses import Around, diagnosis_document
from tests.diagnosis.damaged_networks import Case, case
from tests.retargeting.running import outputs, relative

# Two fills beside other damages; mirrors and a fill at open sizes; four damages; sides alone.
SEVERAL = (3, 4, 7, 9, 17, 19, 46)


def diagnosed(known: Case, budget: float) -> Diagnosis:
    count = len(known.network.sizes)
    given = {known.wrong.graph.output[0].name: known.y[:count]}
    return diagnose(known.wrong, inputs={"x": known.x[:count]}, outputs=given, budget=budget)


@pytest.mark.part(7)
@pytest.mark.parametrize("seed", SEVERAL)
def test_several_damages_and_fills_are_found_with_no_more_changes_than_there_are(seed: int) -> None:
    known = case(seed)
    found = diagnosed(known, 300)
    assert (found.explained, found.cause) == (True, Cause.PADDING), found.reason
    assert len(found.plan.entries) <= len(known.network.damages)
    last = len(known.network.sizes)
    made = outputs(retarget(known.wrong, plan=found.plan).model, known.x[last])[0]
    assert relative(made, known.y[last]) < 1e-4


def test_what_is_not_found_says_what_would_settle_it() -> None:
    known = case(61)
    found = diagnosed(known, 1)
    assert (found.explained, found.cause) == (False, Cause.UNKNOWN)
    assert not found.plan.entries
    assert found.settles.startswith("save what the framework computes for 'n")
    command = "onnxpad diagnose m.onnx --data r.npz"
    line, around = (
        f"next, with the framework at hand: {found.settles}, then type: {command}",
        Around(again=command),
    )
    assert f"\n{line}\n" in str(diagnosis_document(found, around=around))
    assert line in diagnosis_document(found, "m.onnx", around).summary
