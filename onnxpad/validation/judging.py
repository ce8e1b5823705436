"""What a sample shows: outputs equal, apart by measured rounding, or different, and where.

How far rounding may go is measured (`noise`): an output of either model may move by what rounding
behind every operation moves it. Where that says too little, or an output lies beyond it, tensors
that both models have are followed back to the nodes that were changed (`locate`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import LimitMet, OnnxpadError
from onnxpad.model.comparing.changes import changed_nodes
from onnxpad.model.comparing.networks import Network
from onnxpad.probing.expected import evaluated
from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import (
    Bound,
    gap,
    largest,
    magnitudes,
    relative_gap,
    same,
    untelling,
)
from onnxpad.validation.bench import Bench, Results
from onnxpad.validation.difference_maps import difference_map
from onnxpad.validation.noise import noise
from onnxpad.validation.report import (
    EVALUATOR,
    ONNXRUNTIME,
    SEVERITY,
    FirstDifference,
    OutputRow,
    Verdict,
)
from onnxpad.validation.samples import Pair, Ran

Array = NDArray[Any]
Bounds = Mapping[str, Bound]
Both = Mapping[str, tuple[Array, Array]]
_FEW = 32
"""So many roundings of one number are no damage."""
_FAR = 1e3
"""Of what rounding explains, where nothing ran: beyond that it is another number."""
MOST_EVALUATED = 1 << 23
"""Cells of inputs times nodes of a model that is computed by the ONNX text in a moment."""
_WORSE = 4.0
"""How much more the second model may suffer from the optimiser than the first."""
_MODEL = "THE MODEL"
_POOLS = ("MaxPool", "AveragePool")
"""What onnxruntime's optimiser damages where it fuses a Pad with it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What samples showed, with a row for each output; `hints` are what to try."""

    rows: tuple[OutputRow, ...]
    verdict: Verdict
    reason: str = ""
    first: FirstDifference | None = None
    judge: str = ONNXRUNTIME
    hints: tuple[str, ...] = ()


def judged(bench: Bench, pair: Pair, ran: Ran) -> Finding:
    """The verdict on one sample, optimisations off.

    What onnxruntime does not run is computed by the ONNX text, as far as that is possible; so is a
    first model that the second one leaves, where onnxruntime may be what leaves the text.
    """
    before, after = ran.before, ran.after
    if isinstance(before, RunFailure) or isinstance(after, RunFailure):
        for failure in ran.failures:
            bench.warn(failure)
        if isinstance(before, dict):
            return Finding(_rows(pair, ran), Verdict.DIFFERENT, "; ".join(ran.failures))
        return _unrun(bench, pair, ran)
    names = pair.before.outputs
    if all(same(before[name], after[name]) for name in names):
        return Finding(_rows(pair, ran), Verdict.IDENTICAL)
    bounds = _bounds(bench, pair, ran.feeds, {name: (before[name], after[name]) for name in names})
    if bounds is None and all(before[name].shape == after[name].shape for name in names):
        why = "how far rounding may go in these models could not be measured"
        return Finding(_rows(pair, ran), Verdict.UNVERIFIED, why)
    bounds = bounds or dict.fromkeys(names, 0.0)
    rows = _rows(pair, ran, bounds)
    if all(_is_rounding(before[name], after[name], bounds[name]) for name in names):
        return Finding(rows, Verdict.ROUNDING)
    beyond = {name for name in names if not gap(before[name], after[name], bounds[name]).within}
    verdict, reason, first = locate(bench, pair, ran, beyond)
    if verdict is not Verdict.DIFFERENT:
        return Finding(rows, verdict, reason)
    by_text = _by_text(pair.before, ran.feeds)
    if by_text and all(np.isfinite(value).all() for value in by_text.values()):
        follows = _against_text(bench, pair.after, ran.feeds, by_text, after)
        if follows and not _against_text(bench, pair.before, ran.feeds, by_text, before):
            where = f" at {first.node}" if first else ""
            bench.warn(
                f"onnxruntime computes the original differently from the ONNX text{where}; the "
                "second model follows the text"
            )
            return Finding(rows, follows, judge=EVALUATOR)
    return Finding(rows, verdict, reason, first)


def _unrun(bench: Bench, pair: Pair, ran: Ran) -> Finding:
    """The verdict where onnxruntime does not run the first model, by what the ONNX text says."""
    rows, lacking = _rows(pair, ran), "; ".join(ran.failures)
    right = _by_text(pair.before, ran.feeds)
    got = ran.after if isinstance(ran.after, dict) else _by_text(pair.after, ran.feeds)
    if right is not None and got is not None:
        verdict = _against_text(bench, pair.after, ran.feeds, right, got)
        reason, first = "" if verdict else lacking, None
        if verdict is Verdict.DIFFERENT:
            computed = replace(ran, before=dict(right), after=dict(got))
            reason, first = _at_output(pair, computed)[1:]
        return Finding(rows, verdict, reason, first, EVALUATOR)
    if isinstance(ran.after, dict) or any(changed_nodes(*pair)):
        return Finding(rows, Verdict.UNVERIFIED, lacking)
    return Finding(rows, Verdict.IDENTICAL, f"no node of the two models differs; {lacking}")


def _against_text(
    bench: Bench,
    network: Network,
    feeds: Mapping[str, Array],
    text: Mapping[str, Array],
    got: Mapping[str, Array],
) -> Verdict:
    """The verdict on a model's outputs against those of the ONNX text.

    Where nothing runs and tells how far rounding may go, only much larger differences count.
    """
    bounds = noise(bench, network, feeds, got)
    found = {Verdict.IDENTICAL}
    for name, value in got.items():
        right = text[name]
        allowed = _FEW * _unit(right) * largest(magnitudes(right))
        bound = allowed if bounds is None else np.maximum(2 * bounds[name], allowed)
        apart = gap(right, value, bound)
        if apart.max_abs and _is_rounding(right, value, bound):
            found.add(Verdict.ROUNDING)
        elif apart.max_abs:
            is_far = bounds is not None or apart.ratio > _FAR
            found.add(Verdict.DIFFERENT if is_far else Verdict.UNVERIFIED)
    return max(found, key=SEVERITY.index)


def is_telling(pair: Pair, ran: Ran) -> bool:
    """Whether a few roundings of the largest number do not explain what a sample shows."""
    before, after = ran.before, ran.after
    if isinstance(before, RunFailure) or isinstance(after, RunFailure):
        return True
    return not all(_is_unmoved(before[name], after[name]) for name in pair.before.outputs)


def _by_text(network: Network, feeds: Mapping[str, Array]) -> Mapping[str, Array] | None:
    """The outputs by the ONNX text; None where they cannot be computed, or would take long."""
    if sum(value.size for value in feeds.values()) * len(network.nodes) > MOST_EVALUATED:
        return None
    try:
        return evaluated(network, feeds, network.outputs)
    except LimitMet:
        raise
    except OnnxpadError:
        return None


def _bounds(
    bench: Bench, pair: Pair, feeds: Mapping[str, Array], values: Both
) -> dict[str, Bound] | None:
    """How far rounding in both models may move each tensor; None where that is not known."""
    first, second = (
        noise(bench, network, feeds, {name: both[side] for name, both in values.items()})
        for side, network in enumerate(pair)
    )
    if first is None or second is None:
        return None
    return {
        name: first[name] + second[name] if one.shape == other.shape else 0.0
        for name, (one, other) in values.items()
    }


def _is_rounding(before: Array, after: Array, bound: Bound) -> bool:
    if same(before, after):
        return True
    return gap(before, after, bound).within and not untelling(before, largest(bound))


def _rows(pair: Pair, ran: Ran, bounds: Bounds | None = None) -> tuple[OutputRow, ...]:
    return tuple(
        row_of(ran.index, name, "off", (ran.before, ran.after), (bounds or {}).get(name))
        for name in pair.before.outputs
    )


def row_of(
    sample: int, name: str, level: str, results: tuple[Results, Results], bound: Bound | None = None
) -> OutputRow:
    """One line of the report; what lies beyond a `bound` is said and drawn to be somewhere."""
    one, other = (None if isinstance(r, RunFailure) else r[name] for r in results)
    before, after = (None if value is None else tuple(value.shape) for value in (one, other))
    if one is None or other is None:
        return OutputRow(sample, name, level, before, after, equal=False, max_abs=None)
    apart, equal = gap(one, other, 0.0 if bound is None else bound), same(one, other)
    row = OutputRow(sample, name, level, before, after, equal, apart.max_abs, None, apart.where)
    if bound is None:
        return row
    allowed = apart.bound if apart.where else largest(bound)
    drawn = difference_map(one, other) if apart.where else None
    return replace(row, bound=allowed, difference=drawn)


# Where it begins.


def locate(
    bench: Bench, pair: Pair, ran: Ran, outputs: Collection[str]
) -> tuple[Verdict, str, FirstDifference | None]:
    """Whether changed nodes explain that `outputs` lie beyond rounding, and the first that does.

    From the outputs back: what lies within rounding is fine; of a node that both models have, its
    inputs are looked at (an ArgMax makes whole steps of roundings); a changed one is guilty.
    """
    fixed = pair.before.initializers.keys() | pair.after.initializers.keys()
    shared = [n for n in pair.before.producers if n in pair.after.producers and n not in fixed]
    inner = [name for name in shared if name not in pair.before.outputs]
    if any(name not in shared for name in outputs):  # no nodes make it in both models
        return _at_output(pair, ran)
    try:
        before, after = (bench.run(network, ran.feeds, inner) for network in pair)
        if isinstance(before, RunFailure) or isinstance(after, RunFailure):
            return _at_output(pair, ran)
        values = {name: (before[name], after[name]) for name in shared}
        bounds = _bounds(bench, pair, ran.feeds, values)
    except LimitMet as limit:
        bench.warn(f"where the difference begins is not known: {limit.ended}")
        return _at_output(pair, ran)
    if bounds is None:
        return _at_output(pair, ran)
    beyond = {n for n in shared if not gap(*values[n], bounds[n]).within}
    vague = {n for n in shared if untelling(values[n][0], largest(bounds[n]))}
    begun = _begun(pair, values, beyond | vague)
    if guilty := [name for name in shared if name in beyond and name in begun]:
        name = guilty[0]
        return Verdict.DIFFERENT, "", _first(pair, name, values[name], bounds[name])
    if unclear := [name for name in shared if name in begun]:
        most = largest(bounds[unclear[0]])
        why = f"rounding alone may move '{unclear[0]}' by {most:.3g}: too much to see a difference"
        return Verdict.UNVERIFIED, why, None
    return Verdict.ROUNDING, "", None


def _begun(pair: Pair, values: Both, marked: set[str]) -> set[str]:
    """The marked tensors, from the outputs back, that changed nodes or equal inputs make apart."""
    changed, _ = changed_nodes(*pair)
    pending, begun = list(pair.before.outputs), set[str]()
    for name in pending:  # which grows
        if name not in marked or same(*values[name]):
            continue
        index = pair.before.producers[name]
        read = sorted(pair.before.names_read([index]))
        apart = [one for one in read if one in values and not same(*values[one])]
        if index in changed or not apart:
            begun.add(name)
        pending += [one for one in apart if one not in pending]
    return begun


def _first(
    pair: Pair, name: str, values: tuple[Array, Array], bound: Bound = 0.0
) -> FirstDifference:
    apart = gap(*values, bound)
    label = pair.before.operation(pair.before.producers[name]).label
    return FirstDifference(label, name, apart.max_abs, apart.where, difference_map(*values))


def _at_output(pair: Pair, ran: Ran) -> tuple[Verdict, str, FirstDifference | None]:
    """The first output that differs, where nothing is known of what is inside."""
    before, after = ran.before, ran.after
    assert isinstance(before, dict)  # noqa: S101 - both ran as they are
    assert isinstance(after, dict)  # noqa: S101
    name = next(n for n in pair.before.outputs if not same(before[n], after[n]))
    if name not in pair.before.producers:
        return Verdict.DIFFERENT, f"'{name}' differs", None
    return Verdict.DIFFERENT, "", _first(pair, name, (before[name], after[name]))


# Default optimisations.


def optimised(bench: Bench, pair: Pair, runs: Sequence[Ran]) -> tuple[list[OutputRow], str]:
    """Rows for the level 'on', and what speaks against the second model there, '' for nothing.

    That is a change of its own outputs by more than rounding, where the first model does not suffer
    as much. What happens to both, or to the first, is a warning.
    """
    ons: list[list[Results]] = []
    for network in pair:
        bench.close_large()  # one large model at a time
        ons.append([bench.run(network, ran.feeds, optimise=True) for ran in runs])
    rows, problem = list[OutputRow](), ""
    for ran, first, second in zip(runs, *ons, strict=True):
        bench.look(first, second)
        sides = zip(pair, (ran.before, ran.after), (first, second), strict=True)
        damages = [_damage(bench, network, ran.feeds, off, on) for network, off, on in sides]
        is_worse = damages[1][0] > _WORSE * damages[0][0] and _may_be_worse(pair, ran)
        is_worse = is_worse and not _are_alike(first, second)
        for name in pair.before.outputs:
            row = row_of(ran.index, name, "on", (first, second), 0.0 if is_worse else None)
            rows.append(replace(row, bound=None))
        told = list(zip(damages, ("the first model", "the second model"), strict=True))
        if is_worse:
            problem = told.pop()[0][1].replace(_MODEL, "the second model")
        elif damages[0] == damages[1]:
            told = [(damages[0], "both models alike")]
        for (_, text), model in told:
            if text:
                bench.warn(text.replace(_MODEL, model))
    return rows, problem


def _may_be_worse(pair: Pair, ran: Ran) -> bool:
    """Whether a pool changed, where a first model that does not run cannot tell."""
    nodes, (_, indices) = pair.after.nodes, changed_nodes(*pair)
    changed = {nodes[index].output[0]: nodes[index].op_type for index in indices}
    return isinstance(ran.before, dict) or any(
        node.output[0] in changed or changed.get(node.input[0]) == "Pad"
        for node in nodes
        if node.op_type in _POOLS
    )


def _are_alike(one: Results, other: Results) -> bool:
    both = [result for result in (one, other) if isinstance(result, dict)]
    return len(both) > 1 and all(same(value, both[1][name]) for name, value in both[0].items())


def _damage(
    bench: Bench, network: Network, feeds: Mapping[str, Array], off: Results, on: Results
) -> tuple[float, str]:
    """By how much default optimisations change a model that runs without them, and a sentence."""
    traps = f" {_MODEL}; onnxpad inspect lists what is known of it"
    if isinstance(off, RunFailure):
        return 0.0, ""
    if isinstance(on, RunFailure):
        text = f"onnxruntime's default optimiser breaks{traps}; onnxruntime says: {on}"
        return np.inf, text
    if all(_is_unmoved(value, on[name]) for name, value in off.items()):
        return 0.0, ""
    bounds = noise(bench, network, feeds, off)
    if bounds is None:
        bench.warn("how far rounding may go at the default level could not be measured")
        return 0.0, ""
    for name in network.outputs:
        apart = gap(off[name], on[name], bounds[name])
        if not apart.within:
            how = f"by up to {apart.max_abs:.3g}" if np.isfinite(apart.max_abs) else apart.where
            text = f"onnxruntime's default optimiser changes output '{name}' ({how}) in{traps}"
            return apart.max_abs, text
    return 0.0, ""


def _is_unmoved(off: Array, on: Array) -> bool:
    """Whether a few roundings of the largest number explain what changed."""
    return same(off, on) or relative_gap(off, on) <= _FEW * _unit(off)


def _unit(value: Array) -> float:
    return float(np.finfo(value.dtype).eps) if value.dtype.kind == "f" else 0.0
