"""Samples that the models can run, and what came out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.sessions import RunFailure, Session
from onnxpad.validation.bench import Bench, Results
from onnxpad.validation.degenerate import degenerate
from onnxpad.validation.sampling import Draw, Sampler
from onnxpad.validation.tracing import trace

Array = NDArray[Any]
_MORE_TRIES = 4


@dataclass(frozen=True, slots=True)
class Pair:
    """The models to compare, under the same names of inputs and outputs."""

    before: Network
    after: Network

    def both(self) -> tuple[Network, Network]:
        """Both, in order."""
        return self.before, self.after


@dataclass(frozen=True, slots=True)
class Ran:
    """One sample and what each model gave for it, optimisations off."""

    index: int
    feeds: Mapping[str, Array]
    before: Results
    after: Results

    def outputs(self, pair: Pair) -> Ran:
        """The same without the captured tensors inside the models."""
        kept = [
            {name: result[name] for name in network.outputs} if isinstance(result, dict) else result
            for network, result in zip(pair.both(), (self.before, self.after), strict=True)
        ]
        return Ran(self.index, self.feeds, kept[0], kept[1])


def run_both(
    bench: Bench, pair: Pair, index: int, feeds: Mapping[str, Array], probes: Sequence[str]
) -> Ran:
    """Both models on the same inputs, with the tensors `probes` beside the outputs."""
    before = bench.run(pair.before, feeds, probes)
    return Ran(index, feeds, before, bench.run(pair.after, feeds, probes))


def random_samples(
    bench: Bench, pair: Pair, sampler: Sampler, count: int, probes: Callable[[], Sequence[str]]
) -> Iterator[Ran]:
    """`count` samples at sizes that the first model runs, or at least the second one.

    Sizes at which a max pool's window holds padding alone, or outputs overflow, are drawn again,
    larger; a warning says so where none was better. `probes` is asked before every sample for the
    tensors to capture.
    """
    settled: Draw | None = None
    hopeless = False
    for index in range(count):
        wanted = tuple(probes())
        ran, draw = _first_that_runs(bench, pair, sampler, index, (settled, wanted))
        if not hopeless and (why := _untold(pair, ran)):
            ran, draw, why = _larger(bench, pair, sampler, (ran, draw, why), wanted)
            if why:
                hopeless = True
                bench.warn(f"{why}, and no better sizes were found: such samples say little")
        if not isinstance(ran.before, RunFailure):
            settled = draw
        yield ran


def _untold(pair: Pair, ran: Ran) -> str:
    """Why the sample says little ('' where it does), by the first model that ran."""
    for network, result in zip(pair.both(), (ran.before, ran.after), strict=True):
        if not isinstance(result, RunFailure):
            return degenerate(network, result)
    return ""


def _larger(
    bench: Bench,
    pair: Pair,
    sampler: Sampler,
    poor: tuple[Ran, Draw, str],
    probes: Sequence[str],
) -> tuple[Ran, Draw, str]:
    """The sample again at larger sizes until one tells; the poor one where none does."""
    least, tried = poor[1].size_from, {_shapes(poor[0].feeds)}
    tries = 0
    for draw in sampler.draws():
        if draw.size_from <= least or draw.style != poor[1].style or tries >= _MORE_TRIES:
            continue
        feeds = sampler.sample(poor[0].index, draw)
        if _shapes(feeds) in tried:
            continue
        tried.add(_shapes(feeds))
        tries += 1
        ran = run_both(bench, pair, poor[0].index, feeds, probes)
        worked = not isinstance(ran.before, RunFailure)
        if worked == (not isinstance(poor[0].before, RunFailure)) and not _untold(pair, ran):
            return ran, draw, ""
    return poor


def _shapes(feeds: Mapping[str, Array]) -> tuple[tuple[int, ...], ...]:
    return tuple(value.shape for value in feeds.values())


def _first_that_runs(
    bench: Bench,
    pair: Pair,
    sampler: Sampler,
    index: int,
    known: tuple[Draw | None, tuple[str, ...]],
) -> tuple[Ran, Draw]:
    settled, probes = known
    draws = [*([settled] if settled else []), *sampler.draws()]
    opens = isinstance(bench.session(pair.before, probes), Session)
    best: tuple[Ran, Draw] | None = None
    patience = len(draws) if opens else 1
    for draw in draws:
        feeds = sampler.sample(index, draw)
        before = bench.run(pair.before, feeds, probes)
        if not isinstance(before, RunFailure):
            after = bench.run(pair.after, feeds, probes)
            return Ran(index, feeds, before, after), draw
        if best is None or isinstance(best[0].after, RunFailure):
            best = Ran(index, feeds, before, bench.run(pair.after, feeds, probes)), draw
            if not isinstance(best[0].after, RunFailure):
                patience = min(patience, _MORE_TRIES)
        patience -= 1
        if patience <= 0:
            break
    assert best is not None  # noqa: S101 - draws() is never empty
    return best


def captured(bench: Bench, pair: Pair, ran: Ran) -> dict[str, Array]:
    """Tensors to judge regions on: from the first model, else the second, else computed.

    Where onnxruntime runs neither, the first model is computed node by node. Raises an
    OnnxpadError where even that is not possible.
    """
    for result in (ran.before, ran.after):
        if not isinstance(result, RunFailure):
            return {**ran.feeds, **result}
    network = pair.before
    indices = [
        index
        for index, node in enumerate(network.nodes)
        if not (node.output and node.output[0] in network.initializers)
    ]
    traced = trace(bench, network, indices, ran.feeds, None)
    return {name: value.stored() for name, value in traced.items()}


def failure_text(ran: Ran) -> str:
    """What onnxruntime said about the models that did not run; one text for the same words."""
    before, after = ran.before, ran.after
    if isinstance(before, RunFailure) and isinstance(after, RunFailure) and before == after:
        return f"onnxruntime {before.stage}s neither model: {before}"
    said = []
    for title, result in (("first", before), ("second", after)):
        if isinstance(result, RunFailure):
            said.append(f"onnxruntime does not {result.stage} the {title} model: {result}")
    return "; ".join(said)


def lacking(runs: Sequence[Ran]) -> str:
    """Which models onnxruntime runs for none of the samples, the first one or both; '' if none."""
    if not all(isinstance(ran.before, RunFailure) for ran in runs):
        return ""
    if all(isinstance(ran.after, RunFailure) for ran in runs):
        return "onnxruntime runs neither model"
    return "onnxruntime does not run the first model"


def without_repeats(reason: str, ran: Ran) -> str:
    """The reason without words of onnxruntime whose cause `failure_text` already gives."""
    head, found, words = reason.partition(": [ONNXRuntimeError]")
    said = [str(r) for r in (ran.before, ran.after) if isinstance(r, RunFailure)]
    repeated = found and any(_cause(words) == _cause(text) for text in said)
    return head if repeated else reason


def _cause(words: str) -> str:
    return words.rsplit("Error", 1)[-1].strip()
