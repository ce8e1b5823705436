"""Trials: probes that one runtime runs, each held against the ONNX text, and kept on disk."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from onnxpad import processes
from onnxpad.errors import OnnxpadError, RequestError, RuntimeUnavailable, headline
from onnxpad.model.small_models import plain
from onnxpad.probing.agreement import BYTES, NEAR, STEPS, worst
from onnxpad.probing.probes import Feeds, Probe, quantises, ranks
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.running.cache import keep, kept
from onnxpad.runtimes.running.runner import Reply, Runner

SECONDS = 60.0
"""How long a runtime may take for one probe before it is ended."""
_SCHEME = "7"
"""Changes with how probes are drawn and judged, so that older answers are not read."""
_ANSWERS = {
    "right": Answer.TAKES,
    "fell back": Answer.FALLS_BACK,
    "wrong": Answer.MISCOMPUTES,
    "refused": Answer.REFUSES,
    "crash": Answer.REFUSES,
    "timeout": Answer.REFUSES,
}
_ENDS = {"crash": "its process ends: ", "timeout": "it does not end: "}
Tell = Callable[[str], None]


class Outcome(NamedTuple):
    """What a runtime did with a probe.

    verdict: "right", "fell back", "wrong", "refused", "crash" or "timeout"; "not judged" where
        nothing was run.
    message: why it is no right answer.
    failure: the probe with the inputs that failed, where it was run in this call.
    """

    verdict: str
    message: str = ""
    failure: Probe | None = None

    @property
    def answer(self) -> Answer:
        """The same as a rule says it; unknown where nothing was run."""
        return _ANSWERS.get(self.verdict, Answer.UNKNOWN)

    @property
    def sentence(self) -> str:
        """The message, and how the process ended."""
        return _ENDS.get(self.verdict, "") + self.message


class Trials:
    """Runs the probes of one call in one runtime.

    cache: outcomes are read from the disk and stored there, if the runner has a key.
    seconds: time limit of one probe.
    tell: called with a sentence about each run.
    skips_empty: a probe whose outputs have no cells is not judged.
    """

    def __init__(
        self,
        runner: Runner,
        *,
        cache: bool = True,
        seconds: float = SECONDS,
        tell: Tell | None = None,
        skips_empty: bool = False,
    ) -> None:
        self.runner = runner
        self._cache = cache and bool(runner.key)
        self._seconds, self._tell, self._skips_empty = seconds, tell, skips_empty
        self.runs = self.hangs = 0
        self._has_run = not runner.is_own
        self._outcomes: dict[str, Outcome] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="onnxpad-", ignore_cleanup_errors=True)

    def close(self) -> None:
        """Remove the models that were run, and end a runtime of the user's own."""
        if self.runner.is_own:
            self.runner.close()
        self._folder.cleanup()

    def outcome(self, made: Callable[[], Probe]) -> Outcome:
        """What the runtime does with a probe.

        `made` may raise RequestError where there is none. Raises RuntimeUnavailable where the
        runtime does not start.
        """
        try:
            probe = made()
        except RequestError as error:
            return Outcome("not judged", headline(error))
        digest = probe.digest
        if digest not in self._outcomes:
            kept_as = repr((_SCHEME, self.runner.key, digest))
            outcome = _read(kept(kept_as)) if self._cache else None
            if outcome is None:
                outcome = self._worst(probe)
                if self._cache and outcome.verdict not in ("timeout", "not judged"):
                    keep(kept_as, {"verdict": outcome.verdict, "message": outcome.message})
            self._outcomes[digest] = outcome
        return self._outcomes[digest]

    def runs_plain(self, operator: str) -> Reply:
        """The run of a model without padding."""
        path = self._written(plain(operator).SerializeToString())
        inputs = {"x": np.zeros((1, 2, 4, 4), np.float32)}
        return self.runner.run(path, inputs, {"y": 4}, self._seconds)

    def check_start(self) -> None:
        """Raise RuntimeUnavailable for a runtime of the user's own that runs nothing at all."""
        if self._has_run:
            return
        replies = [self.runs_plain("Relu")]
        if not replies[0].has_run:
            replies.append(self.runs_plain("Conv"))
        if not any(reply.has_run for reply in replies):
            why = "; ".join(filter(None, (replies[0].message, self.runner.needs)))
            raise RuntimeUnavailable(f"{self.runner.title} runs neither a Relu nor a Conv: {why}")
        self._has_run = True

    def _worst(self, made: Probe) -> Outcome:
        """The worst outcome of all inputs; the first failure ends it."""
        from onnxpad.model.small_models import with_output_shapes
        from onnxpad.probing.expected import expected  # answers that are kept need neither

        found = Outcome("right")
        for feeds in made.feeds:
            try:
                with processes.limited(processes.SECONDS):  # of its own
                    right, reason = expected(made.model, feeds)
            except (OnnxpadError, MemoryError) as error:
                right, reason = {}, headline(error)
            if self._skips_empty and not (right and all(one.size for one in right.values())):
                reason = reason or "it has no cells"
            if reason:
                return Outcome("not judged", f"what is right is not known: {reason}")
            model = with_output_shapes(made.model, right)
            reply = self._run(model, feeds)
            near = STEPS / BYTES if quantises(model) else NEAR
            one = _outcome(reply, {name: right[name] for name in made.judged}, feeds, near)
            if one.answer.fails:
                return one._replace(failure=Probe(model, (feeds,), made.judged))
            found = max(found, one, key=lambda each: each.answer.rank)
        return found

    def _run(self, model: Any, feeds: Feeds) -> Reply:  # noqa: ANN401 - a ModelProto
        self.runs += 1
        if self._tell:
            self._tell(f"running probe {self.runs} in {self.runner.title}")
        path = self._written(model.SerializeToString(deterministic=True))
        reply = self.runner.run(path, feeds, ranks(model), self._seconds)
        self.hangs += reply.status == "timeout"
        if reply.has_run:
            self._has_run = True
        else:
            self.check_start()
        return reply

    def _written(self, content: bytes) -> str:
        """The path of a model file; the same content has the same one."""
        path = Path(self._folder.name, f"{hashlib.sha256(content).hexdigest()[:24]}.onnx")
        if not path.exists():
            path.write_bytes(content)
        return str(path)


def _outcome(reply: Reply, right: Mapping[str, Any], feeds: Feeds, near: float) -> Outcome:
    if not reply.has_run:
        return Outcome(reply.status, reply.message)
    _, gap = worst(reply.outputs, right, feeds, near)
    if not gap.within:
        return Outcome("wrong", gap.where)
    return Outcome("fell back" if reply.status == "fell back" else "right")


def _read(stored: Mapping[str, Any] | None) -> Outcome | None:
    """A kept outcome; None where something else stands there."""
    verdict, message = ((stored or {}).get(key) for key in ("verdict", "message"))
    is_outcome = verdict in _ANSWERS and isinstance(message, str)
    return Outcome(str(verdict), str(message)) if is_outcome else None
