"""Random models in parts, and proofs that the hunt finds what is wrong."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from onnxpad import Skip
from onnxpad.padding.chain import AutoPad, Chain, Pads, PadStep
from onnxpad.padding.expansion import Expansion
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form
from onnxpad.rewriting import passes
from onnxpad.rewriting.passes import Pass
from tests.random_models.applying import applying
from tests.random_models.building import build
from tests.random_models.checking import check, failure
from tests.random_models.drawing import draw
from tests.random_models.feeding import stated
from tests.random_models.kinds import KINDS, newest_opset
from tests.random_models.spec import Spec, Step  # noqa: F401 - named in cases

HERE = Path(__file__).parent
TEXT_CASES = HERE.parent / "rewriting" / "cases"
MODELS, PAIRS = 2, 3
SWEPT = 16
"""So many times as many models are drawn by a sweep."""
Rewrite = Callable[[Chain], Chain | Expansion | Skip]
RULES = dict(passes.all_passes())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "part", [0, *(pytest.param(n, marks=pytest.mark.sweep) for n in range(1, SWEPT))]
)
def test_every_pass_on_every_operator(kind: str, part: int) -> None:
    found = [check(draw(kind, seed), PAIRS) for seed in range(part * MODELS, (part + 1) * MODELS)]
    failures = [one for checked in found for one in checked.failures]
    assert not failures, "\n".join(map(str, failures[:3]))
    assert any(checked.judged for checked in found)


IN_TEXT = {
    *("all-axes", "crop-by-slice", "declared-shapes", "joined-pads", "plain-batches"),
    *("quantised-pad", "repeated-mirrors", "static-pads"),
}
"""Passes for what few of the models have; text cases have it."""


def test_a_pass_has_models_that_it_is_for() -> None:
    """At least five of those drawn, or a text case."""
    few = set(passes.all_passes()) - IN_TEXT
    found: Counter[str] = Counter()
    for seed, kind in product(range(60), KINDS):
        if few:
            spec = draw(kind, seed)
            found.update(applying(build(spec).model, few, stated(spec)))
            few = {name for name in few if found[name] < 5}
    assert few == set()
    for name in IN_TEXT:
        assert "\n-- after" in (TEXT_CASES / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_draws_are_repeatable_and_printable(kind: str) -> None:
    for seed in range(20):
        spec = draw(kind, seed)
        assert spec == draw(kind, seed)
        assert eval(repr(spec)) == spec  # noqa: S307 - what is printed can be pasted
        model = build(spec).model.SerializeToString()
        assert model == build(spec).model.SerializeToString()


@pytest.mark.sweep
def test_the_draws_reach_everything() -> None:
    drawn = [draw(kind, seed) for kind in KINDS for seed in range(150)]
    assert {spec.opset for spec in drawn} == set(range(7, newest_opset() + 1))
    assert {spec.rank for spec in drawn} == {1, 2, 3}
    places = {"main", "if", "loop", "loop carried", "scan", "function", "function twice"}
    assert {spec.place for spec in drawn} == places | {"function attributes"}
    steps = {step.op for spec in drawn for step in spec.front}
    assert steps >= {"Pad", "Relu", "Sigmoid", "Transpose", "Unsqueeze", "Cast", "QuantizeLinear"}
    pads = [step for spec in drawn for step in spec.front if step.op == "Pad"]
    assert {step.mode for step in pads} == {"constant", "reflect", "edge", "wrap"}
    assert {step.source for step in pads} == {"constant", "chain", "shape", "input"}
    assert {spec.extra for spec in drawn} == {"", "twin", "reader", "output"}


def without_ceil(chain: Chain) -> Chain | Expansion | Skip:
    return replace(chain, ceil_mode=False) if chain.ceil_mode else Skip("none", moot=True)


def same_by_the_size_of_the_kernel(chain: Chain) -> Chain | Expansion | Skip:
    """SAME as onnx's own inference once had it: for stride 1 whatever the stride is."""
    if chain.padding is not AutoPad.SAME_UPPER:
        return Skip("no SAME_UPPER", moot=True)
    totals = [axis.span - 1 for axis in chain.axes]
    begins = tuple(total // 2 for total in totals)
    ends = tuple(total - begin for total, begin in zip(totals, begins, strict=True))
    return replace(chain, padding=Pads(begins, ends))


def any_value_absorbed(chain: Chain) -> Chain | Expansion | Skip:
    fitting = chain.fill if isinstance(chain.fill, Constant) else Constant(float("-inf"))
    near, far = (
        replace(step, fill=fitting) if step and isinstance(step.fill, Constant) else step
        for step in (chain.pad, chain.around.far_pad)
    )
    around = replace(chain.around, far_pad=far)
    return RULES["absorb-pad"].rewrite(replace(chain, pad=near, around=around))


def split_with_zero(chain: Chain) -> Chain | Expansion | Skip:
    verdict = RULES["split-pads"].rewrite(chain)
    if not isinstance(verdict, Chain) or not isinstance(verdict.pad, PadStep):
        return verdict
    return replace(verdict, pad=replace(verdict.pad, fill=Constant(0)))


def never_ends(chain: Chain) -> Chain | Expansion | Skip:
    if chain.op.name != "Conv" or not isinstance(chain.padding, Pads) or chain.pad is not None:
        return Skip("no Conv with pads", moot=True)
    return replace(chain, padding=Pads(chain.padding.begins[::-1], chain.padding.ends))


BROKEN: list[tuple[Rewrite, str]] = [
    (without_ceil, "MaxPool"),
    (same_by_the_size_of_the_kernel, "Conv"),
    (any_value_absorbed, "Conv"),
    (any_value_absorbed, "MaxPool"),
    (split_with_zero, "MaxPool"),
    (split_with_zero, "QLinearConv"),
    (never_ends, "Conv"),
]


@pytest.mark.parametrize(
    ("rewrite", "kind"), BROKEN, ids=lambda value: getattr(value, "__name__", value)
)
def test_broken_passes_are_caught(
    monkeypatch: pytest.MonkeyPatch, rewrite: Rewrite, kind: str
) -> None:
    every = frozenset(Form)
    rule = Pass("broken", every, every, rewrite, "")
    monkeypatch.setattr(passes, "all_passes", lambda: {"broken": rule})
    drawn = (check(draw(kind, seed), 0).failures for seed in range(600))
    first, *_ = next(filter(None, drawn), [None])
    assert first is not None
    assert failure(first.spec, ("broken",)) == first.reason


@pytest.mark.parametrize("line", (HERE / "cases" / "passing.txt").read_text().splitlines())
def test_specs_that_once_failed_pass(line: str) -> None:
    """The judge's own errors: a SAME whose kernel is not written, one of several calls of a
    function, a Pad that may be fused beside one that is."""
    passes, _, spec = line.partition(" : ")
    assert failure(eval(spec), tuple(passes.split(","))) is None  # noqa: S307 - a line of ours
