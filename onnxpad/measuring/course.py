"""Running specimens on a runtime: one model after the other, each judged by the ONNX text."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Self

from onnxpad.errors import RequestError, counted
from onnxpad.measuring.learning import Sample
from onnxpad.model.small_models import parsed
from onnxpad.padding.effective_pads import without_windows
from onnxpad.probing.expected import onnxruntime_agrees
from onnxpad.probing.probes import Probe
from onnxpad.probing.trials import Outcome, Trials
from onnxpad.reproducing.specimens import Specimen, drafted, values
from onnxpad.reproducing.ways import chains_of
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.running.runner import Runner

_TOLD_EVERY = 20


class Course:
    """All models that one runtime has run, in order."""

    def __init__(
        self, runner: Runner, seconds: float, progress: Callable[[str], None] | None, *, cache: bool
    ) -> None:
        self._trials = Trials(runner, cache=cache, seconds=seconds, skips_empty=True)
        self.say = progress or (lambda _: None)
        self.outcomes: dict[Specimen, Outcome] = {}
        self.samples: dict[Specimen, Sample] = {}
        self.tried = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was written, and end the runtime."""
        self._trials.close()
        self._trials.runner.close()

    def run(self, specimens: Iterable[Specimen], total: int) -> None:
        """Run the model of each, unless ONNX gives it no meaning or it was run before."""
        for one in specimens:
            self.tried += 1
            if self.tried % _TOLD_EVERY == 1:
                ran, share = counted(len(self.outcomes), "model"), self.tried / total
                self.say(f"running drawn models on {self._trials.runner.title}: {ran}, {share:.0%}")
            chains = () if one in self.outcomes else chains_of(one)
            if not chains or any(chain.trouble or without_windows(chain) for chain in chains):
                continue
            model, feeds = drafted(one)
            outcome = self.outcome(Probe(model, (dict(feeds),), _outputs(model)))
            if not outcome.answer.is_open:
                self.outcomes[one] = outcome
                sized = chains_of(replace(one, open=""))
                self.samples[one] = Sample.of(chains, sized, outcome.answer, outcome.message)

    def outcome(self, probe: Probe) -> Outcome:
        """What the runtime does with a probe; unknown where onnxruntime says it is no graph."""
        return self._trials.outcome(lambda: _valid(probe))

    def counts(self) -> dict[str, dict[str, int]]:
        """By operator how many models came out in each way."""
        found: dict[str, Counter[str]] = {}
        for one, outcome in self.outcomes.items():
            found.setdefault(one.operator, Counter())[outcome.verdict] += 1
        return {name: dict(counter.most_common()) for name, counter in found.items()}

    def messages(self) -> dict[str, str]:
        """By operator what was said most often with what did not run."""
        found: dict[str, Counter[str]] = {}
        for one, outcome in self.outcomes.items():
            if outcome.answer is Answer.REFUSES and outcome.message:
                found.setdefault(one.operator, Counter())[outcome.message] += 1
        return {name: counter.most_common(1)[0][0] for name, counter in found.items()}

    def taken(self) -> tuple[str, ...]:
        """Operators of which a model came out right."""
        right = (one for one, outcome in self.outcomes.items() if not outcome.answer.fails)
        return tuple(dict.fromkeys(one.operator for one in right))


def probes_beside() -> dict[str, Probe]:
    """Of each operator that a rewrite writes beside padded ones a model (`beside.toml`)."""
    stored = tomllib.loads(Path(__file__).with_name("beside.toml").read_text("utf-8"))
    feeds = {"x": values((1, 2, 4, 5), "float32", None)}
    return {
        name: Probe(parsed(stored["model"].replace("NODES", nodes), "y"), (feeds,), ("y",))
        for name, nodes in stored["nodes"].items()
    }


def _outputs(model: object) -> tuple[str, ...]:
    return tuple(value.name for value in model.graph.output)  # type: ignore[attr-defined]


def _valid(probe: Probe) -> Probe:
    said = onnxruntime_agrees(probe.model, probe.feeds[0], {})
    if "INVALID_GRAPH" in said:
        raise RequestError(said)
    return probe
