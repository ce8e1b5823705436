"""Running specimens on a runtime: one model after the other, each judged by the evaluator."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from onnxpad.measuring.learning import Sample
from onnxpad.model.assembled import Array, with_output_shapes
from onnxpad.model.opened import Model
from onnxpad.padding.effective_pads import without_windows
from onnxpad.reproducing.search import chains_of
from onnxpad.reproducing.specimens import Specimen, drafted
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.running import cache as replies
from onnxpad.runtimes.running.runner import Reply, Runner
from onnxpad.runtimes.running.serving import decode, encode
from onnxpad.validation.expected import Expected, expected

_RELATIVE = 2e-3
"""Of the largest value: kernels of half precision pass, a shifted pad does not."""
_HUGE = 1e30
"""Beyond it a value is a fill such as the lowest float, not something computed."""
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
        return _ANSWERS[self.verdict]


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
        self._runner, self._seconds, self._cache = runner, seconds, cache
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
                self.say(f"running drawn models on {self._runner.title}: {self.tried} of {total}")
            chains = () if one in self.outcomes else chains_of(one)
            if not chains or any(chain.trouble or without_windows(chain) for chain in chains):
                continue
            outcome = self.outcome(*drafted(one))
            if outcome.verdict in _ANSWERS:
                self.outcomes[one] = outcome
                sized = chains_of(one.varied(open=""))
                self.samples[one] = Sample.of(chains, sized, outcome.answer)

    def outcome(self, model: Model, feeds: Mapping[str, Array]) -> Outcome:
        """What the runtime does with a model; 'not judged' where its numbers are not known."""
        right = expected(model, feeds)
        if not has_meaning(right):
            return Outcome("not judged", right.reason or right.onnxruntime)
        reply = self._reply(with_output_shapes(model, right.outputs), feeds)
        if reply.status not in ("ran", "fell back"):
            return Outcome(reply.status, reply.message)
        wrong = difference(reply.outputs, right.outputs)
        if wrong:
            return Outcome("wrong", wrong)
        return Outcome("fell back" if reply.status == "fell back" else "right")

    def _reply(self, model: Model, feeds: Mapping[str, Array]) -> Reply:
        data = model.SerializeToString(deterministic=True)
        digest = hashlib.sha256(data)
        for name, array in feeds.items():
            digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
        key = f"measure {self._runner.key} {digest.hexdigest()}"
        found = replies.kept(key) if self._cache else None
        if found is not None:
            return Reply(found["status"], found["message"], decode(found["outputs"]))
        path = Path(self._folder.name, f"{digest.hexdigest()}.onnx")
        path.write_bytes(data)
        ranks = {one.name: len(one.type.tensor_type.shape.dim) for one in model.graph.output}
        reply = self._runner.run(str(path), feeds, ranks, self._seconds)
        path.unlink(missing_ok=True)
        if self._cache and reply.status != "timeout":
            outputs = encode(dict(reply.outputs))
            replies.keep(key, {**reply._asdict(), "outputs": outputs})
        return reply

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


def has_meaning(right: Expected) -> bool:
    """Whether it is known what the model computes, and that is something."""
    is_valid = "INVALID_GRAPH" not in right.onnxruntime
    return is_valid and bool(right.outputs) and all(one.size for one in right.outputs.values())


def difference(outputs: Mapping[str, Array], right: Mapping[str, Array]) -> str:
    """How outputs differ from what they should be; '' where they do not."""
    for name, wanted in right.items():
        got = outputs.get(name)
        if got is None:
            return f"it gives no output '{name}'"
        if got.shape != wanted.shape:
            return f"'{name}' has the shape {list(got.shape)}, not {list(wanted.shape)}"
        one, other = got.astype(np.float64), wanted.astype(np.float64)
        with np.errstate(invalid="ignore"):
            apart = np.where(
                (one == other) | (np.isnan(one) & np.isnan(other)), 0, abs(one - other)
            )
        apart = np.where(np.isnan(apart), np.inf, apart)
        size = abs(other[abs(other) < _HUGE]).max(initial=0.0)
        if apart.max(initial=0.0) > (_RELATIVE * size if wanted.dtype.kind not in "iub" else 0):
            return f"'{name}' is off by {apart.max():.3g}"
    return ""
