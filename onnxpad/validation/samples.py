"""Samples that both models run, and what came out of them, optimisations off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.probing.random_inputs import Draw, Sampler
from onnxpad.sessions import RunFailure
from onnxpad.validation.bench import Bench, Results

Array = NDArray[Any]
HUGE = 1e37
"""A float32 or float64 beyond this came from the lowest float, not from data of ordinary size."""
_MORE_TRIES, _MOST_TRIED = 4, 1 << 23
_MOST_SAMPLES, _MOST_WORK = 24, 1 << 22
_SCALES = (10.0, -3000.0, 3000.0, 0.01)
_SMALL, _SMALL_SAMPLE = 8, 1 << 19
_COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_FEW, _LARGEST, _OTHERS = 4, 1 << 20, (32, 32)
_USUAL = (64, 33, 47)
"""Of which strides leave no row, or some, at every stage."""


class Pair(NamedTuple):
    """The models to compare, under the same names of inputs and outputs."""

    before: Network
    after: Network


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


class _Trial(NamedTuple):
    """A sample at some sizes; `why` it says little, '' where it says enough or nothing ran."""

    ran: Ran
    draw: Draw
    why: str

    @property
    def worth(self) -> tuple[bool, bool, bool]:
        """The order in which trials are preferred: the first model ran, any ran, it says enough."""
        ran = [isinstance(result, dict) for result in (self.ran.before, self.ran.after)]
        return ran[0], any(ran), not self.why


def run_both(bench: Bench, pair: Pair, index: int, feeds: Mapping[str, Array]) -> Ran:
    """Both models on the same inputs."""
    before, after = (bench.run(network, feeds) for network in pair)
    return Ran(index, feeds, before, after)


def random_samples(bench: Bench, pair: Pair, sampler: Sampler, count: int) -> Iterator[Ran]:
    """`count` samples at sizes that the first model runs, or at least the second one.

    Sizes at which outputs are empty or overflow are drawn again; a warning says so where none was
    better.
    """
    is_hopeless = False
    for index in range(count):
        trial = _tried(bench, pair, sampler, index, picky=not is_hopeless)
        if trial.why and not is_hopeless:
            is_hopeless = True
            bench.warn(f"{trial.why}, and no better sizes were found: such samples say little")
        if trial.worth[0]:
            sampler.settled = trial.draw
        yield trial.ran


def _tried(bench: Bench, pair: Pair, sampler: Sampler, index: int, *, picky: bool) -> _Trial:
    """The sample at the first sizes that the first model runs, else the best of some more.

    What says little is tried again at other sizes where the search is `picky`.
    """
    draws = [*([sampler.settled] if sampler.settled else []), *sampler.draws()]
    left = 1 if isinstance(bench.session(pair.before), RunFailure) else len(draws)
    best: _Trial | None = None
    for draw in draws:
        if best is not None and sampler.cells(index, draw) > _MOST_TRIED:
            continue  # to find out what fits is no reason to fill the memory
        ran = run_both(bench, pair, index, sampler.sample(index, draw))
        sides = zip(pair, (ran.before, ran.after), strict=True)
        results = [(by, result) for by, result in sides if isinstance(result, dict)]
        trial = _Trial(ran, draw, degenerate(*results[0]) if results and picky else "")
        left -= 1
        if best is None or trial.worth > best.worth:
            best = trial
            left = min(left, _MORE_TRIES) if results else left
        if left <= 0 or (best.worth[0] and not best.why):
            break
    assert best is not None  # noqa: S101 - draws() is never empty
    return best


def further_samples(
    bench: Bench, pair: Pair, sampler: Sampler, ran: Ran, first: int, *, formal: bool
) -> Iterator[Ran]:
    """What three samples of N(0, 1) may hide, numbered from `first`.

    Other sizes, those that the models compare numbers with as well; other magnitudes of the sample
    `ran`, which pass limits and fills; of two formulas (`formal`), which differ in few cells, many
    small samples. Numbers that overflow in either model say nothing about the other one.
    """
    if (settled := sampler.settled) is None:
        return
    columns = [_USUAL, *((size, *more) for size in _compared(pair) for more in ((), _OTHERS))]
    draws = [
        draw
        for sizes in columns
        for draw in sampler.at_sizes(sizes)
        if sampler.cells(first, draw) <= _SMALL_SAMPLE
    ]
    small = replace(settled, size_from=_SMALL, sizes=())
    for draw in (settled, small) if formal else ():
        work = sampler.cells(first, draw) * max(len(one.nodes) for one in pair)
        draws += [draw] * min(_MOST_SAMPLES, _MOST_WORK // max(1, work))
    feeds = [sampler.sample(index, draw) for index, draw in enumerate(draws, first)]
    feeds += [
        {
            name: (value * scale).astype(value.dtype) if value.dtype.kind == "f" else value
            for name, value in ran.feeds.items()
        }
        for scale in _SCALES
    ]
    for index, given in enumerate(feeds, first):
        bench.progress(f"sample {index}")
        more = run_both(bench, pair, index, given)
        results = zip(pair, (more.before, more.after), strict=True)
        if not any(isinstance(one, RunFailure) or degenerate(by, one) for by, one in results):
            yield more


def _compared(pair: Pair) -> tuple[int, ...]:
    """Small numbers that models compare with; a size that is one may be a case of its own."""
    found: list[int] = []
    for network in pair:
        for node in network.nodes:
            for name in node.input if node.op_type in _COMPARISONS else ():
                tensor = network.initializers.get(name)
                value = network.constant(name) if tensor and prod(tensor.dims) <= _FEW else None
                if value is not None and value.dtype.kind in "iuf":
                    found += [int(one) for one in value.ravel() if 0 < one < _LARGEST]
    return tuple(dict.fromkeys(found))[:_FEW]


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
        for network in pair
        for node in network.nodes
        for name in node.input
        if (tensor := network.initializers.get(name)) is not None
        and prod(tensor.dims) == max(tensor.dims, default=1) > 1
    ]
    return tuple(dict.fromkeys(int(one) for one in found))[:3]
