"""What `inspect --target` says of the probes beforehand, held against what the runtimes did."""

from __future__ import annotations

from collections import Counter
from functools import cache

from onnxpad.model.opened import open_model
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.judge import judge
from onnxpad.runtimes.targets import find_target
from tests.runtimes.targets import probes


@cache
def chains(probe: str) -> tuple[Chain, ...]:
    """The padded nodes of a probe."""
    opened = open_model(probes.model_path(probe))
    folder = opened.source.folder if opened.source else None
    survey = Survey(opened.model, folder=folder)
    return tuple(site.chain for site in survey.sites_now())


def predicted(target: str, probe: str) -> Answer:
    """The worst of what the target does with the probe's nodes."""
    found = find_target(target)
    return max((judge(found, chain).answer for chain in chains(probe)), key=lambda a: a.rank)


def table() -> dict[str, Counter[str]]:
    """For each target: how often a failure was foreseen, missed, or expected in vain."""
    found: dict[str, Counter[str]] = {}
    for outcome in probes.outcomes():
        answer = predicted(outcome.runtime, outcome.probe)
        counts = found.setdefault(outcome.runtime, Counter())
        if outcome.verdict in ("ok", "fallback"):
            counts["false alarm" if answer.fails else "fine"] += 1
        else:
            counts["missed" if is_missed(outcome) else "foreseen"] += 1
    return found


def is_missed(outcome: probes.Outcome) -> bool:
    """Whether it failed and was not foreseen, or left the device and was thought to stay there."""
    answer = predicted(outcome.runtime, outcome.probe)
    if outcome.verdict == "fallback":
        return answer is Answer.TAKES
    return outcome.verdict != "ok" and not answer.fails
