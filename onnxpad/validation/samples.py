"""Samples that both models run, and what came out of them at both levels of optimisation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.probing.random_inputs import Draw, Sampler
from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import same_bits
from onnxpad.validation.bench import Bench, Results

Array = NDArray[Any]
# A float32 or float64 beyond this came from the lowest float, not from data of ordinary size.
HUGE = 1e37
_MORE_TRIES = 4
_MOST_TRIED = 1 << 23
_MOST_SAMPLES, _MOST_WORK = 24, 1 << 22
_SCALES = (10.0, -3000.0, 3000.0, 0.01)
_SMALL, _OTHER, _SMALL_SAMPLE = 8, 32, 1 << 19
_USUAL = (64, 33, 47)
"""Of which strides leave no row, or some, at every stage."""


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
    """Both models on the same inputs; what both give with the same bits is held once."""
    before, after = (bench.run(network, feeds) for network in pair.both())
    if isinstance(before, dict) and isinstance(after, dict):
        after = {
            name: before[name] if name in before and same_bits(before[name], value) else value
            for name, value in after.items()
        }
    return Ran(index, feeds, before, after)


def random_samples(bench: Bench, pair: Pair, sampler: Sampler, count: int) -> Iterator[Ran]:
    """`count` samples at sizes that the first model runs, or at least the second one.

    Sizes at which outputs are empty or overflow are drawn again; a warning says so where none was
    better.
    """
    hopeless = False
    for index in range(count):
        ran, draw = _first_that_runs(bench, pair, sampler, index)
        if not hopeless and (why := _untold(pair, ran)):
            ran, draw, why = _larger(bench, pair, sampler, (ran, draw, why))
            if why:
                hopeless = True
                bench.warn(f"{why}, and no better sizes were found: such samples say little")
        if not isinstance(ran.before, RunFailure):
            sampler.settled = draw
        yield ran


def scaled_samples(bench: Bench, pair: Pair, ran: Ran, first: int) -> Iterator[Ran]:
    """A sample in other magnitudes, which pass limits and fills that N(0, 1) does not reach.

    Numbers that overflow in either model say nothing about the other one.
    """
    for index, scale in enumerate(_SCALES, first):
        feeds = {
            name: (value * scale).astype(value.dtype) if value.dtype.kind == "f" else value
            for name, value in ran.feeds.items()
        }
        moved = run_both(bench, pair, index, feeds)
        results = zip(pair.both(), (moved.before, moved.after), strict=True)
        if not any(isinstance(one, RunFailure) or degenerate(by, one) for by, one in results):
            yield moved


def small_samples(bench: Bench, pair: Pair, sampler: Sampler, first: int) -> Iterator[Ran]:
    """Many samples of small inputs, from the index `first` on; fewer of larger models."""
    if (settled := sampler.settled) is None:
        return
    tame = Draw(_SMALL, settled.square, settled.style, (), settled.channels)
    for draw in (settled, tame):
        work = sampler.cells(first, draw) * max(len(one.nodes) for one in pair.both())
        for index in range(first, first + min(_MOST_SAMPLES, _MOST_WORK // max(1, work))):
            bench.progress(f"sample {index}")
            ran = run_both(bench, pair, index, sampler.sample(index, draw))
            if isinstance(ran.before, RunFailure):
                break
            if not degenerate(pair.before, ran.before):
                yield ran


def samples_at(
    bench: Bench, pair: Pair, sampler: Sampler, sizes: Sequence[int], first: int
) -> Iterator[Ran]:
    """Small samples at some sizes, and with each that is given on all open axes and on one."""
    if (settled := sampler.settled) is None:
        return
    columns: list[Sequence[int]] = [_USUAL]
    columns += [column for size in sizes for column in ([size], [size, _OTHER, _OTHER])]
    draws = chain.from_iterable(sampler.at_sizes(column, settled) for column in columns)
    for index, draw in enumerate(draws, first):
        if sampler.cells(index, draw) <= _SMALL_SAMPLE:
            ran = run_both(bench, pair, index, sampler.sample(index, draw))
            if not isinstance(ran.before, RunFailure) and not degenerate(pair.before, ran.before):
                yield ran


def _untold(pair: Pair, ran: Ran) -> str:
    """Why the sample says little ('' where it does), by the first model that ran."""
    for network, result in zip(pair.both(), (ran.before, ran.after), strict=True):
        if not isinstance(result, RunFailure):
            return degenerate(network, result)
    return ""


def _larger(
    bench: Bench, pair: Pair, sampler: Sampler, poor: tuple[Ran, Draw, str]
) -> tuple[Ran, Draw, str]:
    """The sample again at larger sizes until one tells; the poor one where none does."""
    (ran, draw, _), tries = poor, 0
    tried = {_shapes(ran.feeds)}
    for larger in sampler.draws():
        if larger.size_from <= draw.size_from or larger.style != draw.style:
            continue
        if tries >= _MORE_TRIES or sampler.cells(ran.index, larger) > _MOST_TRIED:
            continue
        feeds = sampler.sample(ran.index, larger)
        if _shapes(feeds) in tried:
            continue
        tried.add(_shapes(feeds))
        tries += 1
        found = run_both(bench, pair, ran.index, feeds)
        worked = not isinstance(found.before, RunFailure)
        if worked == (not isinstance(ran.before, RunFailure)) and not _untold(pair, found):
            return found, larger, ""
    return poor


def _shapes(feeds: Mapping[str, Array]) -> tuple[tuple[int, ...], ...]:
    return tuple(value.shape for value in feeds.values())


def _first_that_runs(bench: Bench, pair: Pair, sampler: Sampler, index: int) -> tuple[Ran, Draw]:
    """The sample at the first sizes that the first model runs, else the best that was tried."""
    draws = [*([sampler.settled] if sampler.settled else []), *sampler.draws()]
    opens = not isinstance(bench.session(pair.before), RunFailure)
    patience = len(draws) if opens else 1
    best: tuple[Ran, Draw] | None = None
    for draw in draws:
        if best is not None and sampler.cells(index, draw) > _MOST_TRIED:
            continue  # to find out what fits is no reason to fill the memory
        ran = run_both(bench, pair, index, sampler.sample(index, draw))
        if not isinstance(ran.before, RunFailure):
            return ran, draw
        if best is None or isinstance(best[0].after, RunFailure):
            best = ran, draw
            if not isinstance(ran.after, RunFailure):
                patience = min(patience, _MORE_TRIES)
        patience -= 1
        if patience <= 0:
            break
    assert best is not None  # noqa: S101 - draws() is never empty
    return best


def degenerate(network: Network, results: Mapping[str, Array]) -> str:
    """Why these results of the model say little about it, or '' where they do.

    onnxruntime 1.31.1 gives the lowest float for a MaxPool window without a real cell, and later
    layers make huge numbers or NaN of it.
    """
    for name in network.outputs:
        value = results[name]
        if value.dtype != object and value.size == 0:
            return f"output '{name}' is empty, of shape {list(value.shape)}"
        if value.dtype.kind != "f":
            continue
        limit = min(HUGE, float(np.finfo(value.dtype).max))
        with np.errstate(invalid="ignore"):
            if not (np.abs(value) < limit).all():
                return f"output '{name}' holds NaN, infinities or numbers beyond {HUGE:g}"
    return ""


def channel_counts(pair: Pair) -> tuple[int, ...]:
    """Lengths of constants of one axis, the first of the model first: numbers of channels."""
    found = [
        max(tensor.dims)
        for network in pair.both()
        for node in network.nodes
        for name in node.input
        if (tensor := network.initializers.get(name)) is not None
        and prod(tensor.dims) == max(tensor.dims, default=1) > 1
    ]
    return tuple(dict.fromkeys(int(one) for one in found))[:3]
