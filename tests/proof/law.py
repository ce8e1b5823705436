"""Rewrites of random models under the kernel: what the tests and long runs share."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import onnx

import onnxpad
from onnxpad.proof import Limits, Proof, prove
from tests.names import PASSES
from tests.random_models.applying import applying
from tests.random_models.building import Built, build
from tests.random_models.drawing import draw
from tests.random_models.feeding import stated
from tests.random_models.kinds import KINDS
from tests.random_models.spec import Spec

REASONS = {
    "sizes are open, and flat Indices": "places of maxima count cells of all axes together",
    "sizes are open, and output_shape": "it is one number, whatever the size of the input",
    "sizes are open, and a size becomes data": "no lemma says how data grows with sizes",
    "input 1 of ": "pads that are an input, where no cut has rank and type behind them",
    "output_padding ": "runtimes refuse what the text leaves open",
    "too many numbers are computed with sizes": "a count for every cell, as large as the data",
    "lemma 2 asks for ": "strides and moduli make more sizes than the limit",
    "the budget of ": "many open axes of a large window",
    "an infinity meets arithmetic": "a scale that a caller may give instead: its sign is not known",
    "SAME over an axis of 0 cells": "what is in front leaves no cells at a stated size",
    "a polynomial of too high a degree": "quantised twice by a scale that a caller may give",
    "the first model has no result": "there is nothing to prove",
}
"""Why a right rewrite may be undecided: how its reason begins, and what is behind it."""


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
    for name in applying(built.model, PASSES, stated(spec)):
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
        listed = proof.verdict == "undecided" and proof.reason.startswith(tuple(REASONS))
        if proof.verdict != "proved" and not listed:
            tally.wrong.append(f"{name}: {proof}\n{spec!r}")
    return tally
