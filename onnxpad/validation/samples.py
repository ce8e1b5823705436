"""Samples that both models run and that tell something, and what came out of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.probing.random_inputs import Draw, Sampler
from onnxpad.sessions import RunFailure, Session
from onnxpad.validation.agreement import Bound, gap, largest, same, same_bits
from onnxpad.validation.bench import Bench, Results
from onnxpad.validation.difference_maps import difference_map
from onnxpad.validation.report import OutputRow
from onnxpad.validation.sizes import compared_sizes, stage_sizes
from onnxpad.validation.trace import trace

Array = NDArray[Any]
# A float32 or float64 beyond this came from the lowest float, not from data of ordinary size.
HUGE = 1e37
_MORE_TRIES = 4
_MOST_TRIED = 1 << 23
_SMALL_SAMPLE = 1 << 19
_MORE_SAMPLES, _SECONDS_MORE = 100, 2.0


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
    return _beside(index, feeds, before, bench.run(pair.after, feeds, probes))


def _beside(index: int, feeds: Mapping[str, Array], before: Results, after: Results) -> Ran:
    """A sample; what both models give with the same bits is held once."""
    if isinstance(before, dict) and isinstance(after, dict):
        after = {
            name: before[name] if name in before and same_bits(before[name], value) else value
            for name, value in after.items()
        }
    return Ran(index, feeds, before, after)


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
            settled = sampler.settled = draw
        yield ran
        del ran  # the next one may need the memory


def other_sizes(
    bench: Bench, pair: Pair, sampler: Sampler, settled: Draw, seen: Sequence[Ran]
) -> Iterator[Ran]:
    """Samples at sizes that tell more about strides than those `seen`, where the first model runs.

    They are small: what is looked for depends on what sizes leave over, not on how large they are.
    Sizes that the models compare with are tried too.
    """
    tried = {_shapes(ran.feeds) for ran in seen}
    columns = [stage_sizes(pair.both()), *([one] for one in compared_sizes(pair.both()))]
    draws = chain.from_iterable(sampler.at_sizes(column, settled) for column in columns)
    for number, draw in enumerate(draws):
        shapes = sampler.shapes(len(seen), draw)
        key = tuple(tuple(shape) for shape in shapes.values())
        if key in tried or sum(map(prod, key)) > _SMALL_SAMPLE:
            continue
        tried.add(key)
        bench.progress(f"sizes {', '.join(str(list(shape)) for shape in key)}")
        ran = run_both(bench, pair, len(seen) + number, sampler.sample(len(seen), draw), ())
        if not isinstance(ran.before, RunFailure) and not degenerate(pair.before, ran.before):
            yield ran


def more_samples(
    bench: Bench, pair: Pair, sampler: Sampler, settled: Draw, first: int
) -> Iterator[Ran]:
    """Many samples of small inputs, from the index `first` on, for some time."""
    end = time.monotonic() + _SECONDS_MORE
    for index in range(first, first + _MORE_SAMPLES):
        if time.monotonic() > end or sampler.cells(index, settled) > _SMALL_SAMPLE >> 4:
            return
        bench.progress(f"sample {index}")
        ran = run_both(bench, pair, index, sampler.sample(index, settled), ())
        if not isinstance(ran.before, RunFailure) and not degenerate(pair.before, ran.before):
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
        if sampler.cells(poor[0].index, draw) > _MOST_TRIED:
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
    first = sampler.sample(index, draws[0])
    # Both at once: opening takes most memory, and runs leave some of theirs taken.
    opens = isinstance(bench.session(pair.before, probes), Session)
    bench.session(pair.after, probes)
    best: tuple[Ran, Draw] | None = None
    patience = len(draws) if opens else 1
    for number, draw in enumerate(draws):
        if best is not None and sampler.cells(index, draw) > _MOST_TRIED:
            continue  # to find out what fits is no reason to fill the memory
        feeds = sampler.sample(index, draw) if number else first
        before = bench.run(pair.before, feeds, probes)
        if not isinstance(before, RunFailure):
            after = bench.run(pair.after, feeds, probes)
            return _beside(index, feeds, before, after), draw
        if best is None or isinstance(best[0].after, RunFailure):
            best = Ran(index, feeds, before, bench.run(pair.after, feeds, probes)), draw
            if not isinstance(best[0].after, RunFailure):
                patience = min(patience, _MORE_TRIES)
        patience -= 1
        if patience <= 0:
            break
    assert best is not None  # noqa: S101 - draws() is never empty
    return best


def captured(bench: Bench, pair: Pair, ran: Ran) -> tuple[dict[str, Array], str]:
    """Tensors to judge regions on: from the first model, else the second, else computed.

    Where onnxruntime runs neither, the first model is computed node by node, as far as that is
    possible; the text says why no further.
    """
    for result in (ran.before, ran.after):
        if not isinstance(result, RunFailure):
            return {**ran.feeds, **result}, ""
    failed: list[str] = []
    network = pair.before
    indices = [
        index
        for index, node in enumerate(network.nodes)
        if not (node.output and node.output[0] in network.initializers)
    ]
    traced = trace(bench, network, indices, ran.feeds, None, failed)
    return {name: value.stored() for name, value in traced.items()}, next(iter(failed), "")


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


def refusal(runs: Sequence[Ran]) -> str:
    """What onnxruntime said of both models, where it ran neither for any sample; '' elsewhere."""
    refused = all(isinstance(one, RunFailure) for ran in runs for one in (ran.before, ran.after))
    return failure_text(runs[0]) if runs and refused else ""


def without_repeats(reason: str, ran: Ran) -> str:
    """The reason without words of onnxruntime whose cause `failure_text` already gives."""
    head, found, words = reason.partition(": [ONNXRuntimeError]")
    said = [str(r) for r in (ran.before, ran.after) if isinstance(r, RunFailure)]
    repeated = found and any(_cause(words) == _cause(text) for text in said)
    return head if repeated else reason


def _cause(words: str) -> str:
    return words.rsplit("Error", 1)[-1].strip()


@cache
def max_pools(network: Network) -> tuple[str, ...]:
    """Results of MaxPools that may have windows of padding alone: those that pad, or round up."""
    padded = {name for n in network.nodes if n.op_type == "Pad" for name in n.output}
    found = []
    for index, node in enumerate(network.nodes):
        if node.op_type != "MaxPool" or not node.output or not node.output[0]:
            continue
        facts = network.operation(index).attributes
        same = str(facts.get("auto_pad", "")).startswith("SAME")
        behind = not padded.isdisjoint(node.input[:1])
        if same or _are_some(facts.get("pads")) or facts.get("ceil_mode") or behind:
            found.append(node.output[0])
    return tuple(found)


def _are_some(pads: object) -> bool:
    """Whether a file gives pads that are not all 0; it may give anything."""
    return any(pads) if isinstance(pads, tuple | list) else pads is not None


def degenerate(network: Network, results: Mapping[str, Array]) -> str:
    """Why these results of the model say little about it, or '' where they do.

    onnxruntime 1.31.1 gives the lowest float for a MaxPool window without a real cell, and -inf
    where a Pad(-inf) stands in front; later layers make huge numbers or NaN of both.
    """
    for name in max_pools(network):
        if name in results and _lost(results[name], pooled=True):
            label = network.operation(network.producers[name]).label
            return f"{label} has windows that hold padding alone"
    for name in network.outputs:
        value = results[name]
        if value.dtype != object and value.size == 0:
            return f"output '{name}' is empty, of shape {list(value.shape)}"
        if _lost(value, pooled=False):
            return f"output '{name}' holds NaN, infinities or numbers beyond {HUGE:g}"
    return ""


def _lost(value: Array, *, pooled: bool) -> bool:
    if value.dtype.kind != "f" or value.size == 0:
        return False
    if pooled:
        return bool((value <= np.finfo(value.dtype).min).any())
    limit = min(HUGE, float(np.finfo(value.dtype).max))
    with np.errstate(invalid="ignore"):
        return not bool((np.abs(value) < limit).all())


def output_rows(pair: Pair, ran: Ran) -> list[OutputRow]:
    """One line for every output of a sample, optimisations off."""
    return [
        output_row(ran.index, name, "off", (_item(ran.before, name), _item(ran.after, name)))
        for name in pair.before.outputs
    ]


def output_row(
    sample: int,
    name: str,
    level: str,
    results: tuple[Array | None, Array | None],
    bound: Bound | None = None,
) -> OutputRow:
    """One line of the report for an output of both models (None: did not run).

    With a `bound`, only what lies beyond it is said to be somewhere.
    """
    before, after = results
    shapes = [None if value is None else tuple(value.shape) for value in (before, after)]
    if before is None or after is None:
        return OutputRow(sample, name, level, shapes[0], shapes[1], equal=False, max_abs=None)
    found = gap(before, after, 0.0 if bound is None else bound)
    equal = same(before, after)
    allowed = None if bound is None else found.bound if found.where else largest(bound)
    return OutputRow(
        sample, name, level, shapes[0], shapes[1], equal, found.max_abs, allowed, found.where
    )


def with_maps(rows: Sequence[OutputRow], ran: Ran) -> list[OutputRow]:
    """The rows of a sample with where their outputs differ."""
    pairs = [(_item(ran.before, row.output), _item(ran.after, row.output)) for row in rows]
    return [
        row
        if row.equal or before is None or after is None
        else replace(row, difference=difference_map(before, after))
        for row, (before, after) in zip(rows, pairs, strict=True)
    ]


def _item(result: Mapping[str, Array] | RunFailure, name: str) -> Array | None:
    return None if isinstance(result, RunFailure) else result[name]
