"""The run of a whole model in a runtime, held against the original."""

from __future__ import annotations

import tempfile
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import LimitMet, OnnxpadError, headline
from onnxpad.model.comparing.networks import Network, open_network
from onnxpad.model.comparing.pieces import cut, exposed, standalone
from onnxpad.model.opened import Model, ModelLike, Opened
from onnxpad.model.reading.survey import Survey
from onnxpad.model.small_models import with_output_shapes
from onnxpad.padding.operators import operator
from onnxpad.probing.agreement import NEAR, QUANTISED, Gap, worst
from onnxpad.probing.expected import evaluated
from onnxpad.probing.live import RuntimeRan, ran_by
from onnxpad.probing.probes import quantises, ranks
from onnxpad.probing.random_inputs import Sampler, channel_counts
from onnxpad.reports import reported
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.judge import failing
from onnxpad.runtimes.onnxruntime.runtime_check import reference
from onnxpad.runtimes.running.runner import Reply, Runner
from onnxpad.sessions import RunFailure, Session, Settings, open_session

Array = NDArray[Any]
Feeds = dict[str, Array]
Tell = Callable[[str], None]
SECONDS = 300.0
"""How long a runtime may take for one run of a whole model before it is ended."""
SAMPLES = (0, 4, 2)
"""Of the random inputs those with a batch of 1 where that is open; 4 has no positive number."""
_MOST_DRAWS = 12
EVALUATOR, ONNXRUNTIME = "onnxpad float64 evaluator", "onnxruntime without optimisations"


@reported("tensor", "node", "op", "is_padding", "words")
@dataclass(frozen=True, slots=True)
class FirstDifferent:
    """The first tensor, in the order of the model, that a runtime computes otherwise.

    `words` say how it differs, or what a runtime that refuses the model says of it up to there. The
    cause may be in front of it.
    """

    tensor: str
    node: str
    op: str
    is_padding: bool
    words: str


@reported(
    *("target", "ok", "runtime", "reference", "reason", "refuses"),
    *("largest_difference", "first_difference", "shapes"),
)
@dataclass(frozen=True, slots=True)
class WholeRun:
    """The run of a whole model in a runtime.

    `ok` says that it computes the same as the original, which `reference` computed; None where
    nothing could be compared, for a `reason`; `is_open` says that the model leaves sizes open, of
    which one was run; it `refuses` the model, or computes it otherwise.
    `largest_difference` is that of all outputs and
    samples, `shapes` are those of the inputs of the first sample.
    """

    target: str
    ok: bool | None
    runtime: RuntimeRan
    reference: str = ""
    reason: str = ""
    largest_difference: float | None = None
    first_difference: FirstDifferent | None = None
    shapes: Mapping[str, tuple[int, ...]] | None = None
    refuses: bool = False
    is_open: bool = False

    @property
    def sentence(self) -> str:
        """What the run showed, in one sentence for each fact."""
        if self.ok is None:
            return f"not run in {self.runtime}: {self.reason}"
        sizes = ", ".join(f"{name} {list(shape)}" for name, shape in (self.shapes or {}).items())
        at = f" at {sizes}" if self.is_open else ""
        if self.ok:
            off = f"largest difference {self.largest_difference:.2g}"
            return f"runs right in {self.runtime}{at}, {off}"
        first = self.first_difference
        said = f"does not run right in {self.runtime}{at}: {self.reason}"
        if first is None:
            return said
        where = f"'{first.tensor}' of {first.op} '{first.node}'"
        kind = "" if first.is_padding else "; that is not about padding"
        return f"{said}. The first tensor that is not right is {where}{kind}"


class _Original:
    """The model that says what is right: run by onnxruntime, else evaluated in float64.

    The evaluator is asked first where onnxruntime itself is judged, or would be wrong.
    """

    def __init__(self, network: Network, *, prefers_text: bool) -> None:
        self.network = network
        self.references = [EVALUATOR, ONNXRUNTIME] if prefers_text else [ONNXRUNTIME, EVALUATOR]
        self.failure = ""
        self._session = lru_cache(maxsize=1)(self._opened)

    def outputs(self, feeds: Feeds) -> Mapping[str, Array] | None:
        """The outputs; None where neither can compute them, and then `failure` says why."""
        for name in tuple(self.references):
            outputs = self.computed(name, feeds)
            if outputs is not None:
                return outputs
            self.references.reverse()
        return None

    def computed(self, reference: str, feeds: Feeds, *names: str) -> Mapping[str, Array] | None:
        """Tensors, or all outputs, by the evaluator or by onnxruntime; None where it cannot."""
        try:
            if reference == EVALUATOR:
                return evaluated(self.network, feeds, names or self.network.outputs)
            session = self._session(names)
            made = session if isinstance(session, RunFailure) else session.run(feeds, names or None)
        except (OnnxpadError, MemoryError) as error:
            if isinstance(error, LimitMet) and reference == ONNXRUNTIME and not names:
                raise
            self.failure = self.failure or headline(error)
            return None
        if isinstance(made, RunFailure):
            self.failure = str(made)
            return None
        return made

    def _opened(self, names: tuple[str, ...]) -> Session | RunFailure:
        settings = Settings(folder=self.network.folder)
        return open_session(exposed(self.network, names), settings, self.network.outside_bytes)


def run_whole(  # noqa: PLR0913 - each says another thing about the run
    original: ModelLike | Opened,
    path: str,
    target: str,
    runner: Runner,
    *,
    dims: Mapping[str, int | str] | None = None,
    inputs: Sequence[Feeds] | None = None,
    seconds: float | None = None,
    tell: Tell | None = None,
) -> WholeRun:
    """Run the model in the file `path` and compare its outputs with those of `original`.

    Both have the same inputs: `inputs`, or three random samples, of one size where sizes are open,
    which `dims` may fix. Where outputs differ, or the runtime refuses the model, the first tensor
    is looked for that does so alone. Raises RequestError where no inputs can be drawn.
    """
    network, ran = open_network(original), ran_by(runner)
    prefers_text = target.startswith("onnxruntime") or _is_misread(network, dims)
    judge = _Original(network, prefers_text=prefers_text)
    pairs = [(feeds, judge.outputs(feeds)) for feeds in inputs or _drawn(judge, dims)]
    samples = [(feeds, right) for feeds, right in pairs if right is not None]
    if reason := _nothing_to_compare(judge, [right for _, right in samples]):
        return WholeRun(target, ok=None, runtime=ran, reason=reason)
    dims_of = (one.dims or () for one in network.input_types().values())
    has_open = any(not isinstance(size, int) for sizes in dims_of for size in sizes)
    result = WholeRun(
        target,
        ok=True,
        runtime=ran,
        reference=judge.references[0],
        shapes={name: value.shape for name, value in samples[0][0].items()},
        is_open=has_open and not inputs,
    )
    whole = _Whole(judge, open_network(path), runner, seconds or SECONDS)
    largest = 0.0
    for number, (feeds, right) in enumerate(samples):
        if tell:
            tell(f"running the whole model in {ran}, sample {number + 1} of {len(samples)}")
        reply = whole.run(path, feeds, whole.rewritten.model)
        apart = whole.apart(reply, right, feeds)
        if not apart.within:
            if tell:
                tell(f"looking for the first tensor that differs in {ran}")
            fixed = whole.up_to(right, feeds) if has_open else reply
            return _failed(result, whole, (feeds, right), reply, fixed)
        largest = max(largest, apart.max_abs)
    return replace(result, largest_difference=largest)


def _nothing_to_compare(judge: _Original, samples: Sequence[Mapping[str, Array]]) -> str:
    """Why the outputs of samples show nothing; '' where they do."""
    if not samples:
        return f"neither onnxruntime nor the evaluator computes the original: {judge.failure}"
    values = [value for right in samples for value in right.values()]
    if not any(value.size and not _has_nan(value, np.all) for value in values):
        return (
            "the original computes no number for these inputs, so nothing is compared: give "
            "inputs of your own"
        )
    for name, value in samples[0].items():
        if value.dtype == object and any(isinstance(one, np.ndarray) for one in value.flat):
            return f"output '{name}' is a sequence, which is not compared"
    return ""


def _has_nan(value: Array, how: Callable[[Array], Any]) -> bool:
    """Whether every number (`how` is np.all) or any number of an array is NaN or infinite."""
    return value.dtype.kind == "f" and bool(how(~np.isfinite(value)))


def _is_misread(network: Network, dims: Mapping[str, int | str] | None) -> bool:
    """Whether onnxruntime, also without optimisations, computes a padded node otherwise than ONNX.

    As its rules say it; Pads that its optimiser folds into operators are left out.
    """
    try:
        survey = Survey(network.model, dims=dims, folder=network.folder)
    except OnnxpadError:
        return False
    for site in survey.sites_now():
        around = replace(site.chain.around, nearest=None)
        rows = failing(reference(), replace(site.chain, around=around))
        if any(row.answer is Answer.MISCOMPUTES for row in rows):
            return True
    return False


def _drawn(judge: _Original, dims: Mapping[str, int | str] | None) -> list[Feeds]:
    """Random samples at the first sizes at which the original can be computed.

    Sizes come first at which all its numbers are finite: elsewhere it divides by windows without
    cells, and says nothing of a runtime.
    """
    sampler = Sampler(judge.network.input_types(dims), 0, channel_counts(judge.network))
    first: list[Feeds] = []
    for reference_ in (ONNXRUNTIME, EVALUATOR):  # the faster one finds the sizes
        for draw in () if first else islice(sampler.draws(), _MOST_DRAWS):
            feeds = sampler.sample(SAMPLES[0], draw)
            outputs = judge.computed(reference_, feeds)
            if outputs is None:
                continue
            samples = [feeds, *(sampler.sample(index, draw) for index in SAMPLES[1:])]
            if not any(_has_nan(value, np.any) for value in outputs.values()):
                return samples
            first = first or samples
    return first


class _Whole(NamedTuple):
    """The rewritten model and its parts in a runtime, held against the original."""

    judge: _Original
    rewritten: Network
    runner: Runner
    seconds: float

    def run(self, path: str, feeds: Feeds, model: Model) -> Reply:
        """What the runtime makes of the model in a file."""
        return self.runner.run(path, feeds, ranks(model), self.seconds)

    def up_to(self, right: Mapping[str, Array], feeds: Feeds) -> Reply:
        """What the runtime makes of the model between `feeds`, at their sizes, and `right`."""
        network = self.rewritten
        needed = network.behind(right, feeds)
        given = network.reads(needed, feeds)
        part = cut(network, needed, given, right)
        model = with_output_shapes(standalone(part, given), right)
        with tempfile.TemporaryDirectory(prefix="onnxpad-") as folder:
            path = Path(folder, "part.onnx")
            path.write_bytes(model.SerializeToString(deterministic=True))
            return self.run(str(path), given, model)

    def worst(self, reply: Reply, right: Mapping[str, Array], feeds: Feeds) -> tuple[str, Gap]:
        """The output that is furthest off, and how far."""
        near = QUANTISED if quantises(self.judge.network.model) else NEAR
        return worst(reply.outputs, right, feeds, near)

    def apart(self, reply: Reply, right: Mapping[str, Array], feeds: Feeds) -> Gap:
        """How the output that is furthest off differs, or why nothing was computed."""
        if reply.has_run:
            output, gap = self.worst(reply, right, feeds)
            return gap._replace(where=f"'{output}' is {gap.where}")
        ends = {"refused": "it refuses the model", "crash": "its process ends"}
        words = f"{ends.get(reply.status, 'it does not end')}: {reply.message}"
        return Gap(np.inf, np.inf, words)

    def fault_at(self, name: str, feeds: Feeds, *, refuses: bool) -> str:
        """How the runtime gets a tensor wrong; '' where it does not.

        That it stops before counts only where it `refuses` the whole model too.
        """
        try:
            tensors = self.judge.computed(self.judge.references[0], feeds, name)
            if tensors is None:
                return ""
            reply = self.up_to(tensors, feeds)
        except (OnnxpadError, MemoryError):
            return ""
        if not reply.has_run:
            return reply.message if refuses else ""
        _, gap = self.worst(reply, tensors, feeds)
        return gap.where if name in reply.outputs and not gap.within else ""

    def first_different(self, feeds: Feeds, *, refuses: bool) -> FirstDifferent | None:
        """By halves: the first tensor, of those that both models have, that comes out wrong.

        Of a model that the runtime refuses as a whole, also the first part that it refuses.
        """
        network, fault = self.rewritten, cache(partial(self.fault_at, feeds=feeds, refuses=refuses))
        shared = [name for name in network.producers if name in self.judge.network.producers]
        place = bisect_left(shared, True, key=lambda name: bool(fault(name)))  # noqa: FBT003 - found
        if place == len(shared):
            return None
        name = shared[place]
        node = network.nodes[network.producers[name]]
        is_padded = operator(node.domain, node.op_type) is not None
        return FirstDifferent(name, node.name or name, node.op_type, is_padded, fault(name))


def _failed(
    result: WholeRun,
    whole: _Whole,
    sample: tuple[Feeds, Mapping[str, Array]],
    reply: Reply,
    fixed: Reply,
) -> WholeRun:
    """How a run failed and where; `fixed` is what the runtime makes with these sizes in the file.

    Where that is right, the open sizes are the cause.
    """
    feeds, right = sample
    apart, at_fixed = (whole.apart(one, right, feeds) for one in (reply, fixed))
    words, first = apart.where, None
    if not at_fixed.within:
        first = whole.first_different(feeds, refuses=not fixed.has_run)
        if fixed.has_run != reply.has_run:
            words += f"; with these sizes in the file {at_fixed.where}"
        apart = at_fixed
    else:
        words += "; with these sizes in the file (rewrite --dim) it runs right"
    return replace(
        result,
        ok=False,
        reason=words,
        refuses=not reply.has_run,
        largest_difference=apart.max_abs if np.isfinite(apart.max_abs) else None,
        first_difference=first,
    )
