"""Of two models that differ: the changed part that makes them differ, as two models of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from onnxpad.errors import LimitMet
from onnxpad.model.comparing.networks import label_of, open_network
from onnxpad.model.comparing.pieces import cut, standalone
from onnxpad.model.graph.attributes import Value, read_attributes
from onnxpad.model.opened import Model, ModelLike
from onnxpad.reports import reported
from onnxpad.sessions import RunFailure, Settings
from onnxpad.validation.bench import Bench
from onnxpad.validation.interface import matched
from onnxpad.validation.judging import judged
from onnxpad.validation.report import Validation, Verdict
from onnxpad.validation.samples import Pair, Ran, random_samples, run_both

Array = NDArray[Any]
_MOST = 10
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
    """The nodes that make the first shared tensor that differs, in both models.

    It is looked for on the inputs and the device that `found` is about, which was made with `dims`.
    None where nothing runs, or those nodes do not differ alone.
    """
    bench = Bench(Settings(device="cuda" if found.device == "cuda" else "cpu"))
    first = open_network(before)
    pair = Pair(first, matched(bench.warn, first, open_network(after, first.folder)))
    try:
        for ran in _runs(bench, pair, found, dims):
            shown = judged(bench, pair, ran).first
            if shown and shown.tensor and (part := _alone(bench, pair, shown.tensor, ran)):
                return part
    except LimitMet:
        return None
    return None


def _runs(
    bench: Bench, pair: Pair, found: Validation, dims: Mapping[str, int | str] | None
) -> Iterator[Ran]:
    """Both models on the inputs that a proof shows, then on those of the runs."""
    shown = found.proof.counterexample if found.proof else None
    if shown is not None and set(shown.inputs) >= set(pair.before.fed):
        yield run_both(bench, pair, 0, shown.inputs)
    if found.seed is not None:
        sampler = pair.sampler(pair.before.input_types(dims), found.seed)
        count = 1 + max((row.sample for row in found.outputs), default=0)
        yield from random_samples(bench, pair, sampler, min(count, _MOST))


def _alone(bench: Bench, pair: Pair, tensor: str, ran: Ran) -> Culprit | None:
    """The part of each model between shared tensors and this one; None if they agree alone."""
    shared = (pair.before.producers.keys() & pair.after.producers.keys()) | set(pair.before.fed)
    parts = [(one, one.behind([tensor], shared - {tensor})) for one in pair]
    read = set[str]().union(*(network.names_read(part) for network, part in parts)) & shared
    inner = sorted(read - ran.feeds.keys())
    values = bench.run(pair.before, ran.feeds, inner) if inner else {}
    if isinstance(values, RunFailure):
        return None
    given = {**ran.feeds, **values}
    feeds = {name: given[name] for name in sorted(read)}
    forms = [cut(one, part, one.reads(part, feeds), [tensor]) for one, part in parts]
    again = run_both(bench, Pair(*forms), ran.index, feeds)
    verdict = judged(bench, Pair(*forms), again).verdict
    if verdict or (again.failures and verdict is Verdict.UNVERIFIED):
        return None
    ours, theirs = ([network.nodes[index] for index in part] for network, part in parts)
    return Culprit(
        tuple(map(label_of, ours)),
        tuple(map(label_of, theirs)),
        _kind_of_change(ours, theirs),
        tensor,
        (standalone(forms[0], feeds), standalone(forms[1], feeds)),
        feeds,
    )


def _kind_of_change(before: Sequence[Any], after: Sequence[Any]) -> str:
    """What became of what, by operators; of one operator, the attributes that changed.

    'Pad + MaxPool became MaxPool', or 'Conv: pads was [0, 0, 1, 1] and is [1, 1, 0, 0]'.
    """
    was, now = (" + ".join(one.op_type for one in side) or "nothing" for side in (before, after))
    if was != now or len(before) > 1:
        return f"{was} became {now}" if was != now else f"{was} changed inside"
    one, other = read_attributes(before[0]), read_attributes(after[0])
    pairs = {name: (_text(one, name), _text(other, name)) for name in sorted({*one, *other})}
    moved = [f"{name} was {a} and is {b}" for name, (a, b) in pairs.items() if a != b]
    return f"{was}: {', '.join(moved)}" if moved else f"what {was} reads changed"


def _text(attributes: Mapping[str, Value], name: str) -> str:
    value = attributes.get(name, "not written")
    text = str(list(value) if isinstance(value, tuple) else value)
    return text if len(text) < 60 else f"{text[:57]}..."
