"""Samples that both models run, and what came out of them, optimisations off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.model.graph.types import Type
from onnxpad.probing.random_inputs import Draw, Sampler, channel_counts
from onnxpad.sessions import RunFailure
from onnxpad.validation.bench import Bench, Results

Array = NDArray[Any]
HUGE = 1e37
"""A float32 or float64 beyond this came from the lowest float, not from data of ordinary size."""
_MOST_TRIES, _MOST_TRIED = 5, 1 << 23
"""Sizes that are tried where a model runs, and cells of inputs that are drawn to find out."""
_MOST_SAMPLES, _MOST_WORK = 24, 1 << 22
"""Further samples of one size, and how many cells times nodes they may have together."""
_SCALES = (10.0, -3000.0, 3000.0, 0.01)
_SMALL = 8
_COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_FEW, _LARGEST = 4, 1 << 20
_LARGER = ((64, True), (33, False), (47, False))
"""Sizes of which strides leave no row, or some, at every stage."""


class Pair(NamedTuple):
    """The models to compare, under the same names of inputs and outputs."""

    before: Network
    after: Network

    def sampler(self, types: Mapping[str, Type], seed: int) -> Sampler:
        """What draws inputs of these types for both."""
        counts = (count for network in self for count in channel_counts(network))
        return Sampler(types, seed, tuple(dict.fromkeys(counts)))


@dataclass(frozen=True, slots=True)
class Ran:
    """One sample and what each model gave for it, optimisations off."""

    index: int
    feeds: Mapping[str, Array]
    before: Results
    after: Results

    @property
    def results(self) -> tuple[Mapping[str, Array], ...]:
        """What the models that ran gave, the first model's first."""
        return tuple(one for one in (self.before, self.after) if not isinstance(one, RunFailure))

    @property
    def failures(self) -> tuple[str, ...]:
        """What onnxruntime said of the models that did not run; one text for the same words."""
        before, after = self.before, self.after
        if isinstance(before, RunFailure) and before == after:
            return (f"onnxruntime {before.stage}s neither model: {before}",)
        pairs = ("first", before), ("second", after)
        return tuple(
            f"onnxruntime does not {result.stage} the {title} model: {result}"
            for title, result in pairs
            if isinstance(result, RunFailure)
        )


def run_both(bench: Bench, pair: Pair, index: int, feeds: Mapping[str, Array]) -> Ran:
    """Both models on the same inputs."""
    bench.progress(f"sample {index}")
    before, after = (bench.run(network, feeds) for network in pair)
    return Ran(index, feeds, before, after)


def random_samples(bench: Bench, pair: Pair, sampler: Sampler, count: int) -> Iterator[Ran]:
    """`count` samples at sizes that the first model runs, or at least the second one.

    Sizes at which outputs are empty or overflow are drawn again; a warning says so where none was
    better.
    """
    for index in range(count):
        ran, draw, why = _tried(bench, pair, sampler, index)
        if why:
            bench.warn(f"{why}, and no better sizes were found: such samples say little")
        if isinstance(ran.before, dict):
            sampler.settled = draw
        yield ran


def _tried(bench: Bench, pair: Pair, sampler: Sampler, index: int) -> tuple[Ran, Draw, str]:
    """The sample at the first sizes that the first model runs, else the best of some more.

    With the sample its draw, and why it says little.
    """
    best: tuple[Ran, Draw, str] | None = None
    worth, tries = (False, False, False), 0
    opens = not isinstance(bench.session(pair.before), RunFailure)
    for draw in sampler.draws():
        if best is not None and sampler.cells(index, draw) > _MOST_TRIED:
            continue  # to find out what fits is no reason to fill the memory
        ran = run_both(bench, pair, index, sampler.sample(index, draw))
        why = degenerate(ran.results[0]) if ran.results else ""
        value = isinstance(ran.before, dict), bool(ran.results), not why
        if best is None or value > worth:
            best, worth = (ran, draw, why), value
        tries += bool(best[0].results)
        if not opens or tries == _MOST_TRIES or (worth[0] and worth[2]):
            break
    assert best is not None  # noqa: S101 - draws() is never empty
    return best


def further_samples(
    bench: Bench, pair: Pair, sampler: Sampler, ran: Ran, first: int, *, formal: bool
) -> Iterator[Ran]:
    """What three samples of N(0, 1) may hide, numbered from `first`.

    Other sizes; of two formulas (`formal`), which differ in few cells, many small samples; other
    magnitudes of the sample `ran`, which pass limits and fills. Numbers that overflow in either
    model say nothing about the other one.
    """
    if (settled := sampler.settled) is None:
        return
    draws = list[Draw]()
    if sampler.open_sizes:
        draws += [replace(settled, size_from=size, square=square) for size, square in _LARGER]
        draws += [replace(settled, size_from=size, exact=True) for size in _compared(pair)]
    small = replace(settled, size_from=_SMALL)
    nodes = max(len(one.nodes) for one in pair)
    draws = [draw for draw in draws if sampler.cells(first, draw) * nodes <= _MOST_WORK]
    for draw in (settled, small) if formal else ():
        draws += [draw] * min(
            _MOST_SAMPLES, _MOST_WORK // max(1, sampler.cells(first, draw) * nodes)
        )
    feeds = [sampler.sample(index, draw) for index, draw in enumerate(draws, first)]
    for scale in _SCALES:
        pairs = ran.feeds.items()
        feeds.append(
            {n: (v * scale).astype(v.dtype) if v.dtype.kind == "f" else v for n, v in pairs}
        )
    for index, given in enumerate(feeds, first):
        more = run_both(bench, pair, index, given)
        if len(more.results) > 1 and not any(map(degenerate, more.results)):
            yield more


def _compared(pair: Pair) -> tuple[int, ...]:
    """Small numbers that models compare with; a size that is one may be a case of its own."""
    constants = [
        network.constant(name)
        for network in pair
        for node in network.nodes
        if node.op_type in _COMPARISONS
        for name in node.input
        if (tensor := network.initializers.get(name)) and prod(tensor.dims) <= _FEW
    ]
    numbers = [one for value in constants if value is not None for one in value.ravel().tolist()]
    return tuple(dict.fromkeys(int(one) for one in numbers if 0 < one < _LARGEST))[:_FEW]


def degenerate(results: Mapping[str, Array]) -> str:
    """Why these outputs say little about their model, or '' where they do.

    onnxruntime 1.31.1 gives the lowest float for a MaxPool window without a real cell, and later
    layers make huge numbers or NaN of it.
    """
    for name, value in results.items():
        if value.dtype != object and value.size == 0:
            return f"output '{name}' is empty, of shape {list(value.shape)}"
        if value.dtype.kind != "f":
            continue
        limit = min(HUGE, float(np.finfo(value.dtype).max))
        with np.errstate(invalid="ignore"):
            if not (np.abs(value) < limit).all():
                return f"output '{name}' holds NaN, infinities or numbers beyond {HUGE:g}"
    return ""
