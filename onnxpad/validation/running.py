"""Samples that the models can run, and what came out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from onnxpad.graph.comparison.networks import Network
from onnxpad.runtime import RunFailure, Session
from onnxpad.validation.bench import Bench, Results
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

    `probes` is asked before every sample for the tensors to capture.
    """
    settled: Draw | None = None
    for index in range(count):
        ran, draw = _first_that_runs(bench, pair, sampler, index, (settled, tuple(probes())))
        if not isinstance(ran.before, RunFailure):
            settled = draw
        yield ran


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
    """What onnxruntime said about the models that did not run."""
    said = []
    for title, result in (("first", ran.before), ("second", ran.after)):
        if isinstance(result, RunFailure):
            said.append(f"onnxruntime does not {result.stage} the {title} model: {result}")
    return "; ".join(said)
