"""The judge that asks the runtime itself: each distinct padded node is cut out and run."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from onnxpad import processes
from onnxpad.errors import OnnxpadError, RequestError, RuntimeUnavailable, headline
from onnxpad.model.excerpt import Excerpt, excerpt, pads_before
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.opened import Model
from onnxpad.model.reading.survey import Site
from onnxpad.model.small_models import CALL, plain
from onnxpad.padding.chain import Chain
from onnxpad.probing.agreement import BYTES, NEAR, STEPS, Array, worst
from onnxpad.probing.probes import alone, outputs_behind, probe, quantises, ranks, rests
from onnxpad.reports import reported
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.judge import Judgement, joint
from onnxpad.runtimes.own_targets import Asking
from onnxpad.runtimes.running.cache import keep, kept
from onnxpad.runtimes.running.runner import Reply, Runner, Served, own_runner, runner_for
from onnxpad.runtimes.target import Target

SECONDS = 60.0
"""How long a runtime may take for one probe before it is ended."""
_SCHEME = "3"
"""Changes with how probes are drawn and judged, so that older answers are not read."""
_ENDS = {
    "refused": "",
    "crash": "its process ends: ",
    "timeout": "it does not end: ",
}
Tell = Callable[[str], None]


class Failure(NamedTuple):
    """A probe that a runtime did not compute right, with the inputs of that run."""

    model: Model
    feeds: Mapping[str, Array]


class Outcome(NamedTuple):
    """What a runtime did with a probe; `message` says why it is no right answer.

    `failure` is the probe itself where it was run now and not read from the disk.
    """

    answer: Answer
    message: str = ""
    is_lasting: bool = True
    failure: Failure | None = None


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

    uses_cache: answers are read from the disk and kept there; never those of a user's own runtime.
    seconds: a probe that takes longer is ended, and counts as refused.
    tell: called with a sentence about each probe.
    skips_missing: a runtime that does not start leaves `runners`; else RuntimeUnavailable is
        raised.
    """

    def __init__(
        self,
        runners: Mapping[str, Runner],
        *,
        uses_cache: bool = True,
        seconds: float = SECONDS,
        tell: Tell | None = None,
        skips_missing: bool = False,
    ) -> None:
        self.runners = dict(runners)
        self._skips_missing = skips_missing
        self.runs = self.hangs = 0
        self._uses_cache = uses_cache
        self._seconds = seconds
        self._tell = tell
        self._have_run: set[str] = set()
        self._plain: dict[tuple[str, str], Reply] = {}
        self._outcomes: dict[tuple[str, object], Outcome | str] = {}
        # With what it is about, so that no other object gets its id.
        self._nodes: dict[tuple[object, ...], tuple[object, Outcome | str]] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="onnxpad-", ignore_cleanup_errors=True)

    def close(self) -> None:
        """Forget the models that were run; the runtimes go on, for the next model."""
        self._folder.cleanup()

    def answers(self, target: Target) -> bool:
        """Whether a runtime answers for every part of the target."""
        return all(part.name in self.runners for part in target.parts or (target,))

    def site(self, target: Target, site: Site, table: Callable[[Target], Judgement]) -> Judgement:
        """What the target does with a padded node; `table` is asked where nothing can be run."""
        if target.parts:
            return joint([(part.name, self.site(part, site, table)) for part in target.parts])
        judgement = table(target)
        runner = self.runners.get(target.name)
        if runner is None or judgement.settled_by:
            return judgement
        outcome = self._of_node(runner, site.context, site.node, site.chain)
        if isinstance(outcome, str):
            return _not_run(judgement, outcome)
        return _judgement(outcome, judgement, runner)

    def failure(self, target: Target, site: Site) -> Failure | None:
        """The probe of a padded node that a runtime of the target failed in a run of this call."""
        for part in target.parts or (target,):
            runner = self.runners.get(part.name)
            if runner is None:
                continue
            outcome = self._of_node(runner, site.context, site.node, site.chain)
            if isinstance(outcome, Outcome) and outcome.answer.fails:
                return outcome.failure
        return None

    def candidate(
        self, target: Target, part: Excerpt, sizes: int, judged: Sequence[str]
    ) -> Judgement | None:
        """Why a runtime of the target does not compute these outputs of an excerpt; None if all do.

        The answer is "unknown" where it cannot be run.
        """
        unknown = None
        for one in target.parts or (target,):
            runner = self.runners.get(one.name)
            if runner is None:
                continue
            outcome = self._asked(runner, part, sizes, tuple(judged))
            if isinstance(outcome, str):
                unknown = Judgement(Answer.UNKNOWN, outcome)
            elif outcome.answer.fails:
                return Judgement(outcome.answer, outcome.message, measured=ran_by(runner).evidence)
        return unknown

    def calls(self, target: Target, table: Callable[[Target], Judgement]) -> Judgement:
        """What the target does with a local function; `table` is asked where nothing can be run."""
        if target.parts:
            return joint([(part.name, self.calls(part, table)) for part in target.parts])
        runner = self.runners.get(target.name)
        if runner is None:
            return table(target)
        try:
            reply = self._of_plain(runner, CALL)
        except RuntimeUnavailable:
            if self._skips_missing:
                return table(target)
            raise
        answer = Answer.TAKES if _has_run(reply) else Answer.REFUSES
        reason = f"it runs no local function: {reply.message}"
        return Judgement(answer, reason, measured=ran_by(runner).evidence)

    def check_start(self, runner: Runner) -> None:
        """Raise RuntimeUnavailable for a runtime of the user's own that has run nothing so far."""
        if type(runner) is Served or runner.key in self._have_run:
            return
        replies = [self._of_plain(runner, operator) for operator in ("Relu", "Conv")]
        if not any(map(_has_run, replies)):
            needs = runner.needs if isinstance(runner, Served) else ""
            why = "; ".join(filter(None, (replies[0].message, needs)))
            raise RuntimeUnavailable(f"{runner.title} runs neither a Relu nor a Conv: {why}")
        self._have_run.add(runner.key)

    def _check_run(self, runner: Runner, reply: Reply) -> None:
        if _has_run(reply):
            self._have_run.add(runner.key)
        else:
            self.check_start(runner)

    def _of_plain(self, runner: Runner, operator: str) -> Reply:
        """The run of a plain model; raises RuntimeUnavailable where the runtime does not start."""
        if (runner.key, operator) not in self._plain:
            path = Path(self._folder.name, f"{operator}.onnx")
            path.write_bytes(plain(operator).SerializeToString())
            x = np.zeros((1, 2, 4, 4), np.float32)
            reply = runner.run(str(path), {"x": x}, {"y": x.ndim}, self._seconds)
            self._plain[runner.key, operator] = reply
        return self._plain[runner.key, operator]

    @property
    def ran(self) -> dict[str, RuntimeRan]:
        """The runtimes by the target that they answer for."""
        return {name: ran_by(runner) for name, runner in self.runners.items()}

    def _of_node(self, runner: Runner, context: Context, node: Node, chain: Chain) -> Outcome | str:
        """The same for a node as it was read once: it is cut out once."""
        read = (context, node, chain)
        written = node.proto.SerializeToString(), tuple(node.inputs), tuple(node.outputs)
        key = (runner.key, *map(id, read), written)
        if key not in self._nodes:
            self._nodes[key] = read, self._behind_pads(runner, context, node, chain)
        return self._nodes[key][1]

    def _behind_pads(
        self, runner: Runner, context: Context, node: Node, chain: Chain
    ) -> Outcome | str:
        """The outcome of a node behind its Pads; alone, where one of these fails by itself."""
        part = excerpt(context, node)
        fronts = pads_before(context, node)
        if not fronts:
            return self._of_excerpt(runner, alone(part), chain)
        bare = self._of_excerpt(runner, alone(part, bare=True), chain)
        if isinstance(bare, str) or bare.answer.fails:
            return bare
        whole = self._of_excerpt(runner, alone(part), chain)
        if isinstance(whole, str) or not whole.answer.fails:
            return whole
        pads = (self._of_excerpt(runner, alone(excerpt(context, pad)), chain) for pad in fronts)
        blamed = any(isinstance(one, str) or one.answer.fails for one in pads)
        return bare if blamed else whole

    def _of_excerpt(self, runner: Runner, cut: Excerpt, chain: Chain) -> Outcome | str:
        return self._asked(runner, cut, rests(chain), outputs_behind(cut))

    def _asked(
        self, runner: Runner, part: Excerpt, sizes: int, judged: tuple[str, ...]
    ) -> Outcome | str:
        """The outcome, or why nothing was run; the same question is asked once."""
        question = (part.fingerprint, sizes, judged)
        if (runner.key, question) not in self._outcomes:
            key = hashlib.sha256(repr((_SCHEME, runner.key, question)).encode()).hexdigest()
            # What a runtime of the user's own depends on is not known: it is asked each time.
            keeps = self._uses_cache and type(runner) is Served
            stored = kept(key) if keeps else None
            known = _read(stored) if stored else None
            outcome = known or self._run(runner, part, sizes, judged)
            self._outcomes[runner.key, question] = outcome
            lasts = isinstance(outcome, Outcome) and outcome.is_lasting
            if isinstance(outcome, Outcome) and lasts and keeps and not known:
                keep(key, {"answer": str(outcome.answer), "message": outcome.message})
        return self._outcomes[runner.key, question]

    def _run(
        self, runner: Runner, part: Excerpt, sizes: int, judged: tuple[str, ...]
    ) -> Outcome | str:
        # Answers that are kept on the disk need neither.
        from onnxpad.model.small_models import with_output_shapes
        from onnxpad.probing.expected import expected

        try:
            made = probe(part, sizes, judged)
        except RequestError as error:
            return headline(error)
        outcome = Outcome(Answer.TAKES)
        near = STEPS / BYTES if quantises(made.model) else NEAR
        for feeds in made.feeds:
            try:
                with processes.limited(processes.SECONDS):  # of its own
                    right = expected(made.model, feeds)
            except (OnnxpadError, MemoryError) as error:
                return f"what is right is not known: {headline(error)}"
            if right.reason:
                return f"what is right is not known: {right.reason}"
            wanted = {name: right.outputs[name] for name in made.judged}
            model = with_output_shapes(made.model, right.outputs)
            content = model.SerializeToString(deterministic=True)
            path = Path(self._folder.name, f"{hashlib.sha256(content).hexdigest()[:24]}.onnx")
            if not path.exists():
                path.write_bytes(content)
            self.runs += 1
            if self._tell:
                self._tell(f"running probe {self.runs} in {runner.title}")
            try:
                reply = runner.run(str(path), feeds, ranks(model), self._seconds)
                self._check_run(runner, reply)
            except RuntimeUnavailable as error:
                if not self._skips_missing:
                    raise
                self.runners = {k: one for k, one in self.runners.items() if one is not runner}
                return headline(error)
            self.hangs += reply.status == "timeout"
            outcome = max(outcome, _outcome(reply, wanted, near), key=lambda one: one.answer.rank)
            if outcome.answer.fails:
                return outcome._replace(failure=Failure(model, feeds))
        return outcome


def _has_run(reply: Reply) -> bool:
    return reply.status not in _ENDS


def _outcome(reply: Reply, right: Mapping[str, Array], near: float) -> Outcome:
    if reply.status in _ENDS:
        message = f"{_ENDS[reply.status]}{reply.message}"
        return Outcome(Answer.REFUSES, message, is_lasting=reply.status != "timeout")
    _, difference = worst(reply.outputs, right, near)
    if difference.is_fault:
        return Outcome(Answer.MISCOMPUTES, difference.words)
    return Outcome(Answer.FALLS_BACK if reply.status == "fell back" else Answer.TAKES)


def _read(stored: Mapping[str, Any]) -> Outcome | None:
    """A kept outcome; None where something else stands there."""
    try:
        return Outcome(Answer(stored["answer"]), str(stored["message"]))
    except (KeyError, TypeError, ValueError):
        return None


def _judgement(outcome: Outcome, table: Judgement, runner: Runner) -> Judgement:
    """The outcome as an answer; the cause is the table's where it gives the same answer."""
    measured = ran_by(runner).evidence
    if outcome.answer is table.answer and outcome.answer.fails:
        return replace(table, measured=measured, at_some_sizes=False)
    reason = outcome.message
    if outcome.answer is Answer.FALLS_BACK:
        reason = "a node of it runs on the CPU"
    return Judgement(outcome.answer, reason, measured=measured)


def _not_run(table: Judgement, why: str) -> Judgement:
    """What the table says, or that it has nothing to say, of a node that cannot be run alone."""
    if table.answer is Answer.UNKNOWN:
        return replace(table, reason="; ".join(filter(None, (table.reason, f"not run: {why}"))))
    return table


def open_live(target: Target, asking: Asking) -> Live:
    """The runtimes that answer for a target; nothing is started before the first question.

    Raises RequestError where a runtime is asked for that runs nowhere from Python, or that is
    there in another release than the one asked for, and RuntimeUnavailable where it is not
    installed.
    """
    return Live(
        dict(_runners(target, asking)),
        uses_cache=asking.cache,
        seconds=asking.seconds or SECONDS,
        tell=asking.tell,
        skips_missing=asking.skips_missing,
    )


_MOST_KEPT = 2
_KEPT: dict[tuple[object, ...], Runner] = {}
"""The runtimes asked last: loading one may take longer than all that is asked of it."""


def _kept_runner(target: Target, live: bool | str | PathLike[str]) -> Runner:  # noqa: FBT001
    """The runtime of a target; it stays open until others are asked, or this process ends."""
    own = target.runner
    # A function may be equal to others, or have no hash; RUNTIMES keeps it alive.
    named = id(own) if callable(own) else own or target.runtime
    asked = (named, live, _stamp(own))
    if asked not in _KEPT:
        made = own_runner(own, live or True) if own else runner_for(target.runtime, live)
        while len(_KEPT) >= _MOST_KEPT:
            _KEPT.pop(next(iter(_KEPT))).close()
        _KEPT[asked] = made
    runner = _KEPT[asked] = _KEPT.pop(asked)
    return runner


def _stamp(own: object) -> tuple[int, ...]:
    """Changes with the file of a runtime of the user's own."""
    try:
        found = Path(own).stat() if isinstance(own, str) else None
    except (OSError, ValueError):  # it is a command, or not there
        return ()
    return (found.st_mtime_ns, found.st_size) if found else ()


def _runners(target: Target, asking: Asking) -> Iterator[tuple[str, Runner]]:
    for part in target.parts or (target,):
        if part.is_own:
            yield part.name, _kept_runner(part, asking.live)
        elif asking.live and not part.has_own_rules:
            try:
                runner = _kept_runner(part, asking.live)
                _check_release(part, runner)
            except (RequestError, RuntimeUnavailable):
                if asking.skips_missing:
                    continue
                raise
            yield part.name, runner


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
