"""The judge that asks the runtime itself: each distinct padded node is cut out and run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike

from onnxpad.errors import RequestError, RuntimeUnavailable, headline
from onnxpad.model.excerpt import Excerpt, excerpt, pads_before
from onnxpad.model.reading.survey import Site
from onnxpad.model.small_models import CALL
from onnxpad.padding.chain import Chain
from onnxpad.probing.probes import Probe, alone, outputs_behind, probe, rests
from onnxpad.probing.trials import SECONDS, Outcome, Trials
from onnxpad.reports import reported
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.judge import Judgement, joint
from onnxpad.runtimes.own_targets import Asking
from onnxpad.runtimes.running.runner import Runner, own_runner, runner_for
from onnxpad.runtimes.target import Target

Table = Callable[[Target], Judgement]


@reported("name", "release", "processor", "precision")
@dataclass(frozen=True, slots=True)
class RuntimeRan:
    """What really ran: the runtime, its release, the processor, and what of it was switched off."""

    name: str
    release: str
    processor: str
    precision: str

    def __str__(self) -> str:
        return " ".join(filter(None, (self.name, self.release)))

    @property
    def evidence(self) -> str:
        """Where answers are known from: 'measured here: OpenCV 5.0.0.93, x86-64'."""
        return ", ".join(filter(None, (f"measured here: {self}", self.processor)))


def ran_by(runner: Runner) -> RuntimeRan:
    """What a runner runs."""
    return RuntimeRan(runner.title, runner.release, runner.machine, runner.precision)


class Live:
    """Runtimes that answer for targets, by the target's name, for as long as one call lasts.

    skips_missing: the table answers for a runtime that does not start; else RuntimeUnavailable is
        raised.
    """

    def __init__(self, trials: Mapping[str, Trials], *, skips_missing: bool = False) -> None:
        self.trials = dict(trials)
        self._skips_missing = skips_missing
        self._of_sites: dict[tuple[str, int], tuple[Site, Outcome]] = {}

    def close(self) -> None:
        """Forget the models that were run, and end the user's own runtimes."""
        self._of_sites.clear()
        for one in self.trials.values():
            one.close()

    @property
    def hangs(self) -> int:
        """How many probes did not end."""
        return sum(one.hangs for one in self.trials.values())

    @property
    def ran(self) -> dict[str, RuntimeRan]:
        """The runtimes by the target that they answer for."""
        return {name: ran_by(one.runner) for name, one in self.trials.items()}

    def answers(self, target: Target) -> bool:
        """Whether a runtime answers for every part of the target."""
        return all(part.name in self.trials for part in target.parts or (target,))

    def site(self, target: Target, site: Site, table: Table) -> Judgement:
        """What the target does with a padded node; `table` is asked where nothing can be run."""
        if target.parts:
            return joint([(part.name, self.site(part, site, table)) for part in target.parts])
        judgement = table(target)
        if target.name not in self.trials or judgement.settled_by:
            return judgement
        key = (target.name, id(site))
        if key not in self._of_sites:  # the site is kept, and with it its id
            self._of_sites[key] = site, self._asked(target, partial(_of_site, site=site))[0]
        outcome = self._of_sites[key][1]
        if outcome.answer is Answer.UNKNOWN:
            why = "; ".join(filter(None, (judgement.reason, f"not run: {outcome.message}")))
            return replace(judgement, reason=why) if judgement.answer.is_open else judgement
        measured = self.ran[target.name].evidence
        if outcome.answer is judgement.answer and outcome.answer.fails:  # the table has the cause
            return replace(judgement, measured=measured, at_some_sizes=False)
        falls_back = outcome.answer is Answer.FALLS_BACK
        reason = "a node of it runs on the CPU" if falls_back else outcome.sentence
        return Judgement(outcome.answer, reason, measured=measured)

    def failure(self, target: Target, site: Site) -> Probe | None:
        """The probe of a padded node that a runtime of the target failed in a run of this call."""
        parts = (part for part in target.parts or (target,) if part.name in self.trials)
        outcomes = (_of_site(self.trials[part.name], site) for part in parts)
        return next((one.failure for one in outcomes if one.answer.fails), None)

    def candidate(
        self, target: Target, part: Excerpt, sizes: int, judged: Sequence[str]
    ) -> Judgement | None:
        """Why a runtime of the target does not compute these outputs of an excerpt; None if all do.

        The answer is "unknown" where it cannot be run.
        """
        unknown = None
        for one in target.parts or (target,):
            if one.name not in self.trials:
                continue
            ask = partial(_of_excerpt, part=part, sizes=sizes, judged=tuple(judged))
            outcome, measured = self._asked(one, ask)
            if outcome.answer.fails:
                return Judgement(outcome.answer, outcome.sentence, measured=measured)
            if outcome.answer.is_open:
                unknown = Judgement(Answer.UNKNOWN, outcome.message)
        return unknown

    def calls(self, target: Target, table: Table) -> Judgement:
        """What the target does with a local function; `table` is asked where nothing can be run."""
        if target.parts:
            return joint([(part.name, self.calls(part, table)) for part in target.parts])
        if target.name not in self.trials:
            return table(target)
        outcome, measured = self._asked(target, _of_call)
        if outcome.answer.is_open:
            return table(target)
        reason = f"it runs no local function: {outcome.message}"
        return Judgement(outcome.answer, reason, measured=measured)

    def _asked(self, target: Target, ask: Callable[[Trials], Outcome]) -> tuple[Outcome, str]:
        """What a runtime did, and where that is known from."""
        trials = self.trials[target.name]
        try:
            return ask(trials), ran_by(trials.runner).evidence
        except RuntimeUnavailable as error:
            if not self._skips_missing:
                raise
            self.trials.pop(target.name).close()
            return Outcome("not judged", headline(error)), ""


def _of_call(trials: Trials) -> Outcome:
    reply = trials.runs_plain(CALL)
    return Outcome("right" if reply.has_run else "refused", reply.message)


def _of_site(trials: Trials, site: Site) -> Outcome:
    """The outcome of a node behind its Pads; without them, where one of these fails by itself."""
    context, part = site.context, excerpt(site.context, site.node)
    fronts = pads_before(context, site.node)
    if not fronts:
        return _of_node(trials, alone(part), site.chain)
    bare = _of_node(trials, alone(part, bare=True), site.chain)
    if bare.answer.fails or bare.answer.is_open:
        return bare
    whole = _of_node(trials, alone(part), site.chain)
    if not whole.answer.fails:
        return whole
    pads = (_of_node(trials, alone(excerpt(context, pad)), site.chain) for pad in fronts)
    return bare if any(one.answer.fails or one.answer.is_open for one in pads) else whole


def _of_node(trials: Trials, part: Excerpt, chain: Chain) -> Outcome:
    return _of_excerpt(trials, part, rests(chain), outputs_behind(part))


def _of_excerpt(trials: Trials, part: Excerpt, sizes: int, judged: tuple[str, ...]) -> Outcome:
    return trials.outcome(lambda: probe(part, sizes, judged))


def open_live(target: Target, asking: Asking) -> Live:
    """The runtimes that answer for a target; nothing is started before the first question.

    Raises RequestError where a runtime is asked for that runs nowhere from Python, or that is
    there in another release than the one asked for, and RuntimeUnavailable where it is not
    installed.
    """
    seconds = asking.seconds or SECONDS
    made = partial(Trials, cache=asking.cache, seconds=seconds, tell=asking.tell)
    trials = {name: made(runner) for name, runner in _runners(target, asking)}
    return Live(trials, skips_missing=asking.skips_missing)


def _runners(target: Target, asking: Asking) -> Iterator[tuple[str, Runner]]:
    for part in target.parts or (target,):
        if part.runner is not None:
            yield part.name, own_runner(part.runner, asking.live or True)
        elif asking.live and not part.has_own_rules:
            try:
                runner = _kept_runner(part.runtime, asking.live)
                _check_release(part, runner)
            except (RequestError, RuntimeUnavailable):
                if asking.skips_missing:
                    continue
                raise
            yield part.name, runner


_MOST_KEPT = 2
_KEPT: dict[tuple[str, object], Runner] = {}
"""The adapted runtimes asked last: loading one may take longer than all that is asked of it."""


def _kept_runner(runtime: str, live: bool | str | PathLike[str]) -> Runner:  # noqa: FBT001
    """A runtime that stays open until others are asked, or this process ends."""
    asked = (runtime, live)
    runner = _KEPT.pop(asked, None) or runner_for(runtime, live)
    while len(_KEPT) >= _MOST_KEPT:
        _KEPT.pop(next(iter(_KEPT))).close()
    _KEPT[asked] = runner
    return runner


def _check_release(target: Target, runner: Runner) -> None:
    asked = target.name.partition("@")[2]
    if not asked or not runner.release:
        return
    have, want = runner.release.split("."), asked.removeprefix("v").split(".")
    if have[: len(want)] != want:
        raise RequestError(
            f"{target.name}: the runtime here is {runner.title} {runner.release}; give --live the "
            f"path of a Python that has {asked}, or ask for --target {target.runtime}"
        )
