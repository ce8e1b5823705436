"""Both models with optimisations off: equal outputs, or changed parts judged on their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import LimitMet, OnnxpadError, headline
from onnxpad.model.comparing.regions import Region, regions
from onnxpad.padding.operators import operator
from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import gap, largest, relative_gap, same, untelling
from onnxpad.validation.bench import Bench, Results
from onnxpad.validation.changed_parts import Case
from onnxpad.validation.hidden import Prober, reached, warned
from onnxpad.validation.report import (
    EVALUATOR,
    NOBODY,
    FirstDifference,
    OutputRow,
    RegionRow,
    Verdict,
)
from onnxpad.validation.samples import (
    Pair,
    Ran,
    captured,
    degenerate,
    failure_text,
    lacking,
    max_pools,
    output_rows,
    run_both,
    without_repeats,
)

Array = NDArray[Any]
# Tensors of one name that differ by more than this are taken for different tensors.
GROSS = 2.0**-7
MERGES = 3


@dataclass(eq=False)
class Verifier:
    """Judges samples one by one; what it learns about the structure is kept for the next one.

    `proved` says that the models are the same function, so that no value of an input tells more
    about them than another.
    """

    bench: Bench
    pair: Pair
    proved: bool = False
    apart: frozenset[str] = frozenset()
    found: list[Region] = field(default_factory=list)
    settled: bool = False
    probed: bool = False
    _apart_by_text: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._locate()

    def _locate(self) -> None:
        self.found = regions(self.pair.before, self.pair.after, self.apart)

    @property
    def probes(self) -> tuple[str, ...]:
        """Tensors to capture: what goes into and comes out of changed regions, and max pools."""
        names = {name for region in self.found for name in (*region.inputs, *region.outputs)}
        names |= set(max_pools(self.pair.before)) & self.pair.after.producers.keys()
        inner = names - set(self.pair.before.fed) - set(self.pair.before.outputs)
        return tuple(sorted(inner))

    def judged(self, ran: Ran) -> SampleFinding:
        """The verdict on one sample; after one that differs, the others are only compared."""
        rows = output_rows(self.pair, ran)
        if self.settled and not isinstance(ran.before, RunFailure):
            equal = all(row.equal for row in rows)
            return SampleFinding(rows, [], Verdict.IDENTICAL if equal else Verdict.DIFFERENT, "")
        if isinstance(ran.after, RunFailure) and not isinstance(ran.before, RunFailure):
            return SampleFinding(rows, [], Verdict.DIFFERENT, failure_text(ran))
        if said := failure_text(ran):
            self.bench.warn(said)
        judged = self._regions(ran)
        first, whole = judged, ran
        for _ in range(MERGES):
            names = self._misnamed(ran, judged)
            if not names:
                break
            self.apart |= names
            self._locate()
            ran = run_both(self.bench, self.pair, ran.index, ran.feeds, self.probes)
            judged = self._regions(ran)
        apart = [row for row in first if row.verdict is Verdict.DIFFERENT]
        hidden = next((row for row in apart if not renamed(self.pair, whole, judged, row)), None)
        finding = self._concluded(ran, rows, judged, (first, hidden))
        if not self.probed and finding.verdict in (Verdict.IDENTICAL, Verdict.ROUNDING):
            finding = self._probed(ran, finding)
        self.settled = finding.verdict is Verdict.DIFFERENT
        return finding

    def judged_briefly(self, ran: Ran) -> SampleFinding | None:
        """The finding on a sample that differs by more than rounding, None where none does."""
        before, after = ran.before, ran.after
        if isinstance(before, dict) and isinstance(after, dict):
            apart = [n for n in self.pair.before.outputs if not same(before[n], after[n])]
            if not apart or self._by_noise(ran, before, after):
                return None
        found = self.judged(run_both(self.bench, self.pair, ran.index, ran.feeds, self.probes))
        return found if found.verdict in (Verdict.DIFFERENT, Verdict.UNVERIFIED) else None

    def _by_noise(self, ran: Ran, before: Mapping[str, Array], after: Mapping[str, Array]) -> bool:
        """Whether the outputs lie within what rounding moves those of both models."""
        total: dict[str, Array] = {}
        for network, values in zip(self.pair.both(), (before, after), strict=True):
            bounds = self.bench.noise(network, ran.feeds, values)
            if bounds is None or any(before[n].shape != after[n].shape for n in before):
                return False
            total = {name: total.get(name, 0.0) + bound for name, bound in bounds.items()}
        wide = any(untelling(before[n], largest(bound)) for n, bound in total.items())
        return not wide and all(gap(before[n], after[n], total[n]).within for n in before)

    def _probed(self, ran: Ran, finding: SampleFinding) -> SampleFinding:
        """The finding on a sample whose outputs agree, with what probes of changed parts show."""
        names = set(self.probes)
        if any(isinstance(r, dict) and not names <= r.keys() for r in (ran.before, ran.after)):
            ran = run_both(self.bench, self.pair, ran.index, ran.feeds, self.probes)
        self.probed = True
        prober = Prober(self.bench, self.pair, self.found, proved=self.proved)
        hidden = prober.probed(ran)
        for one in hidden:
            if one.shown is False:
                self.bench.warn(warned(one))
        seen = [one for one in hidden if one.shown is not False]
        if not seen:
            for feeds in () if self.proved else prober.scaled(ran):
                moved = run_both(self.bench, self.pair, ran.index, feeds, self.probes)
                runs = isinstance(moved.before, dict) and not degenerate(
                    self.pair.before, moved.before
                )
                if runs and (worse := self.judged_briefly(moved)):
                    return worse
            return finding
        rows = [reached(one) for one in seen]
        if seen[0].shown:
            return SampleFinding(finding.outputs, rows, Verdict.DIFFERENT, "")
        why = (
            f"'{rows[0].tensor}' differs where the part runs alone on inputs of other sizes "
            f"({rows[0].where}); whether the models ever give it such inputs is not known"
        )
        return SampleFinding(finding.outputs, rows, Verdict.UNVERIFIED, why)

    def _regions(self, ran: Ran) -> list[RegionRow]:
        try:
            values, reason = captured(self.bench, self.pair, ran)
        except LimitMet:
            raise
        except OnnxpadError as error:
            return [_unjudged(ran, headline(error))]
        judged = []
        for region in self.found:
            if not values.keys() >= set(region.inputs):
                judged.append(_unjudged(ran, reason))
                continue
            feeds = {name: values[name] for name in region.inputs}
            case = Case(self.bench, self.pair.both(), region, feeds)
            if self._agrees(ran, region):
                case.check_text({name: values[name] for name in region.outputs})
            else:
                self.bench.progress(f"sample {ran.index}: {', '.join(region.outputs)}")
                row = case.judged(ran.index)
                judged.append(row)
                if row.verdict is Verdict.DIFFERENT and _lacks(ran):
                    self._apart_by_text |= {row.tensor} if case.agrees_by_text() is False else set()
        return judged

    def _agrees(self, ran: Ran, region: Region) -> bool:
        """Whether the whole runs already show equal inputs and outputs of the region."""
        before, after = ran.before, ran.after
        if isinstance(before, RunFailure) or isinstance(after, RunFailure):
            return False
        names = (*region.inputs, *region.outputs)
        return all(
            name in ran.feeds or (name in before and same(before[name], after[name]))
            for name in names
        )

    def _misnamed(self, ran: Ran, judged: list[RegionRow]) -> frozenset[str]:
        """Inner tensors of failing regions that may carry one name and two meanings.

        Where a model does not run, those of which the text makes two things.
        """
        before, after = ran.before, ran.after
        if isinstance(before, RunFailure) or isinstance(after, RunFailure):
            return frozenset(self._apart_by_text - set(self.pair.before.outputs) - self.apart)
        bad = {r.tensor for r in judged if r.verdict in (Verdict.DIFFERENT, Verdict.UNVERIFIED)}
        outputs = {
            name for region in self.found if bad & set(region.outputs) for name in region.outputs
        }
        inner = outputs - set(self.pair.before.outputs)
        return frozenset(n for n in inner if relative_gap(before[n], after[n]) > GROSS)

    def _concluded(
        self,
        ran: Ran,
        rows: list[OutputRow],
        judged: list[RegionRow],
        alone: tuple[list[RegionRow], RegionRow | None],
    ) -> SampleFinding:
        """`alone` are the rows before regions were joined, and the first real difference."""
        first, hidden = alone
        verdicts = {row.verdict for row in judged}
        equal = bool(rows) and all(row.equal for row in rows)
        if equal:
            return self._equal(ran, rows, judged, hidden)
        unhidden = hidden is not None and _lacks(ran) and Verdict.UNVERIFIED in verdicts
        if Verdict.DIFFERENT in verdicts or unhidden:
            return SampleFinding(rows, [*first], Verdict.DIFFERENT, "")
        if Verdict.UNVERIFIED in verdicts:
            why = next(row.reason for row in judged if row.verdict is Verdict.UNVERIFIED)
            return SampleFinding(rows, judged, Verdict.UNVERIFIED, why)
        if hidden is not None and _lacks(ran) and not self.proved:
            why = f"'{hidden.tensor}' inside differs ({hidden.where}), and what reads it hides that"
            return SampleFinding(rows, judged, Verdict.UNVERIFIED, why)
        if Verdict.ROUNDING in verdicts:
            return SampleFinding(rows, judged, Verdict.ROUNDING, "")
        if any(row.judge == EVALUATOR for row in judged):
            return SampleFinding(rows, judged, Verdict.IDENTICAL, "")
        if isinstance(ran.before, RunFailure):
            why = "" if judged else "no node of the two models differs; " + lacking([ran])
            return SampleFinding(rows, judged, Verdict.IDENTICAL, why)
        return self._unexplained(ran, rows, judged)

    def _equal(
        self, ran: Ran, rows: list[OutputRow], judged: list[RegionRow], hidden: RegionRow | None
    ) -> SampleFinding:
        if hidden is None:
            return SampleFinding(rows, judged, Verdict.IDENTICAL, "")
        said = f"the outputs are equal, but '{hidden.tensor}' inside is not ({hidden.where})"
        assert not isinstance(ran.before, RunFailure)  # noqa: S101 - rows are equal
        if any(tells(ran.before[name]) for name in self.pair.before.outputs):
            self.bench.warn(said)
            return SampleFinding(rows, judged, Verdict.IDENTICAL, "")
        return SampleFinding(rows, judged, Verdict.UNVERIFIED, f"{said}, and the outputs hide it")

    def _unexplained(
        self, ran: Ran, rows: list[OutputRow], judged: list[RegionRow]
    ) -> SampleFinding:
        again = self.bench.run(self.pair.before, ran.feeds, self.probes)
        assert not isinstance(ran.before, RunFailure)  # noqa: S101 - it ran before
        if isinstance(again, RunFailure) or not all(
            same(ran.before[name], again[name]) for name in self.pair.before.outputs
        ):
            why = (
                "the first model gives other outputs when it is run again: it is not deterministic"
            )
            return SampleFinding(rows, judged, Verdict.UNVERIFIED, why)
        if self._threads_explain(ran):
            why = (
                "apart by rounding: with one thread the outputs are bit-equal, and several threads "
                "add up in another order"
            )
            return SampleFinding(rows, judged, Verdict.ROUNDING, why)
        first, why = first_apart(self.bench, self.pair, ran)
        return SampleFinding(rows, judged, Verdict.DIFFERENT, why, first)

    def _threads_explain(self, ran: Ran) -> bool:
        """Whether both models agree on one thread, and on more up to the size of rounding.

        onnxruntime's CPU kernels share a convolution among threads by the size of its output,
        which a rewrite may change, and parts of models run on one thread.
        """
        before, after = (
            self.bench.run(one, ran.feeds, threads=1) for one in (self.pair.before, self.pair.after)
        )
        if isinstance(before, RunFailure) or isinstance(after, RunFailure):
            return False
        if self.bench.on_cuda or not all(same(before[n], after[n]) for n in before):
            return False
        if isinstance(ran.before, RunFailure) or isinstance(ran.after, RunFailure):
            return False
        return self._by_noise(ran, ran.before, ran.after)


@dataclass(frozen=True, slots=True)
class SampleFinding:
    """What one sample showed."""

    outputs: list[OutputRow]
    regions: list[RegionRow]
    verdict: Verdict
    reason: str
    first: FirstDifference | None = None


def _unjudged(ran: Ran, reason: str) -> RegionRow:
    """The row of parts whose inputs are not known, without words that are said elsewhere."""
    why = without_repeats(reason, ran)
    return RegionRow(ran.index, (), (), "", Verdict.UNVERIFIED, NOBODY, reason=why)


def renamed(pair: Pair, ran: Ran, judged: Sequence[RegionRow], row: RegionRow) -> bool:
    """Whether names explain the difference of `row`, a part that was run alone.

    A Pad that went leaves tensors of other shapes between its place and the operator, made by
    operators that do not pad; what reads them gives the same in the whole models. `judged` are
    the parts with such names set aside.
    """
    before, after = ran.before, ran.after
    if isinstance(before, RunFailure) or isinstance(after, RunFailure):
        return False
    if any(one.verdict not in (Verdict.IDENTICAL, Verdict.ROUNDING) for one in judged):
        return False
    first, second = before[row.tensor], after[row.tensor]
    if same(first, second):
        return tells(first)
    made = pair.before.producers.get(row.tensor)
    if first.shape == second.shape or made is None:
        return False
    maker = pair.before.operation(made)
    return operator(maker.domain, maker.op_type) is None


def _lacks(ran: Ran) -> bool:
    """Whether a model did not run."""
    return isinstance(ran.before, RunFailure) or isinstance(ran.after, RunFailure)


def tells(value: NDArray[Any]) -> bool:
    """Whether a float output takes more than one value, so that equality says something."""
    if value.dtype.kind in "iubOSU" or value.size == 0:
        return False
    return len(np.unique(value[np.isfinite(value)][:4096])) > 1


def first_apart(bench: Bench, pair: Pair, ran: Ran) -> tuple[FirstDifference, str]:
    """The first tensor, in the first model's order, whose bits differ, and a sentence on it.

    Where every tensor that both models have can be captured, they are compared one by one;
    otherwise those that the sample captured, and at last the outputs.
    """
    producers = pair.before.producers
    names = [name for name in producers if name in pair.after.producers]
    before = bench.run(pair.before, ran.feeds, names)
    after = bench.run(pair.after, ran.feeds, names)
    pairs: list[tuple[Results, Results]] = [(before, after), (ran.before, ran.after)]
    for one, other in pairs:
        if isinstance(one, RunFailure) or isinstance(other, RunFailure):
            continue
        both = sorted(one.keys() & other.keys(), key=lambda name: producers.get(name, -1))
        for name in both:
            if not _same_bits(one[name], other[name]):
                return _said(pair, name, one[name], other[name])
    name = pair.before.outputs[0]
    return FirstDifference(_label(pair, name), name, None, ""), "the outputs differ"


def _said(pair: Pair, name: str, one: Array, other: Array) -> tuple[FirstDifference, str]:
    label = _label(pair, name)
    if same(one, other):
        lowest = f"{label} gives the lowest float in one model and -inf in the other"
        why = f"{lowest} (a window of padding alone?), and nodes behind it tell them apart"
        return FirstDifference(label, name, float("inf"), ""), why
    found = gap(one, other)
    first = FirstDifference(label, name, found.max_abs, found.where)
    why = f"{label} -> '{name}' differs{first.amount()}, although it is the same in both models"
    return first, why


def _label(pair: Pair, name: str) -> str:
    index = pair.before.producers.get(name)
    return f"input '{name}'" if index is None else pair.before.operation(index).label


def _same_bits(one: Array, other: Array) -> bool:
    """Equal to the bit, except that NaN equals NaN; unlike `same`, -inf is not the lowest float."""
    if one.dtype == object or one.shape != other.shape or one.dtype != other.dtype:
        return same(one, other)
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))
