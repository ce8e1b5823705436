"""Rewritten models by onnxruntime, as they are written and as it optimises them by default."""

import numpy as np
import onnx
import pytest

from onnxpad.chain import AutoPad, Pads
from onnxpad.passes import Pass, all_passes
from onnxpad.rewriting import Rewriting, rewrite
from tests.interpreter import run_model
from tests.one_node import assert_same
from tests.onnxruntime_levels import ran
from tests.passes.small_models import Array, Case, draw, strata
from tests.passes.small_operators import OPERATORS

ROUNDING = {"AveragePool": 1e-6, "LpPool": 1e-5}
KINDS = [kind for kind in OPERATORS if kind not in ("AveragePool double", "LpPool double")]


def right(found: Array | str, wanted: Array, case: Case) -> bool:
    if isinstance(found, str):
        return False
    if case.op == "QLinearAveragePool" and found.shape == wanted.shape:
        # Its means are float32, and ties are often missed by one.
        return int(np.abs(found.astype(int) - wanted).max()) <= 1
    try:
        assert_same(found, wanted, ROUNDING.get(case.op, 0.0))
    except AssertionError:
        return False
    return True


def drawn(kind: str) -> list[Case]:
    """One case for each thing that may be in front and each way to write the padding."""
    rng = np.random.default_rng(99 + sorted(OPERATORS).index(kind))
    rows = [row for row in strata() if row[0] == kind]
    return [draw(rng, *row, 1 + n % 2) for n, row in enumerate(rows * 4)]


def checked(case: Case, done: Rewriting, wanted: Array) -> int:
    """How often onnxruntime agreed that a rewritten model is right."""
    (change,) = done.changes
    assert isinstance(done.model, onnx.ModelProto)
    agreed = 0
    for optimised in (False, True):
        before = ran(case.model(), case.feed(), optimised=optimised)
        after = ran(done.model, case.feed(), optimised=optimised)
        # What onnxruntime makes of auto_pad is often wrong, what it makes of pads is right, but
        # for what lies over the end in QLinearAveragePool with ceil_mode.
        resolved = isinstance(change.before.padding, AutoPad) and isinstance(
            getattr(change.after, "padding", None), Pads
        )
        known = case.op == "QLinearAveragePool" and case.ceil
        if right(before, wanted, case) or (resolved and not optimised and not known):
            assert right(after, wanted, case), f"{optimised=}\n{case}\n{before}\n{after}\n{wanted}"
            agreed += 1
    return agreed


def fits(case: Case, done: Rewriting) -> bool:
    """Whether a window fits; where none does, only a Pad in front may be rewritten."""
    try:
        run_model(case.model(), case.feed())
    except ValueError as error:
        if "holds no window" not in str(error) or any(one.op != "Pad" for one in done.changes):
            raise
        return False
    return True


DRAWN_FOR = {"explicit-pads", "split-pads", "absorb-pad"}


@pytest.mark.parametrize("rule", all_passes().values(), ids=lambda rule: rule.name)
@pytest.mark.parametrize("kind", KINDS)
def test_small_models(rule: Pass, kind: str) -> None:
    agreed = 0
    for case in drawn(kind):
        done = rewrite(case.model(), passes=[rule.name])
        if done.changed and fits(case, done):
            agreed += checked(case, done, run_model(case.model(), case.feed())["y"])
    # The cases are drawn for the first three passes; the others find less to do in them.
    assert agreed >= 5 or rule.name not in DRAWN_FOR
