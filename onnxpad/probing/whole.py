"""The run of a whole model in a runtime, held against the original."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import OnnxpadError, RequestError, RuntimeUnavailable, headline
from onnxpad.model.comparing.networks import Network, open_lean_network, open_network
from onnxpad.model.comparing.pieces import cut, exposed, standalone
from onnxpad.model.opened import ModelLike, Opened
from onnxpad.model.reading.survey import Survey
from onnxpad.model.small_models import with_output_shapes
from onnxpad.padding.chain import NO_PAD
from onnxpad.padding.operators import operator
from onnxpad.probing.agreement import NEAR, QUANTISED, Difference, difference, worst
from onnxpad.probing.expected import evaluated
from onnxpad.probing.live import RuntimeRan, ran_by
from onnxpad.probing.probes import quantises, ranks
from onnxpad.probing.random_inputs import Sampler
from onnxpad.reports import reported
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.judge import failing
from onnxpad.runtimes.onnxruntime.reference import reference
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

    `words` say how it differs, or what the runtime says of the model up to there. `has_grown` says
    that its node computes it right from right inputs: the cause is in front of it.
    """

    tensor: str
    node: str
    op: str
    is_padding: bool
    words: str
    has_grown: bool = False


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
        if self.largest_difference is None and self.refuses:
            return f"{said}. It stops at {where}{kind}"
        if first.has_grown:
            kind = ", which is right alone: the cause is in front of it (inspect --live)"
        return f"{said}. The first tensor that differs beyond rounding is {where}{kind}"


_Asked = Callable[[str, Feeds, Mapping[str, int]], Reply]


class _Sample(NamedTuple):
    feeds: Feeds
    right: Mapping[str, Array]


class _Original:
    """The model that says what is right: run by onnxruntime, else evaluated in float64.

    The evaluator is asked first where onnxruntime itself is judged, or would be wrong.
    """

    def __init__(self, network: Network, *, prefers_text: bool) -> None:
        self.network = network
        self.reference = EVALUATOR if prefers_text else ONNXRUNTIME
        self._session: Session | RunFailure | None = None
        self.failure = ""

    @property
    def near(self) -> float:
        """How near numbers have to be, of the largest one."""
        return QUANTISED if quantises(self.network.model) else NEAR

    def outputs(self, feeds: Feeds) -> Mapping[str, Array] | None:
        """The outputs; None where neither can compute them, and then `failure` says why."""
        second = ONNXRUNTIME if self.reference == EVALUATOR else EVALUATOR
        for name in (self.reference, second):
            ask = self.evaluated if name == EVALUATOR else self.in_onnxruntime
            outputs = ask(feeds)
            if outputs is not None:
                self.reference = name
                return outputs
        return None

    def tensor(self, name: str, feeds: Feeds) -> Array:
        """One tensor of the main graph; raises OnnxpadError where it cannot be computed."""
        if self.reference == EVALUATOR:
            return evaluated(self.network, feeds, [name])[name]
        settings = Settings(folder=self.network.folder)
        session = open_session(exposed(self.network, [name]), settings)
        found = session if isinstance(session, RunFailure) else session.run(feeds, [name])
        if isinstance(found, RunFailure):
            raise RequestError(str(found))
        return found[name]

    def evaluated(self, feeds: Feeds) -> Mapping[str, Array] | None:
        """The outputs in float64; None where they cannot be computed so."""
        try:
            return evaluated(self.network, feeds, self.network.outputs)
        except (OnnxpadError, MemoryError) as error:
            self.failure = self.failure or headline(error)
            return None

    def in_onnxruntime(self, feeds: Feeds) -> Mapping[str, Array] | None:
        """The outputs as onnxruntime computes them; None where it does not run the model."""
        if self._session is None:
            settings = Settings(folder=self.network.folder)
            more = self.network.outside_bytes
            try:
                self._session = open_session(self.network.serialised(), settings, more)
            except RuntimeUnavailable as error:
                self._session = RunFailure("open", headline(error))
        if isinstance(self._session, RunFailure):
            self.failure = str(self._session)
            return None
        found = self._session.run(feeds)
        if isinstance(found, RunFailure):
            self.failure = str(found)
            return None
        return found


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
    network = open_lean_network(original)
    prefers_text = target.startswith("onnxruntime") or _is_misread(network, dims)
    judge = _Original(network, prefers_text=prefers_text)
    ran = ran_by(runner)
    samples = _samples(judge, inputs or _drawn(judge, dims))
    result = partial(WholeRun, target, runtime=ran)
    if not samples:
        reason = f"neither onnxruntime nor the evaluator computes the original: {judge.failure}"
        return result(ok=None, reason=reason)
    shapes = {name: value.shape for name, value in samples[0].feeds.items()}
    if not any(_tells(value) for sample in samples for value in sample.right.values()):
        reason = (
            "the original computes no number for these inputs, so nothing is compared: give "
            "inputs of your own"
        )
        return result(ok=None, reason=reason)
    listed = [name for name, value in samples[0].right.items() if _is_sequence(value)]
    if listed:
        reason = f"output '{listed[0]}' is a sequence, which is not compared"
        return result(ok=None, reason=reason)
    dims_of = (one.dims or () for one in network.input_types().values())
    has_open = any(not isinstance(size, int) for sizes in dims_of for size in sizes)
    is_open = has_open and not inputs
    told = partial(result, reference=judge.reference, shapes=shapes, is_open=is_open)
    rewritten = open_network(path)

    def ask(model: str, feeds: Feeds, outputs: Mapping[str, int]) -> Reply:
        return runner.run(model, feeds, outputs, seconds or SECONDS)

    names = ranks(rewritten.model)
    largest = 0.0
    for number, sample in enumerate(samples):
        if tell:
            tell(f"running the whole model in {ran}, sample {number + 1} of {len(samples)}")
        reply = ask(path, sample.feeds, names)
        _, apart = _apart(reply, sample.right, judge.near)
        if apart.is_fault:
            if tell:
                tell(f"looking for the first tensor that differs in {ran}")
            return _failed(told, judge, rewritten, ask, sample, reply, has_open=has_open)
        largest = max(largest, apart.amount)
    return told(ok=True, largest_difference=largest)


def _is_misread(network: Network, dims: Mapping[str, int | str] | None) -> bool:
    """Whether onnxruntime, also without optimisations, computes a padded node otherwise than ONNX.

    As its rules say it; Pads that its optimiser folds into operators are left out.
    """
    try:
        survey = Survey(network.model, dims=dims, folder=network.folder)
    except OnnxpadError:
        return False
    for site in survey.sites_now():
        around = replace(site.chain.around, nearest=NO_PAD)
        rows = failing(reference(), replace(site.chain, around=around))
        if any(row.answer is Answer.MISCOMPUTES for row in rows):
            return True
    return False


def _failed(  # noqa: PLR0913 - all that a run is made of
    told: Callable[..., WholeRun],
    judge: _Original,
    rewritten: Network,
    ask: _Asked,
    sample: _Sample,
    reply: Reply,
    *,
    has_open: bool,
) -> WholeRun:
    """How a run failed and where, of a model with open sizes also whether these are the cause."""
    words, apart = _apart(reply, sample.right, judge.near)
    fixed = _up_to(rewritten, sample.right, ask, sample.feeds) if has_open else reply
    at_fixed, apart_fixed = _apart(fixed, sample.right, judge.near)
    first = None
    if apart_fixed.is_fault:
        first, apart = _first_different(judge, rewritten, ask, sample, fixed), apart_fixed
        words += f"; with these sizes in the file {at_fixed}" * (_ran(fixed) != _ran(reply))
    else:
        words += "; with these sizes in the file (rewrite --dim) it runs right"
    amount = apart.amount if np.isfinite(apart.amount) else None
    end = told(ok=False, reason=words, refuses=not _ran(reply))
    return replace(end, largest_difference=amount, first_difference=first)


def _is_sequence(value: Array) -> bool:
    """Whether an output is a sequence of tensors, which is an array of arrays here."""
    return value.dtype == object and any(isinstance(one, np.ndarray) for one in value.flat)


def _tells(value: Array) -> bool:
    """Whether an output has a cell that a runtime can get wrong: not empty, and not all NaN."""
    return bool(value.size) and not (value.dtype.kind == "f" and bool(np.isnan(value).all()))


def _drawn(judge: _Original, dims: Mapping[str, int | str] | None) -> list[Feeds]:
    """Random samples at the first sizes at which the original can be computed.

    Sizes come first at which all its numbers are finite: elsewhere it divides by windows without
    cells, and says nothing of a runtime.
    """
    sampler = Sampler(judge.network.input_types(dims), 0)
    first: list[Feeds] = []
    for compute in (judge.in_onnxruntime, judge.evaluated):  # the faster one finds the sizes
        for draw in () if first else islice(sampler.draws(), _MOST_DRAWS):
            feeds = sampler.sample(SAMPLES[0], draw)
            outputs = compute(feeds)
            if outputs is None:
                continue
            samples = [feeds, *(sampler.sample(index, draw) for index in SAMPLES[1:])]
            if all(map(_is_finite, outputs.values())):
                return samples
            first = first or samples
    return first


def _is_finite(value: Array) -> bool:
    return value.dtype.kind != "f" or bool(np.isfinite(value).all())


def _samples(judge: _Original, inputs: Sequence[Feeds]) -> list[_Sample]:
    pairs = ((feeds, judge.outputs(feeds)) for feeds in inputs)
    return [_Sample(feeds, right) for feeds, right in pairs if right is not None]


def _ran(reply: Reply) -> bool:
    return reply.status in ("ran", "fell back")


def _apart(reply: Reply, right: Mapping[str, Array], near: float) -> tuple[str, Difference]:
    """How the output that is furthest off differs, or why nothing was computed; and how much."""
    if _ran(reply):
        output, apart = worst(reply.outputs, right, near)
        return f"'{output}' is {apart.words}", apart
    ends = {"refused": "it refuses the model", "crash": "its process ends"}
    words = f"{ends.get(reply.status, 'it does not end')}: {reply.message}"
    return words, Difference(np.inf, 0.0, (), words)


def _first_different(
    judge: _Original, rewritten: Network, ask: _Asked, sample: _Sample, whole: Reply
) -> FirstDifferent | None:
    """By halves: the first tensor, of those that both models have, that the runtime gets wrong.

    Of a model that the runtime refuses as a whole, the first part that it refuses.
    """
    shared = list(_shared(judge.network, rewritten))
    refuses = not _ran(whole)

    def words_at(place: int) -> str | None:
        """How the tensor differs; None where it does not."""
        try:
            right = judge.tensor(shared[place], sample.feeds)
            reply = _up_to(rewritten, {shared[place]: right}, ask, sample.feeds)
        except (OnnxpadError, MemoryError):
            return None
        if not _ran(reply):
            return reply.message if refuses else None
        if refuses or shared[place] not in reply.outputs:
            return None
        apart = difference(reply.outputs[shared[place]], right, judge.near)
        return apart.words if apart.is_fault else None

    least, most, found = 0, len(shared), ""
    while least < most:
        middle = (least + most) // 2
        words = words_at(middle)
        if words is None:
            least = middle + 1
        else:
            most, found = middle, words
    if least == len(shared):
        return None
    node = rewritten.operation(rewritten.producers[shared[least]])
    is_padding = operator(node.domain, node.op_type) is not None
    name = node.name or shared[least]
    has_grown = not refuses and _is_right_alone(judge, rewritten, ask, sample, shared[least])
    return FirstDifferent(shared[least], name, node.op_type, is_padding, found, has_grown)


def _is_right_alone(
    judge: _Original, network: Network, ask: _Asked, sample: _Sample, name: str
) -> bool:
    """Whether the node that makes a tensor computes it right from what it should be fed."""
    made = network.names_read([network.producers[name]]) & judge.network.producers.keys()
    try:
        fed = {
            one: judge.tensor(one, sample.feeds) for one in made if network.constant(one) is None
        }
        right = judge.tensor(name, sample.feeds)
        reply = _up_to(network, {name: right}, ask, sample.feeds | fed)
    except (OnnxpadError, MemoryError):
        return False
    return _ran(reply) and not worst(reply.outputs, {name: right}, judge.near)[1].is_fault


def _shared(original: Network, rewritten: Network) -> Iterator[str]:
    """Tensors of both main graphs, in the order in which the second makes them."""
    return (name for name in rewritten.producers if name in original.producers)


def _up_to(network: Network, right: Mapping[str, Array], ask: _Asked, feeds: Feeds) -> Reply:
    """What the runtime makes of the model, from `feeds` on and at their sizes, up to `right`."""
    needed, waiting = set[int](), list(right)
    while waiting:
        name = waiting.pop()
        index = None if name in feeds else network.producers.get(name)
        if index is not None and index not in needed:
            needed.add(index)
            waiting += network.names_read([index])
    used = network.names_read(needed)
    given = {key: value for key, value in feeds.items() if key in used}
    part = cut(network, sorted(needed), {k: v.dtype for k, v in given.items()}, right)
    model = with_output_shapes(standalone(part, given), right)
    with tempfile.TemporaryDirectory(prefix="onnxpad-") as folder:
        path = Path(folder, "part.onnx")
        path.write_bytes(model.SerializeToString(deterministic=True))
        return ask(str(path), given, ranks(model))
