"""Laws of all passes on models: the file that comes out computes what the file that went in did."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import cycle, islice, permutations
from pathlib import Path

import numpy as np
import onnx
import pytest

from onnxpad.model.editing.session import EditSession
from onnxpad.padding.chain import Chain, Skip
from onnxpad.padding.forms import Form, forms_of
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.passes import Pass, all_passes
from onnxpad.rewriting.rewrite import Rewriting, rewrite
from tests.laws.small_draws import draw, strata, sweep
from tests.laws.small_models import Array, Case
from tests.laws.small_operators import OPERATORS
from tests.oracle.interpreter import run_model
from tests.random_models.applying import applying

TEXT_CASES = Path(__file__).parents[1] / "rewriting" / "cases"
EXHAUSTIVE = os.environ.get("ONNXPAD_EXHAUSTIVE") == "1"
PASSES = list(all_passes().values())
EXACT, IN_STEPS = {"float32": 2e-7, "float64": 1e-9}, {"float32": 2e-6, "float64": 1e-8}
each_operator = pytest.mark.parametrize("kind", OPERATORS)
CANNOT_RUN = re.compile(
    r"holds no window|crop more than|(reflect|edge|wrap) pads .* of an axis with \d+ cells"
)
"""What the oracle says of geometry that has no result."""


def cases(kind: str, ranks: Sequence[int]) -> Iterator[Case]:
    """A stratified sample for one operator: what is in front, and how its padding is written."""
    rng = np.random.default_rng(sorted(OPERATORS).index(kind))
    for rank in ranks:
        for name, front, padding in strata():
            if name == kind:
                yield draw(rng, kind, front, padding, rank)


def computed(model: onnx.ModelProto, case: Case) -> Array | None:
    """The result; None where there is none, for example because no window fits."""
    try:
        return run_model(model, case.feed())["y"]
    except ValueError as error:
        if not CANNOT_RUN.search(str(error)):
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


def forms_in(model: onnx.ModelProto, case: Case, rule: Pass | None = None) -> frozenset[Form]:
    """The forms of every padded operator, read anew; those of Pads where the case is about one.

    With `rule`, nodes that it refuses are left out.
    """
    chains = [site.chain for site in EditSession(model).sites_now()]
    kept = [chain for chain in chains if case.op == "Pad" or chain.op.kind is not Kind.PAD]
    if rule is not None:
        kept = [chain for chain in kept if not is_refused(rule, chain)]
    return frozenset().union(*map(forms_of, kept))


def is_refused(rule: Pass, chain: Chain) -> bool:
    verdict = rule.rewrite(chain)
    return isinstance(verdict, Skip) and not verdict.moot


def assert_same(found: Array | None, wanted: Array, rounding: dict[str, float]) -> None:
    """Equal bit by bit, but for what averages and norms of the oracle round in float64."""
    assert found is not None, "it cannot run any more"
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if np.array_equal(found, wanted):
        return
    assert found.dtype.kind == "f"
    finite = np.abs(wanted[np.isfinite(wanted)]).max(initial=0)
    allowed = rounding[found.dtype.name]
    floor = 0.0 if rounding is EXACT else allowed * float(finite)
    np.testing.assert_allclose(found, wanted, rtol=allowed, atol=floor)


def crops_too_much(case: Case) -> bool:
    """Whether the Pad in front would leave less than nothing, so that there is no size behind."""
    begins, ends = case.around[: len(case.spatial)], case.around[len(case.spatial) :]
    sizes = map(sum, zip(case.spatial, begins, ends, strict=True))
    return case.front != "none" and min(sizes) < 0


def assert_equal(case: Case, done: Rewriting, wanted: Array | None) -> None:
    """The rewritten model gives what was wanted; None: nothing, the original has no result."""
    assert isinstance(done.model, onnx.ModelProto)
    if wanted is None:
        # An open size may turn out to be too small for a window, one that is known may not.
        in_front = all(
            change.op == "Pad" and change.node.label != "node" for change in done.changes
        )
        # What numpy makes of a mirror wider than the axis is no result of the text.
        goes_on = "repeated-mirrors" in done.passes
        known = not (case.open_sizes or in_front or crops_too_much(case) or goes_on)
        assert not known, "no window fits, and yet it was rewritten"
        return
    only_chains = all(isinstance(change.after, Chain) for change in done.changes)
    assert_same(computed(done.model, case), wanted, EXACT if only_chains else IN_STEPS)


def auto_pads(model: onnx.ModelProto) -> list[bytes]:
    """What the nodes of a model write as auto_pad."""
    written = (item for node in model.graph.node for item in node.attribute)
    return [item.s for item in written if item.name == "auto_pad"]


def assert_lawful(rule: Pass, case: Case, model: onnx.ModelProto, wanted: Array | None) -> bool:
    """Whether the pass rewrote the model, which must obey the laws."""
    bytes_before = model.SerializeToString()
    done = rewrite(model, passes=[rule.name])
    after = done.model
    assert isinstance(after, onnx.ModelProto)
    assert model.SerializeToString() == bytes_before, "the given model was changed"
    assert all(refusal.skip.reason.strip() for refusal in done.skips)
    if not done.changed:
        assert after.SerializeToString() == bytes_before
        return False
    assert_equal(case, done, wanted)
    before_forms, forms = forms_in(model, case), forms_in(after, case)
    still = forms_in(after, case, rule) & rule.removes
    if Form.PAD_NODE in forms and all(mode == b"VALID" for mode in auto_pads(after)):
        still -= {Form.AUTO_PAD}  # new Pads in front of pools are spelled so
    assert not still, f"{still} are still there, and no Skip says why"
    assert forms - before_forms <= rule.adds, f"{forms - before_forms} are added"
    assert not rewrite(after, passes=[rule.name]).changed, "a second run changes it again"
    if valid(model):
        assert valid(after)
    return True


def judged(rule: Pass, case: Case, model: onnx.ModelProto, wanted: Array | None) -> bool:
    try:
        return assert_lawful(rule, case, model, wanted)
    except AssertionError as error:
        raise AssertionError(f"{rule.name}: {error}\n{case}") from error


def worth_a_rewrite(model: onnx.ModelProto, turn: int) -> list[Pass]:
    """Passes that find something to do, and one of the others, which must change nothing."""
    finding = set(applying(model, all_passes()))
    idle = [rule for rule in PASSES if rule.name not in finding]
    return [rule for rule in PASSES if rule.name in finding] + idle[turn % len(idle) :][:1]


def assert_small_models_lawful(
    kind: str, drawn: Iterable[Case], chosen: Callable[[onnx.ModelProto, int], list[Pass]]
) -> None:
    rewritten = 0
    for turn, case in enumerate(drawn):
        model = case.model()
        wanted = computed(model, case)
        rewritten += sum(judged(rule, case, model, wanted) for rule in chosen(model, turn))
    assert rewritten > 20 or kind == "Pad"


@pytest.mark.part(4)
@each_operator
def test_small_models(kind: str) -> None:
    """One stratum in four of 1-D, 2-D and 3-D; the others are a sweep."""
    every = islice(cases(kind, (1, 2, 3)), sorted(OPERATORS).index(kind) % 4, None, 4)
    assert_small_models_lawful(kind, every, worth_a_rewrite)


@pytest.mark.sweep
@each_operator
def test_more_small_models_and_passes_that_must_leave_them(kind: str) -> None:
    assert_small_models_lawful(kind, cases(kind, (1, 1, 1, 2, 2, 3)), lambda *_: PASSES)


@pytest.mark.sweep
@each_operator
def test_all_small_models(kind: str) -> None:
    assert_small_models_lawful(kind, cases(kind, (1, 2, 3)), worth_a_rewrite)


IN_TEXT = {
    "all-axes",
    "declared-shapes",
    "finite-value",
    "joined-pads",
    "plain-batches",
    "plain-col2im",
    "quantised-pad",
    "repeated-mirrors",
    "spatial-pads",
    "static-pads",
    "zero-value",
}
"""Passes for operators that the small models do not have; text cases have them."""


@cache
def drawn_models() -> list[onnx.ModelProto]:
    """Models of every operator; `rewrite` leaves them as they are."""
    return [case.model() for kind in OPERATORS for case in cases(kind, (1, 2))]


@pytest.mark.part(4)
@pytest.mark.parametrize("rule", PASSES, ids=lambda rule: rule.name)
def test_a_pass_rewrites_small_models(rule: Pass) -> None:
    if rule.name in IN_TEXT:
        assert "\n-- after" in (TEXT_CASES / f"{rule.name}.txt").read_text(encoding="utf-8")
        return
    found = 0
    for model in drawn_models():
        found += rewrite(model, passes=[rule.name]).changed
        if found == 10:
            return
    pytest.fail(f"of all models {rule.name} rewrites {found}: draw models that it is for")


@pytest.mark.part(3)
@each_operator
def test_most_small_models_are_valid(kind: str) -> None:
    drawn = list(cases(kind, (1, 2)))
    models = [case.model() for case in drawn]
    assert sum(map(valid, models)) > len(drawn) // 2
    pairs = zip(models, drawn, strict=True)
    assert sum(computed(model, case) is not None for model, case in pairs) > len(drawn) // 2


@pytest.mark.part(4)
@each_operator
def test_two_passes_in_a_row(kind: str) -> None:
    """Every ordered pair takes its turn, at one operator or another."""
    pairs = list(permutations((rule.name for rule in PASSES), 2))
    turn = cycle(pairs[sorted(OPERATORS).index(kind) % len(pairs) :] + pairs)
    for case in cases(kind, (1, 2)):
        model = case.model()
        wanted = computed(model, case)
        for order in islice(turn, 3):
            done = rewrite(model, passes=order)
            try:
                if done.changed:
                    assert_equal(case, done, wanted)
            except AssertionError as error:
                raise AssertionError(f"{order}: {error}\n{case}") from error


@pytest.mark.skipif(not EXHAUSTIVE, reason="takes hours: set ONNXPAD_EXHAUSTIVE=1")
@pytest.mark.parametrize("part", range(100 if EXHAUSTIVE else 1))
def test_every_small_model(part: int) -> None:
    for case in islice(sweep(), part, None, 100):
        model = case.model()
        wanted = computed(model, case)
        for rule in PASSES:
            judged(rule, case, model, wanted)
