"""Rewritten models by onnxruntime, as they are written and as it optimises them by default."""

from collections import Counter

import numpy as np
import onnx
import pytest

from onnxpad.padding.chain import AutoPad, Chain, Pads
from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.rewrite import Rewriting, rewrite
from tests.laws.small_draws import draw, strata
from tests.laws.small_models import Array, Case
from tests.laws.small_operators import OPERATORS
from tests.models.one_node import assert_same
from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import ran
from tests.random_models.applying import applying

ROUNDING = {"AveragePool": 1e-6, "LpPool": 1e-5}
KINDS = [kind for kind in OPERATORS if kind not in ("AveragePool double", "LpPool double")]
ENOUGH = 4
"""Models that each pass is judged by, of each operator that it rewrites."""


def right(found: Array | str, wanted: Array, case: Case, done: Rewriting) -> bool:
    if isinstance(found, str):
        return False
    if case.op == "QLinearAveragePool" and found.shape == wanted.shape:
        # Its means are float32, and ties are often missed by one.
        return int(np.abs(found.astype(int) - wanted).max()) <= 1
    in_steps = not all(isinstance(change.after, Chain) for change in done.changes)
    try:
        assert_same(found, wanted, 1e-5 if in_steps else ROUNDING.get(case.op, 0.0))
    except AssertionError:
        return False
    return True


def drawn(kind: str) -> list[Case]:
    """Cases for each thing that may be in front and each way to write the padding."""
    rng = np.random.default_rng(99 + sorted(OPERATORS).index(kind))
    rows = [row for row in strata() if row[0] == kind]
    found = [draw(rng, *row, 1 + n % 2) for n, row in enumerate(rows * 4)]
    return [found[n] for n in rng.permutation(len(found))]


def resolved(done: Rewriting) -> bool:
    """Whether auto_pad became pads."""
    return any(
        isinstance(change.before.padding, AutoPad)
        and isinstance(getattr(change.after, "padding", None), Pads)
        for change in done.changes
    )


def result_of(case: Case) -> Array | None:
    try:
        return run_model(case.model(), case.feed())["y"]
    except ValueError:
        return None


def checked(case: Case, done: Rewriting, wanted: Array) -> int:
    """How often onnxruntime agreed that a rewritten model is right."""
    assert isinstance(done.model, onnx.ModelProto)
    agreed = 0
    for optimised in (False, True):
        before = ran(case.model(), case.feed(), optimised=optimised)
        after = ran(done.model, case.feed(), optimised=optimised)
        # What onnxruntime makes of auto_pad is often wrong, what it makes of pads is right, but
        # for what lies over the end in QLinearAveragePool with ceil_mode.
        known = case.op == "QLinearAveragePool" and case.ceil
        repaired = resolved(done) and not optimised and not known
        if right(before, wanted, case, done) or repaired:
            assert right(after, wanted, case, done), f"{optimised=} {before} {after} {wanted}"
            agreed += 1
    return agreed


@pytest.mark.part(2)
@pytest.mark.parametrize("kind", KINDS)
def test_small_models(kind: str) -> None:
    judged: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for case in drawn(kind):
        wanting = [rule for rule in all_passes() if judged[rule] < ENOUGH]
        for rule in applying(case.model(), wanting):
            done = rewrite(case.model(), passes=[rule])
            wanted = result_of(case) if done.changed else None
            if wanted is None:
                continue
            judged[rule] += 1
            try:
                agreed[rule] += checked(case, done, wanted)
            except AssertionError as error:
                raise AssertionError(f"{rule}: {error}\n{case}") from error
    assert judged or kind == "Pad", "no pass rewrites any of the models"
    assert all(agreed[rule] for rule in judged if judged[rule] == ENOUGH), (judged, agreed)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool", "LpPool"])
def test_default_optimisations_of_pools(kind: str) -> None:
    """onnxruntime fuses Pads into pools; what it computes right before, it does afterwards."""
    rng = np.random.default_rng(len(kind))
    rows = [row for row in strata() if row[0] == kind and row[1] in ("none", "zero")]
    agreed = 0
    for row in rows * 6:
        case = draw(rng, *row, 1)
        wanted = result_of(case)
        if wanted is None:
            continue
        before = ran(case.model(), case.feed(), optimised=True)
        for rule in applying(case.model(), all_passes()):
            done = rewrite(case.model(), passes=[rule])
            assert isinstance(done.model, onnx.ModelProto)
            if done.changed and right(before, wanted, case, done):
                after = ran(done.model, case.feed(), optimised=True)
                assert right(after, wanted, case, done), f"{rule}\n{case}\n{after}\n{wanted}"
                agreed += 1
    assert agreed > 20
