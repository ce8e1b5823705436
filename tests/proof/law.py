"""Rewrites and mutants of random models under the kernel: what the tests and long runs share."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import onnx

import onnxpad
from onnxpad.proof import Limits, Proof, prove
from onnxpad.rewriting.passes import all_passes
from tests.oracle.interpreter import run_model
from tests.proof.mutations import mutant
from tests.random_models.applying import applying
from tests.random_models.building import Built, build
from tests.random_models.drawing import draw
from tests.random_models.feeding import Feed, feeds, stated
from tests.random_models.kinds import KINDS
from tests.random_models.spec import Spec

REASONS = (
    "sizes are open, and ",
    "input 1 of ",
    "output_padding ",
    "lemma 2 asks for ",
    "the budget of ",
    "the first model has no result at any size",
)
"""Why a right rewrite may be undecided, as its reason begins."""


@dataclass
class Tally:
    """Counts of verdicts, by pass and by reason; `wrong` are those that no law allows."""

    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    open_sizes: int = 0
    rounded: int = 0

    def add(self, what: str, proof: Proof) -> None:
        self.verdicts[what, proof.verdict] += 1
        self.seconds.append(proof.seconds)
        if proof.verdict == "undecided":
            self.reasons[proof.reason] += 1
        elif proof.verdict == "proved":
            self.open_sizes += any(region.open_sizes for region in proof.regions)
            self.rounded += proof.rounded

    def merge(self, other: "Tally") -> None:
        self.verdicts.update(other.verdicts)
        self.reasons.update(other.reasons)
        self.wrong += other.wrong
        self.seconds += other.seconds
        self.open_sizes += other.open_sizes
        self.rounded += other.rounded


def random_spec(number: int, seed: int) -> Spec:
    """The kinds in turn."""
    kinds = sorted(KINDS)
    return draw(kinds[number % len(kinds)], seed * 100_003 + number)


def rewrites(spec: Spec, built: Built) -> Iterator[tuple[str, onnx.ModelProto]]:
    """What every pass that applies makes of a model."""
    for name in applying(built.model, all_passes(), stated(spec)):
        done = onnxpad.rewrite(built.model, passes=[name], dims=stated(spec))
        if done.changed:
            assert isinstance(done.model, onnx.ModelProto)
            yield name, done.model


def judge_rewrites(number: int, seed: int, seconds: float = 20) -> Tally:
    """Every rewrite of one model is proved, or its reason stands in the list."""
    tally, spec = Tally(), random_spec(number, seed)
    built = build(spec)
    for name, after in rewrites(spec, built):
        proof = prove(built.model, after, dims=stated(spec), limits=Limits(seconds=seconds))
        tally.add(name, proof)
        listed = proof.verdict == "undecided" and proof.reason.startswith(REASONS)
        if proof.verdict != "proved" and not listed:
            tally.wrong.append(f"{name}: {proof}\n{spec!r}")
    return tally


def judge_mutants(number: int, seed: int, each: int = 3, seconds: float = 10) -> Tally:
    """No mutant that computes something else by the oracle is proved."""
    rng = np.random.default_rng([seed, number])
    tally, spec = Tally(), random_spec(number, seed)
    built = build(spec)
    fed, found = feeds(spec, built), list(rewrites(spec, built))
    for at in rng.permutation(len(found))[:2].tolist():
        name, after = found[at]
        for _ in range(each):
            other, change = mutant(after, rng)
            if not change:
                continue
            proof = prove(built.model, other, dims=stated(spec), limits=Limits(seconds=seconds))
            label = observed(built.model, other, fed)
            tally.add(label, proof)
            if proof.verdict == "proved" and label == "differs":
                tally.wrong.append(f"proved after {name}, {change}\n{spec!r}")
    return tally


def observed(before: onnx.ModelProto, after: onnx.ModelProto, fed: list[Feed]) -> str:
    """Whether the tests' interpreter sees a difference: "same", "differs", "no result" before."""
    results = [_run(before, feed) for feed in fed]
    if all(result is None for result in results):
        return "no result"
    for feed, result in zip(fed, results, strict=True):
        if result is not None:
            other = _run(after, feed)
            if other is None or not _alike(result, other):
                return "differs"
    return "same"


def _run(model: onnx.ModelProto, feed: Feed) -> Feed | None:
    try:
        return run_model(model, feed)
    except (ValueError, TypeError, IndexError, ArithmeticError, NotImplementedError):
        return None


def _alike(first: Feed, second: Feed) -> bool:
    if list(first) != list(second):
        return False
    for a, b in zip(first.values(), second.values(), strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        # The lowest finite float counts as -inf: that is a reading of the kernel.
        left, right = (np.where(x <= -3.4e38, -np.inf, x.astype(np.float64)) for x in (a, b))
        room = 1e-4 * max(1.0, float(np.abs(left[np.isfinite(left)]).max(initial=0)))
        with np.errstate(invalid="ignore"):
            near = (left == right) | (np.abs(left - right) <= room)
        if not (near | (np.isnan(left) & np.isnan(right))).all():
            return False
    return True
