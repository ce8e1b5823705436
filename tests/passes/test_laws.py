"""Laws of all passes on models: the file that comes out computes what the file that went in did."""

import os
from collections.abc import Iterator
from itertools import islice, permutations

import numpy as np
import onnx
import pytest

from onnxpad.forms import Form, forms_of
from onnxpad.graph.editing.session import Session
from onnxpad.ops import Kind
from onnxpad.passes import Pass, all_passes
from onnxpad.rewriting import Rewriting, rewrite
from tests.interpreter import run_model
from tests.passes.small_models import Array, Case, draw, strata, sweep
from tests.passes.small_operators import OPERATORS

DRAWN_FOR = {"explicit-pads", "split-pads", "absorb-pad"}
EXHAUSTIVE = os.environ.get("ONNXPAD_EXHAUSTIVE") == "1"
PASSES = list(all_passes().values())
each_pass = pytest.mark.parametrize("rule", PASSES, ids=lambda rule: rule.name)
each_operator = pytest.mark.parametrize("kind", OPERATORS)


def cases(kind: str, ranks: tuple[int, ...]) -> Iterator[Case]:
    """A stratified sample for one operator: what is in front, and how its padding is written."""
    rng = np.random.default_rng(sorted(OPERATORS).index(kind))
    for rank in ranks:
        for name, front, padding in strata():
            if name == kind:
                yield draw(rng, kind, front, padding, rank)


def computed(model: onnx.ModelProto, case: Case) -> Array | None:
    """The result; None where no window fits."""
    try:
        return run_model(model, case.feed())["y"]
    except ValueError as error:
        if "holds no window" not in str(error):
            raise
        return None


def valid(model: onnx.ModelProto) -> bool:
    """Whether the checker and strict shape inference have nothing against the model."""
    try:
        onnx.checker.check_model(model, full_check=True)
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def forms_in(model: onnx.ModelProto) -> frozenset[Form]:
    """The forms of every padded operator, read anew."""
    chains = [site.chain for site in Session(model).sites()]
    return frozenset().union(*(forms_of(c) for c in chains if c.op.kind is not Kind.PAD))


def assert_same(found: Array | None, wanted: Array | None) -> None:
    """Equal bit by bit, but for what averages and norms of the oracle round in float64."""
    assert found is not None
    assert wanted is not None, "no window fits, and yet it was rewritten"
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if np.array_equal(found, wanted):
        return
    assert found.dtype.kind == "f"
    rounding = {"float32": 2e-6, "float64": 1e-9}[found.dtype.name]
    np.testing.assert_allclose(found, wanted, rtol=rounding, atol=0)


def assert_lawful(rule: Pass, case: Case, model: onnx.ModelProto) -> Rewriting:
    bytes_before = model.SerializeToString()
    done = rewrite(model, passes=[rule.name])
    after = done.model
    assert isinstance(after, onnx.ModelProto)
    assert model.SerializeToString() == bytes_before, "the given model was changed"
    assert all(refusal.skip.reason.strip() for refusal in done.skips)
    if not done.changed:
        assert after.SerializeToString() == bytes_before
        return done
    wanted = computed(model, case)
    if wanted is None and all(change.op == "Pad" for change in done.changes):
        assert computed(after, case) is None  # the operator behind the Pad has no window anyway
        return done
    assert_same(computed(after, case), wanted)
    before_forms, forms = forms_in(model), forms_in(after)
    assert not forms & rule.removes
    assert forms - before_forms <= rule.adds
    assert not rewrite(after, passes=[rule.name]).changed, "a second run changes it again"
    if valid(model):
        onnx.checker.check_model(after, full_check=True)
        assert valid(after)
    return done


@each_pass
@each_operator
def test_small_models(rule: Pass, kind: str) -> None:
    rewritten = 0
    for case in cases(kind, (1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3)):
        try:
            rewritten += assert_lawful(rule, case, case.model()).changed
        except AssertionError as error:
            raise AssertionError(f"{case}") from error
    # The cases are drawn for the first three passes; the others find less to do in them.
    few = kind.startswith("QLinearAveragePool") or rule.name not in DRAWN_FOR
    assert rewritten > (-1 if rule.name not in DRAWN_FOR else 0 if few else 30)


@each_operator
def test_most_small_models_are_valid(kind: str) -> None:
    drawn = [case.model() for case in cases(kind, (1, 2))]
    assert sum(map(valid, drawn)) > len(drawn) // 2


@each_operator
@pytest.mark.parametrize(
    "order", list(permutations((rule.name for rule in PASSES), 2)), ids="-".join
)
def test_two_passes_in_a_row(order: tuple[str, ...], kind: str) -> None:
    for case in islice(cases(kind, (1, 2)), 0, None, 3):
        done = rewrite(case.model(), passes=order)
        if done.changed:
            assert isinstance(done.model, onnx.ModelProto)
            wanted = computed(case.model(), case)
            if wanted is None and all(change.op == "Pad" for change in done.changes):
                continue
            assert_same(computed(done.model, case), wanted)


@pytest.mark.skipif(not EXHAUSTIVE, reason="takes an hour: set ONNXPAD_EXHAUSTIVE=1")
@each_pass
@pytest.mark.parametrize("part", range(20 if EXHAUSTIVE else 1))
def test_every_small_model(rule: Pass, part: int) -> None:
    for case in islice(sweep(), part, None, 20):
        try:
            assert_lawful(rule, case, case.model())
        except AssertionError as error:
            raise AssertionError(f"{case}") from error
