"""One diagnosis: the model as it is, the search, the check on every sample, and what else fits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from onnxpad import processes
from onnxpad.diagnosis.fills import ENOUGH_PLACES, fill_of, is_usual
from onnxpad.diagnosis.guesses import Choice
from onnxpad.diagnosis.options import in_numbers, padded_cells, suspects
from onnxpad.diagnosis.plan import Rival, Settled, mended, plans, rivals, settled
from onnxpad.diagnosis.preparations import Sides, cropped, outer_padding, preparations
from onnxpad.diagnosis.runner import Feeds, Runner, needed_nodes
from onnxpad.diagnosis.score import (
    Comparison,
    Reference,
    Values,
    judged,
    lower_precision,
    references,
    scored,
    size_of,
)
from onnxpad.diagnosis.search import EVERYTHING, SINGLE, Extent, Search
from onnxpad.errors import RequestError, headline
from onnxpad.model.comparing.networks import Network
from onnxpad.model.reading.survey import Survey
from onnxpad.probing.agreement import gap
from onnxpad.retargeting import retarget
from onnxpad.retargeting.plan import Plan
from onnxpad.validation.bench import Bench
from onnxpad.validation.reference import FOREIGN
from onnxpad.validation.report import Verdict

_MOST_CHECKED, _LIKELIEST = 12, 6
_PART_FOR_INPUTS = 0.15
_SECONDS_FOR_RIVALS = 4.0
# Of what a tolerance allows, what leaves so many times less is nearer.
_DOMINATED = 4
# Beyond this part of the largest value, what rounding may do can hide a padding error.
_PRECISE = 1e-3
# So many tries may come as near by chance, judged by how far apart the first ones are.
_MOST_CHANCE, _MOST_SPREAD = 0.05, 32
# Seconds behind the budget in which what was found is checked and described.
_TO_CONCLUDE = 20.0


@dataclass(frozen=True, slots=True)
class Solution:
    """Choices that give the reference, the plan that writes them, and the check.

    preparation: how the inputs have to be prepared besides, '' as they are.
    """

    found: Settled
    plan: Plan
    judgement: Comparison
    title: str
    preparation: str = ""


@dataclass(frozen=True, slots=True)
class Fit:
    """What a diagnosis came to; `present` judges the model as it is.

    rounded: the lower precision to which the reference is rounded, '' for none.
    partial: why what the search takes for a match is no answer, '' where it took nothing for one.
    rivals: other ways that give the reference too, `doubts` those that may as well be right.
    other_cause: what gives the reference with the padding as it is, '' for nothing known.
    """

    present: Comparison
    solution: Solution | None = None
    search: Search | None = None
    rounded: str = ""
    partial: str = ""
    rivals: tuple[Rival, ...] = ()
    doubts: tuple[Rival, ...] = ()
    other_cause: str = ""

    @property
    def judgement(self) -> Comparison:
        """On the solution, or on the model as it is."""
        return self.present if self.solution is None else self.solution.judgement


class Fitting:
    """One model, its samples and reference outputs; `deadline` is a time of time.monotonic()."""

    def __init__(
        self,
        bench: Bench,
        survey: Survey,
        network: Network,
        samples: Sequence[Feeds],
        expected: Values,
        deadline: float,
    ) -> None:
        self.bench, self.network, self.samples, self.expected = bench, network, samples, expected
        self.deadline = deadline
        self.nodes = suspects(survey, network, frozenset(needed_nodes(network, expected)))
        self.present: Choice = (0,) * len(self.nodes.searched)
        self.runner = Runner(network, self.nodes.searched, tuple(expected), bench.settings)
        self.runner.feed(samples)
        self._search: Search | None = None
        self._cause: Solution | str = ""
        self._prepared_ways = 0

    @property
    def tried(self) -> list[Choice]:
        """Choices that the search has run, the present one first."""
        return [] if self._search is None else list(self._search.tried)

    def run(self) -> Fit:
        """The model as it is first, then every way to pad it until one gives the reference."""
        self.bench.progress("as it is")
        known = len(self.bench.warnings)
        present = judged(self.bench, self.network, self.samples, self.expected)
        self.bench.warnings[known:] = [f"as it is: {one}" for one in self.bench.warnings[known:]]
        if present.agrees:
            other = mended(self.runner, self._references(present), self.present)
            solution = self._confirmed(other, "computed Pads as SAME") if any(other) else None
            kept = solution if isinstance(solution, Solution) else None
            return self._compared(Fit(present, kept))
        rounded = self._rounded()
        goals = references(present, self.expected, self.bench.tolerance, rounded)
        search = self._search = Search(self.runner, goals, self.deadline, self.bench.progress)
        fit = Fit(present, search=search, rounded=rounded)
        for count, chosen in enumerate(search.run(self._prepared_inputs)):
            self._go_on()
            whole = mended(self.runner, goals, chosen)
            solution = self._confirmed(whole, search.titles[chosen])
            if isinstance(solution, Solution):
                return self._compared(replace(fit, solution=solution))
            fit = replace(fit, partial=solution)
            if count + 1 >= _MOST_CHECKED or rounded:
                break
        self._go_on()
        if isinstance(self._cause, Solution):
            return self._compared(replace(fit, solution=self._cause))
        return replace(fit, other_cause=self._cause)

    def _go_on(self) -> None:
        """Leave time to check what the search came to, though its own may be up."""
        now = time.monotonic()
        if now > self.deadline - _TO_CONCLUDE:
            processes.current().go_on_until(now + _TO_CONCLUDE)

    def _rounded(self) -> str:
        """The lower precision that all references are of, and not what the model gives."""
        made = [self.runner.tensor(name, self.present) for name in self.expected]
        kind = lower_precision([one for values in self.expected.values() for one in values])
        as_model = lower_precision([one for one in made if one is not None]) == kind
        return "" if as_model and made else kind

    def _confirmed(self, chosen: Choice, title: str) -> Solution | str:
        """The choices as a plan that `retarget` applies, judged on every sample; or why not."""
        is_whole = self._search is not None and chosen in self._search.guessed
        found, why = settled(self.runner, chosen, is_whole=is_whole), ""
        for plan in plans(self.runner, found):
            self.bench.progress("checking what fits on every sample")
            try:
                here = self.judged_with(plan)
            except RequestError as error:
                why = why or f"'{title}' fits, but is not written: {headline(error)}"
                continue
            if here.agrees:
                unchecked = self.unchecked(found.chosen, here, title)
                return unchecked or Solution(found, plan, here, title)
            why = why or f"what the search found does not fit every sample ({here.reason})"
        return why

    def judged_with(self, plan: Plan) -> Comparison:
        """The model with a plan on every sample; RequestError where it cannot be written."""
        network = self.network
        if plan.entries:
            network = Network(retarget(network.model, plan=plan).model, network.folder)
        return judged(self.bench, network, self.samples, self.expected)

    def unchecked(self, chosen: Choice, judgement: Comparison, title: str) -> str:
        """Why choices are no answer that the reference cannot check, '' where it can.

        One of many tries may come near to few numbers by chance. A fill that nobody writes fits a
        lot: it has to move the reference in several places. The channels of one place count once,
        because few channels in front may make all of them.
        """
        chance = self._chance(judgement)
        if chance > _MOST_CHANCE:
            return (
                f"cannot tell which padding is right: about {chance:.2g} tries come as near as "
                f"'{title}' by chance: what padding changes hardly shows in the reference"
            )
        plain, free = list(chosen), 0
        for number, option in enumerate(chosen):
            suspect = self.runner.suspects[number]
            fill = fill_of(suspect.options[option])
            if option >= suspect.listed and fill is not None:
                plain[number] = 0
                free += not is_usual(fill)
        places = 0
        for sample, name, right, bound in self._references(judgement) if free else ():
            without = self.runner.tensor(name, plain, sample)
            moved = np.ones(right.shape, np.bool_)
            if without is not None and without.shape == right.shape:
                moved = np.abs(right.astype(np.float64) - without) > FOREIGN * bound
            places += int(moved.any(axis=1 if moved.ndim > 1 else None).sum())
        if not free or places >= ENOUGH_PLACES + free - 1:
            return ""
        return (
            f"'{title}' gives the reference, but {free} of its fills were solved for, and {places} "
            "places of the reference cannot check that: give more samples, or tensors inside the "
            "model"
        )

    def _chance(self, judgement: Comparison) -> float:
        """How many of the tries come as near by chance, by how far apart they are elsewhere."""
        chance = float(len(self.tried) + self._prepared_ways)
        tried = self.tried[:_MOST_SPREAD]
        for row in judgement.rows:
            right = self.expected[row.output][row.sample]
            near = max(row.bound or 0.0, row.max_abs or 0.0)
            made = [self.runner.tensor(row.output, one, row.sample) for one in tried]
            off = [gap(right, one).max_abs for one in made if one is not None]
            far = [one for one in off if near < one < np.inf] or [size_of(right)]
            places = right.size // right.shape[1] if right.ndim > 1 else 1
            chance *= min(1.0, near / float(np.median(far))) ** max(places, right.size // 2)
        return chance if self.tried else 0.0

    def _references(self, judgement: Comparison) -> list[Reference]:
        """The reference values, with what may be left where another way gives them too.

        That is what rounding may do. Where a tolerance is needed it is as much as that allows, and
        no more than a few times what is left: a tolerance may be far wider.
        """
        asked, goals = self.bench.tolerance, list[Reference]()
        for row in judgement.rows:
            right, bound = self.expected[row.output][row.sample], row.bound or 0.0
            if judgement.verdict is Verdict.TOLERATED and asked is not None:
                bound = min(asked.most(right), _DOMINATED * (row.max_abs or 0.0))
            goals.append(Reference(row.sample, row.output, right, bound))
        return goals

    def _prepared_inputs(self) -> Sequence[Extent]:
        """What to explore once other inputs were tried, for a part of the time.

        Padding in front of the model is tried first, with the padding as it is; where it gives the
        reference, only one edit of a node comes before it. Preparations are tried with the
        likeliest guesses too.
        """
        search, own = self._search, self.samples
        if search is None:
            return ()
        now, known = time.monotonic(), len(self.bench.warnings)
        until = now + _PART_FOR_INPUTS * (self.deadline - now)
        for said, sides, change in outer_padding(own[0]):
            if time.monotonic() < until and not self._cause:
                self.bench.progress(f"with {said}")
                self.runner.feed([change(feeds) for feeds in own])
                if all(self._is_given_by(sides, own, one) for one in search.references):
                    self._cause = f"with {said}"
        self.runner.feed(own)
        if self._cause:
            return SINGLE
        for said, change in preparations(own[0]):
            if time.monotonic() < until:
                self.bench.progress(f"where {said}")
                self._cause = self._prepared(search, said, [change(feeds) for feeds in own])
                del self.bench.warnings[known:]
                if self._cause:
                    return ()
        self.samples = own
        self.runner.feed(own)
        return EVERYTHING

    def _is_given_by(self, sides: Sides, samples: Sequence[Feeds], wanted: Reference) -> bool:
        """Whether the model gives a reference where the image of its sample is padded so."""
        made = self.runner.tensor(wanted.name, self.present, wanted.sample)
        sizes = next(one.shape[2:] for one in samples[wanted.sample].values() if one.ndim > 2)
        part = None if made is None else cropped(made, wanted.value.shape, sizes, sides)
        return part is not None and bool((np.abs(part - wanted.value) <= wanted.tolerance).all())

    def _prepared(self, search: Search, said: str, samples: Sequence[Feeds]) -> Solution | str:
        """What gives the reference with other samples: padding besides, or these alone; else ''."""
        self.samples = samples
        self.runner.feed(samples)
        self._prepared_ways += _LIKELIEST
        for chosen in self.tried[:_LIKELIEST]:
            if scored(self.runner, search.references, chosen).matches:
                solution = self._confirmed(chosen, search.titles[chosen])
                if isinstance(solution, Solution) and solution.plan.entries:
                    return replace(solution, preparation=said)
                if isinstance(solution, Solution):
                    return f"where {said}"
        return ""

    def _compared(self, fit: Fit) -> Fit:
        """The fit with other ways that give the reference too, and those that are doubts."""
        if not self.nodes.searched:
            return fit
        self.bench.progress("looking for what fits as well")
        until = min(time.monotonic() + _SECONDS_FOR_RIVALS, self.deadline)
        while True:
            chosen = self.present if fit.solution is None else fit.solution.found.chosen
            references_ = self._references(fit.judgement)
            others, complete = rivals(self.runner, references_, chosen, until)
            best = min(others, key=lambda rival: rival.residual, default=None)
            least = (fit.judgement.residual or 0.0) / _DOMINATED
            is_tolerated = fit.judgement.verdict is Verdict.TOLERATED
            if best is None or not is_tolerated or best.residual >= least:
                break
            solution = self._confirmed(best.chosen, best.title)
            if not isinstance(solution, Solution):
                break
            fit = replace(fit, solution=solution)  # of what a tolerance allows, what leaves least
        if not complete:
            self.bench.warn("not every node was tried for other padding that fits as well")
        doubts = [one for one in others if self._is_doubt(fit, one)]
        doubts.sort(key=lambda rival: rival.residual)
        return replace(fit, rivals=tuple(others), doubts=tuple(doubts))

    def _is_doubt(self, fit: Fit, rival: Rival) -> bool:
        """Whether another way may as well be right.

        It leaves about as little, and the bound is so wide that it hides padding, or it changes a
        node of the plan. What the padded cells of a max pool hold is told, and no doubt: windows
        that begin at the same cells and give the same size read the same real ones.
        """
        judgement = fit.judgement
        least = _DOMINATED * (judgement.residual or 0.0)
        near = rival.nearness <= 1 / FOREIGN or rival.residual <= least
        if judgement.verdict is Verdict.TOLERATED or not near:
            return False
        if (judgement.allowed or 0.0) > _PRECISE and rival.apart > _PRECISE:
            return True
        if fit.solution is None or rival.suspect is None:
            return False
        number, found = rival.suspect, fit.solution.found
        mine, other = found.chosen[number], rival.chosen[number]
        if not mine or other in found.groups[number] or not found.reads[number]:
            return False
        options, sizes = self.runner.suspects[number].options, found.reads[number][0]
        pair = [in_numbers(options[one], sizes) for one in (mine, other)]
        begins = [() if one is None else padded_cells(one)[: one.rank] for one in pair]
        return not options[mine].is_max or begins[0] != begins[1]
