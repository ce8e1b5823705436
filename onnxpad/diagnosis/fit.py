"""Fits the padding to one sample and checks it on the others."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.diagnosis.by_chance import ByChance, by_chance
from onnxpad.diagnosis.checked_fills import Checks, checks
from onnxpad.diagnosis.elsewhere import other_cause
from onnxpad.diagnosis.guesses import Choice, by_conventions
from onnxpad.diagnosis.indistinguishable import Group, alike_here
from onnxpad.diagnosis.plan import Settled, on_every_sample, plans, settled
from onnxpad.diagnosis.pursuit import changed
from onnxpad.diagnosis.report import Unseen
from onnxpad.diagnosis.rivals import DOMINATED, Reference, Rival, rivals, undecided, unseen_changes
from onnxpad.diagnosis.rounded import coarser
from onnxpad.diagnosis.runner import Broken, Runner, needed_nodes
from onnxpad.diagnosis.score import PRECISE, Comparison, ReferenceValues, judged, scored, tolerances
from onnxpad.diagnosis.search import Search
from onnxpad.diagnosis.suspects import sizes_of, suspects
from onnxpad.errors import InternalError, RequestError, counted, few, headline
from onnxpad.model.comparing.networks import Network
from onnxpad.model.reading.survey import Survey
from onnxpad.retargeting import retarget
from onnxpad.retargeting.plan import Plan
from onnxpad.validation.bench import Bench
from onnxpad.validation.recorded import GivenIn
from onnxpad.validation.report import Verdict
from onnxpad.validation.request import in_layout

Array = NDArray[Any]
_MOST_CHECKED = 12
_SECONDS, _WIDE_SECONDS = 4.0, 20.0
_NAMED = 3
_ROUNDED = 1e-6
_PART_ELSEWHERE = 0.1
_TO_CONCLUDE = 20.0
"""Seconds behind the budget in which what was found is checked and described."""


@dataclass(frozen=True, slots=True)
class Solution:
    """Choices that reproduce the reference, the plan that writes them, and the proof."""

    found: Settled
    plan: Plan
    judgement: Comparison
    title: str


@dataclass(frozen=True, slots=True)
class Fit:
    """What the search came to: a solution or none; `present` judges the model as it is.

    `partial` is a judgement on something that fits the first sample only. `rivals` fit as well as
    what was found; `undecided` are those that only the width of the bounds lets in, `unseen` those
    that change a node of the plan (or any, where nothing has to change) otherwise; `by_chance` is
    set where the reference tells too few ways apart. `elsewhere` is what gives the reference
    besides padding, '' where nothing is known that does.
    """

    present: Comparison
    solution: Solution | None
    partial: Comparison | None
    search: Search | None
    tried: int
    rivals: tuple[Rival, ...] = ()
    undecided: tuple[Rival, ...] = ()
    unseen: tuple[Rival, ...] = ()
    by_chance: ByChance | None = None
    elsewhere: str = ""

    @property
    def doubtful(self) -> bool:
        """Whether other padding may be right as well as what was found."""
        return bool(self.undecided or (self.solution and self.unseen) or self.by_chance)

    @property
    def judgement(self) -> Comparison:
        """On the solution, or on the model as it is."""
        return self.present if self.solution is None else self.solution.judgement


class Fitting:
    """One model, its samples and the reference outputs; `run` searches."""

    def __init__(
        self,
        bench: Bench,
        network: Network,
        survey: Survey,
        samples: Sequence[Mapping[str, Array]],
        expected: Mapping[str, Sequence[Array]],
        deadline: float,
    ) -> None:
        self.bench = bench
        self.network = network
        self.samples = samples
        self.deadline = deadline
        self.expected = in_layout(bench, network, samples, expected)
        self.names = tuple(self.expected)
        known = suspects(survey, network, frozenset(needed_nodes(network, self.names)))
        self.suspects, self.plain, left_out = known.searched, known.plain, known.left_out
        self.unseen = _unseen(network, known.unseen, self.without_reference)
        self._unread = (*left_out, *known.unclear)
        self.runner = Runner(network, self.suspects, self.names, bench.settings)
        self.runner.feed(samples[0])
        self.present: Comparison | None = None
        # What gives the reference by a number that it does not check.
        self.unchecked = ""
        # What gives the reference besides padding.
        self._elsewhere = ""
        self.tried_elsewhere = False
        # Whether the reference may be meant in another layout.
        self.in_doubt = False
        # Seconds for the whole diagnosis, where they are known.
        self.budget: float | None = None
        # How the samples were given, for words on what to add.
        self.given_in = GivenIn.ARRAYS
        if left_out:
            bench.warn(
                f"left as they are, because they stand in a function or a body: "
                f"{', '.join(left_out[:8])}{' ...' if left_out[8:] else ''}"
            )

    @property
    def unsearched(self) -> tuple[str, ...]:
        """Padded nodes of which not every known way could be tried."""
        return (*self._unread, *sorted(self.runner.refused))

    @property
    def without_reference(self) -> tuple[str, ...]:
        """Outputs of the model that are compared with nothing."""
        return tuple(name for name in self.network.outputs if name not in self.expected)

    def run(self) -> Fit:
        """The model as it is first, then every way to pad it until one gives the reference."""
        present = self.present = self._present()
        if present.agrees:
            return self._compared(Fit(present, self._mended(), None, None, 1))
        if not self.suspects:
            self._has_other_cause()
            return Fit(present, None, None, None, 1, elsewhere=self._elsewhere)
        searches = [self._search(0)]
        searches[0].elsewhere = self._has_other_cause
        searches[0].unreachable = self._unreachable(searches[0].target)
        partial: Comparison | None = None
        for count, chosen in enumerate(searches[0].run()):
            self._go_on()
            solution, judgement = self._confirmed(chosen, searches[0].titles[chosen])
            if solution is None and judgement is not None and len(self.samples) > 1:
                partial = judgement
                solution = self._refitted(chosen, searches)
            if solution is not None:
                least = self._least(solution)
                fit = Fit(present, least, None, searches[0], self._tried(searches))
                return self._compared(fit)
            if count + 1 >= _MOST_CHECKED:
                break
        self._go_on()
        return Fit(
            present, None, partial, searches[0], self._tried(searches), elsewhere=self._elsewhere
        )

    def _go_on(self) -> None:
        """Leave time to check what the search came to, though its own may be up."""
        now = time.monotonic()
        if now > self.deadline - _TO_CONCLUDE:
            processes.current().go_on_until(now + _TO_CONCLUDE)

    def _least(self, solution: Solution) -> Solution:
        """The solution without the changes that no sample needs, alone or two together.

        What is taken back leaves no more than rounding does, whatever a tolerance allows. Nodes
        with open sizes keep theirs: samples of other sizes may need it.
        """
        self.runner.feed(self.samples[0])
        target, until = self._target(0), self._until(_SECONDS)
        for together in (1, 2):
            everything = [
                n
                for n, option in enumerate(solution.found.chosen)
                if option and sizes_of(self.suspects[n].chain) is not None
            ]
            for some in combinations(everything, together):
                chosen = solution.found.chosen
                left = sum(map(bool, chosen)) - together
                if not left or not all(chosen[n] for n in some) or time.monotonic() > until:
                    continue
                self.bench.progress("taking back what no sample needs")
                other = changed(chosen, *((number, 0) for number in some))
                if scored(self.runner, target, other).matches:
                    solution = self._smaller(other, solution)
        return solution

    def _smaller(self, chosen: Choice, solution: Solution) -> Solution:
        """The choices where their plan is smaller and leaves as little, else the solution."""
        plan = next(plans(self.runner, settled(self.runner, chosen, self.samples)))
        if len(plan.entries) >= len(solution.plan.entries):
            return solution
        warnings, unchecked = len(self.bench.warnings), self.unchecked
        found, judgement = self._confirmed(chosen, solution.title)
        most = max(DOMINATED * (solution.judgement.residual or 0.0), _ROUNDED)
        if found is None or judgement is None or (judgement.residual or 0.0) > most:
            del self.bench.warnings[warnings:]
            self.unchecked = unchecked
            return solution
        return found

    def _compared(self, fit: Fit) -> Fit:
        """The fit with what fits as well: looked for only where more than one way is known."""
        if not self.suspects:
            return fit
        self.bench.progress("looking for what fits as well")
        fit = self._nearer(fit)
        judgement = fit.judgement
        wide = (judgement.allowed or 0.0) > PRECISE
        planned = fit.solution is not None and bool(fit.solution.plan.entries)
        whole = all(
            value.dtype.kind in "iub" for values in self.expected.values() for value in values
        )
        chosen = (0,) * len(self.suspects) if fit.solution is None else fit.solution.found.chosen
        reference = Reference(self.samples, self.expected, self._allowed(judgement))
        seconds = _WIDE_SECONDS if wide else _SECONDS
        found, complete = rivals(self.runner, reference, chosen, self._until(seconds))
        if not complete:
            self.bench.warn("not every node was tried for other padding that fits as well")
        if planned and whole and found:
            titles = few([f"'{rival.title}'" for rival in found], _NAMED)
            self.bench.warn(
                f"the reference holds whole numbers, which tell little: {titles} fit as well"
            )
        fit = replace(fit, rivals=tuple(found))
        if judgement.verdict is Verdict.TOLERATED:
            return fit
        residual = judgement.residual or 0.0
        doubts = undecided(found, residual, judgement.allowed or 0.0)
        listed = [one for one in found if not self._is_solved(one)]
        unseen = unseen_changes(listed, residual, self._groups(fit, listed))
        fit = replace(fit, undecided=tuple(doubts), unseen=tuple(unseen))
        if not planned:
            return fit
        nearness = max((row.max_abs or 0.0) / (row.bound or np.inf) for row in judgement.rows)
        known = fit.tried, nearness
        chance = by_chance(self.runner, reference, chosen, known, self._until(_SECONDS))
        return replace(fit, by_chance=chance if chance is not None and chance.likely else None)

    def _is_solved(self, rival: Rival) -> bool:
        """Whether its fill was solved for: numbers near a right one fit as well."""
        number = rival.suspect
        return number is not None and rival.chosen[number] >= self.suspects[number].given

    def _groups(self, fit: Fit, found: Sequence[Rival]) -> dict[int, Group]:
        """Ways that give the same numbers: at nodes of the solution, else where rivals differ."""
        if fit.solution is None:
            present = (0,) * len(self.suspects)
            numbers = {rival.suspect for rival in found if rival.suspect is not None}
            return {number: alike_here(self.runner, number, present) for number in numbers}
        settled = fit.solution.found
        return {n: group for n, group in enumerate(settled.groups) if settled.chosen[n]}

    def _allowed(self, judgement: Comparison) -> dict[tuple[str, int], float]:
        """What may be left of each output and sample where another way fits as well.

        That is what rounding may do; where a tolerance is needed, as much as it allows, and no
        more than a few times what is left: a tolerance may be far wider than that.
        """
        asked, found = self.bench.tolerance, {}
        for row in judgement.rows:
            most = row.bound or 0.0
            if judgement.verdict is Verdict.TOLERATED and asked is not None:
                allowed = asked.most(self.expected[row.output][row.sample])
                most = min(allowed, DOMINATED * (row.max_abs or 0.0))
            found[row.output, row.sample] = most
        return found

    def _nearer(self, fit: Fit) -> Fit:
        """Of what the tolerance asked for allows, what leaves least: much more is an error."""
        for _ in range(_MOST_CHECKED):
            judgement = fit.judgement
            if judgement.verdict is not Verdict.TOLERATED or judgement.residual is None:
                break
            left = {(row.output, row.sample): row.max_abs or 0.0 for row in judgement.rows}
            reference = Reference(self.samples, self.expected, left)
            chosen = fit.solution.found.chosen if fit.solution else (0,) * len(self.suspects)
            found, _ = rivals(self.runner, reference, chosen, self._until(_WIDE_SECONDS))
            better = [one for one in found if one.residual * DOMINATED < judgement.residual]
            if not better:
                break
            best = min(better, key=lambda rival: rival.residual)
            solution, _ = self._confirmed(best.chosen, best.title)
            if solution is None:
                break
            fit = replace(fit, solution=solution)
        return fit

    def _until(self, seconds: float) -> float:
        """So long from now, but not beyond the budget."""
        return min(time.monotonic() + seconds, self.deadline)

    def _present(self) -> Comparison:
        """Judge the unchanged model; its warnings begin with 'as it is'."""
        self.bench.progress("as it is")
        before = len(self.bench.warnings)
        present = judged(self.bench, self.network, self.samples, self.expected)
        found = [f"as it is: {warning}" for warning in self.bench.warnings[before:]]
        self.bench.warnings[before:] = found
        return present

    def _unreachable(self, target: ReferenceValues) -> str:
        """Why no padding gives the reference: it is rounded by more than a match may be off."""
        for name in self.names:
            right = target.values[name]
            state = self.runner.until(name, (0,) * len(self.suspects))
            if isinstance(state, Broken) or right.dtype == np.float16:
                continue
            kind = coarser(right, state.tensors[name], target.tolerance[name])
            if kind:
                return (
                    f"the numbers of '{name}' in the reference are rounded to {kind}, so that no "
                    "padding gives them to the precision of float32"
                )
        return ""

    def _has_other_cause(self) -> bool:
        """Whether something besides padding gives the reference; for at most a part of the time."""
        until = time.monotonic() + _PART_ELSEWHERE * (self.deadline - time.monotonic())
        self._elsewhere = other_cause(self.bench, self.network, self.samples, self.expected, until)
        self.tried_elsewhere = time.monotonic() < until  # else not all of it was tried
        return bool(self._elsewhere)

    def _mended(self) -> Solution | None:
        """What a model that agrees needs for other sizes: Pads whose arithmetic is wrong there."""
        if not any(suspect.computed for suspect in self.suspects):
            return None
        self.runner.feed(self.samples[0])
        solution, _ = self._confirmed((0,) * len(self.suspects), "computed Pads as SAME")
        return solution if solution is not None and solution.plan.entries else None

    def _search(self, sample: int) -> Search:
        self.runner.feed(self.samples[sample])
        return Search(self.runner, self._target(sample), self.deadline, self.bench.progress)

    def _target(self, sample: int) -> ReferenceValues:
        if self.present is None:
            raise InternalError("the model is judged as it is before anything else")
        right = {name: values[sample] for name, values in self.expected.items()}
        limits = tolerances(self.present, sample, right, self.bench.tolerance)
        return ReferenceValues(self.names, right, limits)

    @staticmethod
    def _tried(searches: Sequence[Search]) -> int:
        return sum(len(search.tried) for search in searches)

    def _refitted(self, chosen: Choice, searches: list[Search]) -> Solution | None:
        """Choices that fit every sample, where the given ones fit the first."""
        try:
            for together in self._jointly(chosen, self._alike(chosen), 1, searches):
                title = searches[-1].titles.get(together, "what fits every sample")
                solution, _ = self._confirmed(together, title)
                if solution is not None:
                    return solution
        finally:
            self.runner.feed(self.samples[0])
        return None

    def _jointly(
        self, chosen: Choice, groups: Sequence[Group], sample: int, searches: list[Search]
    ) -> Iterator[Choice]:
        """Choices that fit `sample` and all behind it as well as those in front of it.

        `groups` are, for each suspect, the options that give what `chosen` gives in the samples in
        front: other sizes tell some of them apart, and what fits is in the groups of every sample.
        """
        if sample == len(self.samples):
            yield chosen
            return
        search = self._search(sample)
        others: Iterable[Choice] = (chosen,)
        if not scored(self.runner, search.target, chosen).matches:
            searches.append(search)
            starts = by_conventions(self.runner.suspects, chosen, groups)
            others = islice(search.run(starts), _MOST_CHECKED)
        for other in others:
            shared = tuple(
                tuple(sorted({*mine} & {*here}))
                for mine, here in zip(groups, self._alike(other), strict=True)
            )
            together = tuple(
                option if option in group or not group else group[0]
                for option, group in zip(other, shared, strict=True)
            )
            if not all(shared) and self._fit_before(sample, other):
                shared = tuple((option,) for option in other)
            if all(shared):
                self.runner.feed(self.samples[0])
                yield from self._jointly(together, shared, sample + 1, searches)
            self.runner.feed(self.samples[sample])

    def _fit_before(self, sample: int, chosen: Choice) -> bool:
        for number in range(sample):
            self.runner.feed(self.samples[number])
            if not scored(self.runner, self._target(number), chosen).matches:
                return False
        return True

    def _alike(self, chosen: Choice) -> tuple[Group, ...]:
        """For each suspect the options that give what the chosen one gives in this sample."""
        return tuple(
            alike_here(self.runner, number, chosen) or tuple(range(len(suspect.options)))
            for number, suspect in enumerate(self.runner.suspects)
        )

    def _confirmed(self, chosen: Choice, title: str) -> tuple[Solution | None, Comparison | None]:
        """The choices as a plan that `retarget` applies, judged on every sample."""
        nearest: Comparison | None = None
        found = settled(self.runner, chosen, self.samples)
        for plan in plans(self.runner, found):
            self.bench.progress("checking what fits on every sample")
            try:
                judgement = self.judged_with(plan)
            except RequestError as error:
                self.bench.warn(
                    f"'{title}' fits the first sample, but is not written: {headline(error)}"
                )
                continue
            if judgement.agrees:
                told = self._told(found, judgement)
                if told is not None and not told.enough:
                    self.unchecked = self.unchecked or _unchecked(title, told)
                    return None, None
                held, kept = on_every_sample(self.runner, self.samples, found, plan)
                values = 0 if told is None else told.values
                held = replace(held, told=values, samples=len(self.samples))
                return Solution(held, kept, judgement, title), judgement
            nearest = nearest or judgement
        return None, nearest

    def _told(self, found: Settled, judgement: Comparison) -> Checks | None:
        """What tells the fills that were solved for; None where none was."""
        bounds = {(row.output, row.sample): row.bound or 0.0 for row in judgement.rows}
        if (asked := self.bench.tolerance) is not None:
            bounds = {(n, s): asked.most(self.expected[n][s]) for n, s in bounds}
        return checks(self.runner, self.samples, self.expected, bounds, found.chosen)

    def judged_with(self, plan: Plan, *, quietly: bool = False) -> Comparison:
        """The model with a plan on every sample; `quietly` leaves no warnings of its runs.

        Raises RequestError for a plan that cannot be written.
        """
        known = len(self.bench.warnings)
        model = self.network.model
        changed = retarget(model, plan=plan).model if plan.entries else model
        network = Network(changed, self.network.folder)
        found = judged(self.bench, network, self.samples, self.expected)
        if quietly:
            del self.bench.warnings[known:]
        return found


def _unseen(
    network: Network, nodes: Sequence[tuple[int, str]], outputs: Sequence[str]
) -> tuple[Unseen, ...]:
    """Nodes by index and label, with those of `outputs` that depend on each."""
    needed = {name: set(needed_nodes(network, [name])) for name in outputs} if nodes else {}
    return tuple(
        Unseen(label, tuple(name for name, indices in needed.items() if index in indices))
        for index, label in nodes
    )


def _unchecked(title: str, told: Checks) -> str:
    """Why a plan is no answer whose fills the reference cannot check."""
    solved = "its fill was" if told.fills == 1 else f"its {told.fills} fills were"
    values = f"{counted(told.values, 'different value')} of the reference"
    if told.ways < told.values:
        ways = counted(told.ways, "independent way", "independent ways")
        values += f", which move in {ways},"
    return (
        f"'{title}' gives the reference, but {solved} solved for, and {values} cannot check that: "
        "give more samples, or tensors inside the model"
    )
