"""Of two models that differ: the changed part that makes them differ, as two models of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import LimitMet
from onnxpad.model.comparing.networks import Network, Operation, open_lean_network
from onnxpad.model.comparing.pieces import cut, standalone
from onnxpad.model.comparing.regions import Region, regions
from onnxpad.model.opened import Model, ModelLike
from onnxpad.probing.random_inputs import Sampler
from onnxpad.reports import reported
from onnxpad.sessions import RunFailure, Settings
from onnxpad.validation.bench import Bench
from onnxpad.validation.interface import matched
from onnxpad.validation.judging import judged
from onnxpad.validation.report import Validation, Verdict
from onnxpad.validation.request import with_channels
from onnxpad.validation.samples import Pair, Ran, channel_counts, random_samples, run_both

Array = NDArray[Any]
MOST = 10
"""Random samples that are run again."""


@reported("before", "after", "kind", "tensor")
@dataclass(frozen=True, slots=True)
class Culprit:
    """A changed part that differs on its own inputs.

    `before` and `after` are its nodes in each model, `kind` says in words what became of what;
    `models` are both forms as models of their own, which `inputs` make differ at `tensor`.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    kind: str
    tensor: str
    models: tuple[Model, Model]
    inputs: Mapping[str, Array]


def culprit(
    before: ModelLike,
    after: ModelLike,
    found: Validation,
    dims: Mapping[str, int | str] | None = None,
) -> Culprit | None:
    """The first changed part, in the order of the first model, whose two forms differ.

    It is looked for on the inputs and the device that `found` is about, which was made with `dims`.
    None where no part runs alone, or none
    differs on them.
    """
    bench = Bench(Settings(device="cuda" if found.device == "cuda" else "cpu"))
    first = open_lean_network(before)
    pair = Pair(first, matched(bench.warn, first, open_lean_network(after, first.folder)))
    parts = regions(*pair.both())
    try:
        for ran in _runs(bench, pair, (found, dims)):
            for region in parts:
                if shown := _apart(bench, pair, region, ran):
                    return _culprit(pair, region, *shown)
    except LimitMet:
        return None
    return None


def _apart(
    bench: Bench, pair: Pair, region: Region, ran: Ran
) -> tuple[dict[str, Array], str] | None:
    """What a changed part is fed, and its output that both forms make otherwise; None if none."""
    inner = [name for name in region.inputs if name not in ran.feeds]
    given: dict[str, Array] = dict(ran.feeds)
    for network in pair.both():
        captured = bench.run(network, ran.feeds, inner)
        if not isinstance(captured, RunFailure):
            given |= captured
            break
    if not all(name in given for name in region.inputs):
        return None
    feeds = {name: given[name] for name in region.inputs}
    sides = zip(pair.both(), (region.before, region.after), strict=True)
    forms = Pair(*(_cut(network, indices, region, feeds) for network, indices in sides))
    alone = run_both(bench, forms, ran.index, feeds)
    shown = judged(bench, forms, alone)
    if shown.verdict is not Verdict.DIFFERENT:
        return None
    first = shown.first.tensor if shown.first else region.outputs[0]
    return feeds, first


def _runs(
    bench: Bench, pair: Pair, about: tuple[Validation, Mapping[str, int | str] | None]
) -> Iterator[Ran]:
    """Both models on the inputs that a proof shows, then on those of the runs."""
    found, dims = about
    shown = found.proof.counterexample if found.proof else None
    if shown is not None and set(shown.inputs) >= set(pair.before.fed):
        yield run_both(bench, pair, 0, shown.inputs)
    if found.seed is None:
        return
    types = with_channels(pair.before, pair.before.input_types(dims))
    sampler = Sampler(types, found.seed, channel_counts(pair))
    count = 1 + max((row.sample for row in found.outputs), default=0)
    yield from random_samples(bench, pair, sampler, min(count, MOST))


def _culprit(pair: Pair, region: Region, feeds: Mapping[str, Array], tensor: str) -> Culprit:
    first = [pair.before.operation(index) for index in region.before]
    second = [pair.after.operation(index) for index in region.after]
    return Culprit(
        tuple(one.label for one in first),
        tuple(one.label for one in second),
        kind_of_change(first, second, pair),
        tensor,
        (
            _form(pair.before, region.before, region, feeds),
            _form(pair.after, region.after, region, feeds),
        ),
        dict(feeds),
    )


def _form(
    network: Network, indices: tuple[int, ...], region: Region, feeds: Mapping[str, Array]
) -> Model:
    return standalone(_cut(network, indices, region, feeds), network.reads(indices, feeds))


def _cut(
    network: Network, indices: tuple[int, ...], region: Region, feeds: Mapping[str, Array]
) -> Network:
    kinds = {name: value.dtype for name, value in network.reads(indices, feeds).items()}
    return cut(network, indices, kinds, region.outputs)


def kind_of_change(before: list[Operation], after: list[Operation], pair: Pair) -> str:
    """What became of what, by operators; of one operator, the attributes and constants that moved.

    'Pad + MaxPool became MaxPool', or 'Conv: pads was [0, 0, 1, 1] and is [1, 1, 0, 0]'.
    """
    was, now = (" + ".join(one.op_type for one in side) or "nothing" for side in (before, after))
    if was != now or len(before) > 1:
        return f"{was} became {now}" if was != now else f"{was} changed inside"
    one, other = before[0], after[0]
    names = sorted({*one.attributes, *other.attributes})
    pairs = {name: (_said(one, name), _said(other, name)) for name in names}
    moved = [f"{name} was {a} and is {b}" for name, (a, b) in pairs.items() if a != b]
    for position, (old, new) in enumerate(zip(one.inputs, other.inputs, strict=False)):
        values = pair.before.constant(old), pair.after.constant(new)
        if None not in (values[0] is None, values[1] is None) and _unequal(*values):
            moved.append(f"the constant that is input {position} has other values")
        elif (values[0] is None) != (values[1] is None) or (values[0] is None and old != new):
            moved.append(f"input {position} was '{old}' and is '{new}'")
    if one.opset != other.opset:
        moved.append(f"the opset was {one.opset} and is {other.opset}")
    return f"{was}: {', '.join(moved)}" if moved else f"{was} changed"


def _said(operation: Operation, name: str) -> str:
    value = operation.attributes.get(name)
    text = "not written" if value is None else str(value)
    return text if len(text) < 60 else f"{text[:57]}..."


def _unequal(one: Array | None, other: Array | None) -> bool:
    return one is not None and other is not None and not np.array_equal(one, other)
