"""Running specimens on a runtime: one model after the other, each judged by the evaluator."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from onnxpad.errors import counted
from onnxpad.measuring.learning import Sample
from onnxpad.model.opened import Model
from onnxpad.model.small_models import Array, with_output_shapes
from onnxpad.padding.effective_pads import without_windows
from onnxpad.probing.agreement import BYTES, NEAR, STEPS, worst
from onnxpad.probing.expected import expected, onnxruntime_agrees
from onnxpad.probing.probes import quantises, ranks
from onnxpad.reproducing.specimens import Specimen, drafted
from onnxpad.reproducing.ways import chains_of
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.running.cache import keep, kept
from onnxpad.runtimes.running.runner import Runner, Served

_TOLD_EVERY = 20
_ANSWERS = {
    "right": Answer.TAKES,
    "fell back": Answer.FALLS_BACK,
    "wrong": Answer.MISCOMPUTES,
    "refused": Answer.REFUSES,
    "crash": Answer.REFUSES,
    "timeout": Answer.REFUSES,
}


class Outcome(NamedTuple):
    """What a runtime did with a model; `message` is what it said, or how its numbers are wrong."""

    verdict: str
    message: str = ""

    @property
    def answer(self) -> Answer:
        """The same as a rule says it."""
        return _ANSWERS.get(self.verdict, Answer.UNKNOWN)


def _read(stored: Mapping[str, Any]) -> Outcome | None:
    """A kept outcome; None where something else stands there."""
    verdict, message = stored.get("verdict"), stored.get("message", "")
    if verdict not in (*_ANSWERS, "not judged") or not isinstance(message, str):
        return None
    return Outcome(verdict, message)


class Course:
    """All models that one runtime has run, in order."""

    def __init__(
        self,
        runner: Runner,
        seconds: float,
        progress: Callable[[str], None] | None,
        *,
        cache: bool,
    ) -> None:
        self._runner, self._seconds = runner, seconds
        # What a runtime of the user's own depends on is not known.
        self._cache = cache and type(runner) is Served
        self.say = progress or (lambda _: None)
        self.outcomes: dict[Specimen, Outcome] = {}
        self.samples: dict[Specimen, Sample] = {}
        self.tried = 0
        self._folder = tempfile.TemporaryDirectory(prefix="onnxpad-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was written, and end the runtime."""
        self._runner.close()
        self._folder.cleanup()

    def run(self, specimens: Iterable[Specimen], total: int) -> None:
        """Run the model of each, unless ONNX gives it no meaning or it was run before."""
        for one in specimens:
            self.tried += 1
            if self.tried % _TOLD_EVERY == 1:
                ran, share = counted(len(self.outcomes), "model"), self.tried / total
                self.say(f"running drawn models on {self._runner.title}: {ran}, {share:.0%}")
            chains = () if one in self.outcomes else chains_of(one)
            if not chains or any(chain.trouble or without_windows(chain) for chain in chains):
                continue
            outcome = self.outcome(*drafted(one))
            if outcome.verdict in _ANSWERS:
                self.outcomes[one] = outcome
                sized = chains_of(one.varied(open=""))
                self.samples[one] = Sample.of(chains, sized, outcome.answer, outcome.message)

    def outcome(self, model: Model, feeds: Mapping[str, Array]) -> Outcome:
        """What the runtime does with a model; 'not judged' where its numbers are not known."""
        digest = hashlib.sha256(model.SerializeToString(deterministic=True))
        for name, array in feeds.items():
            digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
        key = f"measure {self._runner.key} {digest.hexdigest()}"
        stored = kept(key) if self._cache else None
        known = _read(stored) if stored else None
        outcome = known or self._run(model, feeds)
        if self._cache and not known and outcome.verdict != "timeout":
            keep(key, outcome._asdict())
        return outcome

    def _run(self, model: Model, feeds: Mapping[str, Array]) -> Outcome:
        right = expected(model, feeds)
        known = bool(right.outputs) and all(one.size for one in right.outputs.values())
        in_onnxruntime = onnxruntime_agrees(model, feeds, {}) if known else ""
        if not known or "INVALID_GRAPH" in in_onnxruntime:
            return Outcome("not judged", right.reason or in_onnxruntime)
        whole = with_output_shapes(model, right.outputs)
        data = whole.SerializeToString(deterministic=True)
        path = Path(self._folder.name, f"{hashlib.sha256(data).hexdigest()}.onnx")
        path.write_bytes(data)
        reply = self._runner.run(str(path), feeds, ranks(whole), self._seconds)
        path.unlink(missing_ok=True)
        if reply.status not in ("ran", "fell back"):
            return Outcome(reply.status, reply.message)
        near = STEPS / BYTES if quantises(model) else NEAR
        _, apart = worst(reply.outputs, right.outputs, near)
        if apart.is_fault:
            return Outcome("wrong", apart.words)
        return Outcome("fell back" if reply.status == "fell back" else "right")

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
