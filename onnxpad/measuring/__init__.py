"""`measure`: which padding a runtime gets wrong, learned from models that it runs.

Idea: nobody knows a runtime as well as the runtime. Drawn models are run on it, and their numbers
judged by the float64 evaluator; the fewest rules of shared words that cover every failure are
learned from that, and make a target file.
Way of a call: `drawing` draws specimens (the ways of padding first); `course` runs their models on
a Runner, and those of operators that rewrites write, and judges; `learning` makes rules of what
came out, and `drawing` neighbours of what is under a rule, until the rules stay.
It stands above `reproducing`, whose specimens it draws.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import ClassVar

from onnxpad.errors import ModelError, RequestError, counted
from onnxpad.measuring.course import Course, probes_beside
from onnxpad.measuring.drawing import drawn, neighbours
from onnxpad.measuring.learning import Learned, learn
from onnxpad.model.files.delivery import check_target, deliver
from onnxpad.reports import Report, reported
from onnxpad.reproducing.ways import ways
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.own_targets import is_own_rules, is_own_runtime
from onnxpad.runtimes.rule_files import ALL, rules_text
from onnxpad.runtimes.running.runner import Function, Live, Runner, own_runner, runner_for
from onnxpad.runtimes.targets import find_target
from onnxpad.verbs import verb

COUNT = 4000
"""Models that are drawn: about two minutes for a runtime that takes some milliseconds for one."""
SECONDS = 10.0
_ROUNDS, _DRAWN_AT_ONCE = 2, 0.8
_LEAST = 40
"""Models that are run before a runtime that takes none of them is given up."""


@reported("*")
@dataclass(frozen=True, slots=True, repr=False)
class Measurement(Report):
    """What a runtime did with drawn models, and the rules that say when it fails.

    target: the name of the runtime, or how the user wrote it.
    version: name and release of what ran.
    machine: the kind of processor.
    precision: the lowering of precision that was switched off; empty for none.
    seed: seed of the drawn models.
    models: number of models that were run.
    counts: by operator how many models came out in each way (right, wrong, refused ...).
    ways: by way of padding how its model came out.
    beside: the same for operators without padding that rewrites write.
    messages: by operator what the runtime said most often as it refused a model.
    rules: when it fails; together they cover each model that failed.
    takes: operators of which at least one model came out right.
    """

    schema: ClassVar[int] = 1
    target: str
    version: str
    machine: str
    precision: str
    seed: int
    models: int
    counts: Mapping[str, Mapping[str, int]]
    ways: Mapping[str, str]
    beside: Mapping[str, str]
    messages: Mapping[str, str]
    rules: tuple[Learned, ...]
    takes: tuple[str, ...]

    def to_toml(self) -> str:
        """The text of a target file for `--target FILE.toml`."""
        rules = [
            {
                "operators": list(one.operators) or ALL,
                "when": [word for word in one.words if " " not in word.removeprefix("not ")],
                **{term[0]: term[1] for term in one.when if isinstance(term[1], int)},
                "answer": str(one.answer),
                "evidence": self._evidence(one),
                "models": one.models,
            }
            for one in self.rules
        ]
        return rules_text({"version": self.version, "takes": list(self.takes), "rule": rules})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the target file, all or nothing; '-' is standard output.

        Raises RequestError where it cannot be written.
        """
        data = memoryview(self.to_toml().encode())
        try:
            deliver([data], (), os.fspath(path), origin=None)
        except ModelError as error:
            raise RequestError(f"the target file: {error!s}") from error.__cause__

    def _evidence(self, rule: Learned) -> str:
        """What becomes the address of the rule, a colon, and how it is known."""
        alarms = f", {counted(rule.false_alarms, 'false alarm')}" if rule.false_alarms else ""
        return f"{' '.join(rule.words) or 'every node'}: {self.machine}, seed {self.seed}{alarms}"


def check_place(path: str) -> None:
    """RequestError where a target file cannot be written there, or no --target would read it."""
    if path != "-" and not is_own_rules(path):
        raise RequestError(f"a target file ends with .toml: -o {path}.toml")
    try:
        check_target(path)
    except ModelError as error:
        raise RequestError(f"the target file: {error!s}") from error


@verb(
    target=(lambda value: isinstance(value, (str, os.PathLike)) or callable(value), "a runtime"),
    count=(lambda value: isinstance(value, int) and value > 0, "a whole number above 0"),
)
def measure(  # noqa: PLR0913 - one option each
    target: str | os.PathLike[str] | Function,
    *,
    live: Live | None = None,
    seed: int = 0,
    count: int = COUNT,
    timeout: float = SECONDS,
    cache: bool = True,
    progress: Callable[[str], None] | None = None,
) -> Measurement:
    """Run drawn models on a runtime, and learn the rules of what it gets wrong.

    `target` is a runtime that onnxpad can start, or one's own: a .py file with run(model, inputs),
    a command with {model} {inputs} {outputs}, or a callable. `live`: path of the Python that has
    it, if not this one. `count`: models that are drawn from `seed`, besides those of the
    conformance table. `timeout`: seconds for one model. `cache`: keep replies on disk.

    Raises RequestError for a target that nothing can run, and for a runtime that computes no model
    right; RuntimeUnavailable if it is not installed or does not start.
    """
    runner = _runner(target, live)
    with Course(runner, timeout, progress, cache=cache) as course:
        return _measured(runner, seed, count, course)


def _runner(target: str | os.PathLike[str] | Function, live: Live | None) -> Runner:
    asked: Live = live or True
    if callable(target) or is_own_runtime(target):
        return own_runner(target, asked)
    found = find_target(os.fspath(target))
    if "@" in found.name:
        raise RequestError(
            f"measure runs the release that is installed: name {found.runtime} without a release"
        )
    return runner_for(found.runtime, asked)


def _measured(runner: Runner, seed: int, count: int, course: Course) -> Measurement:
    """Run, learn, and look again at what is near the rules."""
    random, total = Random(seed), count + len(ways())  # noqa: S311 - no secret
    titles = {way.specimen: way.title for way in ways()}
    course.run(titles, total)
    _refuse_if_all_fail(runner, course)
    course.run(islice(drawn(random), round(count * _DRAWN_AT_ONCE)), total)
    rules = _learned(course)
    for turn in range(_ROUNDS, 0, -1):
        near = neighbours(list(course.samples), [one.samples for one in rules], random)
        course.run(islice(near, (total - course.tried) // turn), total)
        rules = _learned(course)
    beside = {name: course.outcome(one) for name, one in probes_beside().items()}
    failing = {name: outcome for name, outcome in beside.items() if outcome.answer.fails}
    rules += tuple(Learned((name,), (), one.answer, 1, 0) for name, one in failing.items())
    return Measurement(
        runner.target,
        f"{runner.title} {runner.release}".strip(),
        runner.machine,
        runner.precision,
        seed,
        len(course.outcomes),
        course.counts(),
        {
            title: str(course.outcomes[one].verdict)
            for one, title in titles.items()
            if one in course.outcomes
        },
        {name: str(outcome.verdict) for name, outcome in beside.items()},
        course.messages(),
        rules,
        (*course.taken(), *(name for name in beside if name not in failing)),
    )


def _learned(course: Course) -> tuple[Learned, ...]:
    course.say("learning the rules")
    return learn(tuple(course.samples.values()))


def _refuse_if_all_fail(runner: Runner, course: Course) -> None:
    """RequestError where no model came out right: then the runtime is not what is measured."""
    outcomes = course.outcomes.values()
    if len(outcomes) < _LEAST or any(one.answer is Answer.TAKES for one in outcomes):
        return
    first = next(iter(outcomes))
    raise RequestError(
        f"{runner.title} computes none of {len(outcomes)} models as ONNX says; the first: "
        f"{first.verdict}{f', {first.message}' if first.message else ''}"
    )


__all__ = ["COUNT", "Learned", "Measurement", "measure"]
