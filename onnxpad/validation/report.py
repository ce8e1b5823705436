"""What validation found, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import isfinite
from typing import Any, Literal

from onnxpad.errors import either, larger_text
from onnxpad.padding.effective_pads import facts_text
from onnxpad.probing.agreement import DifferenceMap
from onnxpad.probing.live import RuntimeRan
from onnxpad.probing.whole import FirstDifferent, WholeRun
from onnxpad.proof import Counterexample, Proved
from onnxpad.reports import InNotebooks, plain

SCHEMA = 5


class Verdict(StrEnum):
    """How two models compare; true where they agree, `proved` where that is proved.

    Identical and rounding are what samples showed: `if verdict` passes them, `if verdict.proved`
    does not. `tolerated` is only said where a tolerance was asked for: apart by more than rounding
    explains.
    """

    PROVED = "proved"
    IDENTICAL = "identical"
    ROUNDING = "rounding"
    DIFFERENT = "different"
    UNVERIFIED = "unverified"
    TOLERATED = "tolerated"

    def __bool__(self) -> bool:
        """Whether the models agree, so that a condition asks what it seems to ask."""
        return self not in (Verdict.DIFFERENT, Verdict.UNVERIFIED)

    @property
    def proved(self) -> bool:
        """Whether a proof says so, and no run that was made disagrees."""
        return self is Verdict.PROVED

    @property
    def judged(self) -> bool:
        """Whether something is known."""
        return self is not Verdict.UNVERIFIED


SEVERITY = (Verdict.IDENTICAL, Verdict.ROUNDING, Verdict.UNVERIFIED, Verdict.DIFFERENT)
ONNXRUNTIME, KERNEL, NOBODY = "onnxruntime", "onnxpad proof", "nobody"
EVALUATOR = "onnxpad float64 evaluator"
_MAPS = 8


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One output in one sample at one optimisation level of onnxruntime ('off' or 'on').

    `bound` is the largest difference that rounding may cause, where it was needed. Shapes are None
    where nothing ran. `difference` is the map of an output in the first row where it lies beyond
    its bound, of models that do not agree.
    """

    sample: int
    output: str
    level: str
    shape_before: tuple[int, ...] | None
    shape_after: tuple[int, ...] | None
    equal: bool
    max_abs: float | None
    bound: float | None = None
    where: str = ""
    difference: DifferenceMap | None = None

    @property
    def other_shape(self) -> bool:
        """Whether the shapes differ, so that no number says how far the values are apart."""
        return None not in (self.shape_before, self.shape_after) and (
            self.shape_before != self.shape_after
        )


def with_few_maps(rows: Sequence[OutputRow], *, agree: bool) -> tuple[OutputRow, ...]:
    """The rows with one map for each of the first outputs; with none where the models agree."""
    mapped = [row for row in rows if row.difference is not None and not agree]
    first = [*{row.output: row for row in reversed(mapped)}.values()][-_MAPS:]
    return tuple(row if row in first else replace(row, difference=None) for row in rows)


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first tensor, in the model's order, that differs by more than rounding, and its node."""

    node: str
    tensor: str
    max_abs: float | None
    where: str
    difference: DifferenceMap | None = None

    def amount(self) -> str:
        """How large the difference is, and where, in words."""
        where = f" ({self.where})" if self.where else ""
        if self.max_abs is None or not isfinite(self.max_abs):
            return where
        return f" by up to {self.max_abs:.3g}{where}"


@dataclass(frozen=True, slots=True)
class ProofReport:
    """Whether two models are the same function over the reals, and what that rests on.

    `proved` holds for all values of the inputs, for all sizes of the dimensions `open_sizes`, and
    for those of `dims` as it says; `rounded` says that a float was taken for the fraction that it
    rounds ("up to rounding of constants"). It errs with `probability`, over random points that no
    file can foresee. `readings` are choices that the ONNX text leaves open. `refuted` has a
    `counterexample`, except where inputs or outputs themselves are not the same; of `undecided`,
    `reason` says what stood in the way, and where that was the size of the work, `limits` has
    larger limits, {'timeout': 600}, and `fixing` sizes of open dimensions, with which it is less.
    Each of `regions` is a changed part that was proved: the `outputs` that it makes from the
    tensors `cuts`, evaluated at so many `sizes`.
    Nothing is said about rounding, NaN, infinities in the data, or what a runtime does. It has no
    truth of its own: ask `proved`.
    """

    verdict: Literal["proved", "refuted", "undecided"]
    reason: str
    rounded: bool
    open_sizes: tuple[str, ...]
    dims: Mapping[str, int | str]
    regions: tuple[Proved, ...]
    readings: tuple[str, ...]
    probability: float
    seconds: float
    counterexample: Counterexample | None = None
    fixing: Mapping[str, int] = field(default_factory=dict)
    limits: Mapping[str, int | str] = field(default_factory=dict)

    @property
    def proved(self) -> bool:
        """Whether both are the same function, whatever runs showed."""
        return self.verdict == "proved"

    @property
    def obstacle(self) -> str:
        """The reason, with what to type on the command line where that helps."""
        fixed = facts_text(tuple(self.fixing.items()))
        helps = f"; fixed sizes help: {fixed}" if fixed else ""
        return f"{self.reason}{larger_text(self.limits)}{helps}"

    @property
    def is_formal(self) -> bool:
        """Whether both models are other formulas, of which no numbers are known that differ."""
        return self.verdict == "undecided" and "differs in form" in self.reason

    def to_json(self) -> dict[str, Any]:
        """The report as plain data; of the counterexample's inputs, their shapes."""
        found: dict[str, Any] = plain(replace(self, counterexample=None))
        if (shown := self.counterexample) is not None:
            shapes = {name: list(value.shape) for name, value in shown.inputs.items()}
            found["counterexample"] = plain(replace(shown, inputs={})) | {"inputs": shapes}
        return found


@dataclass(frozen=True, slots=True)
class ToleranceReport:
    """Whether runs stay within |a - b| <= atol + rtol * |b|, b of the reference or first model.

    `share` is the largest difference that was seen, divided by what is allowed there.
    """

    atol: float
    rtol: float
    share: float
    met: bool


@dataclass(frozen=True, slots=True)
class RunReport:
    """What runs alone say of two models; the rows of the report say it in numbers.

    `counterexample` is what running the proof's counterexample showed, None where that was not run.
    `refused` is what onnxruntime said where it ran neither model on any sample. Of a model in the
    runtime of a target, `runtime` is what ran, `largest_difference` that of all outputs, and
    `first_different` the first tensor, in the order of the model, that the runtime computes
    otherwise.
    """

    verdict: Verdict
    reason: str
    judge: str
    counterexample: Verdict | None = None
    refused: str = ""
    runtime: RuntimeRan | None = None
    largest_difference: float | None = None
    first_different: FirstDifferent | None = None

    @property
    def ok(self) -> bool:
        """Whether what ran agrees."""
        return bool(self.verdict)


@dataclass(frozen=True, slots=True, repr=False)
class Validation(InNotebooks):
    """The verdict on two models, or on a model and a reference, and what it rests on.

    True, like `ok` and `verdict`, where the models agree; `proved` where that is proved. `proof`
    and `run` are what each of them says, None where it was not made; `verdict`, `reason` and
    `judge` follow from both. `compared` says what 'before' and 'after' stand for in the rows;
    `hints` are what to try. `tolerance` is set where one was asked for, `runtimes` has the runs of
    the whole model in those of targets.
    """

    verdict: Verdict
    reason: str
    judge: str
    providers: dict[str, tuple[str, ...]]
    device: str
    seed: int | None
    outputs: tuple[OutputRow, ...] = ()
    first_difference: FirstDifference | None = None
    warnings: tuple[str, ...] = ()
    input_shapes: tuple[dict[str, tuple[int, ...]], ...] = field(default=())
    compared: tuple[str, str] = ("before", "after")
    hints: tuple[str, ...] = ()
    proof: ProofReport | None = None
    run: RunReport | None = None
    tolerance: ToleranceReport | None = None
    runtimes: tuple[WholeRun, ...] = ()

    def __repr__(self) -> str:
        return f"<Validation {self}>"

    def __str__(self) -> str:
        """'rounding: why; try ...', and that a proof was tried and did not end."""
        tries = f"; try {either(self.hints)}" if self.hints else ""
        proof = self.proof if self.ok else None
        unproved = proof is not None and proof.verdict == "undecided"
        more = f"; not proved: {proof.obstacle}" if proof and unproved else ""
        return f"{self.verdict}: {self.reason}{tries}{more}"

    @property
    def ok(self) -> bool:
        """Whether the models agree: proved, identical, or apart by rounding or a tolerance only."""
        return bool(self.verdict)

    def __bool__(self) -> bool:
        return self.ok

    @property
    def proved(self) -> bool:
        """Whether a proof says that the models agree, and no run that was made disagrees."""
        return self.verdict.proved

    def to_json(self) -> dict[str, Any]:
        """Numbers, texts, lists and dicts; `schema` says how to read them.

        Differences that are infinite or no number are written as texts.
        """
        content = {"schema": SCHEMA, "ok": self.ok, **plain(replace(self, proof=None))}
        return content if self.proof is None else content | {"proof": self.proof.to_json()}
