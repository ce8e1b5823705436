"""What a sample shows: outputs equal, apart by measured rounding, or different, and where.

How far rounding may go is measured (`Bench.noise`): an output of either model may move by what
rounding behind every operation moves it. Where that says too little, or an output lies beyond it,
tensors that both models have are followed back to the nodes that were changed (`locate`).
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
from onnxpad.probing.agreement import (
    Bound,
    difference_map,
    gap,
    largest,
    magnitudes,
    relative_gap,
    same,
    untelling,
)
from onnxpad.probing.expected import evaluated
from onnxpad.sessions import RunFailure
from onnxpad.validation.bench import Bench, Results
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
Values = Mapping[str, Array]
_FEW = 32
"""So many roundings of one number are no damage."""
_FAR = 1e3
"""Of what rounding explains, where nothing ran: beyond that it is another number."""
MOST_EVALUATED = 1 << 23
"""Cells of inputs times nodes of a model that is computed by the ONNX text in a moment."""
_WORSE = 4.0
"""How much more the second model may suffer from the optimiser than the first."""


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
    before, after, names = ran.before, ran.after, pair.before.outputs
    if isinstance(before, RunFailure) or isinstance(after, RunFailure):
        for failure in ran.failures:
            bench.warn(failure)
        if isinstance(before, dict):
            return Finding(_rows(pair, ran), Verdict.DIFFERENT, "; ".join(ran.failures))
        return _unrun(bench, pair, ran)
    if all(same(before[name], after[name]) for name in names):
        return Finding(_rows(pair, ran), Verdict.IDENTICAL)
    bounds = _bounds(bench, pair, ran.feeds, before, after)
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
    text = _by_text(pair.before, ran.feeds)
    if text and all(np.isfinite(value).all() for value in text.values()):
        follows = _against_text(bench, pair.after, ran.feeds, text, after)
        if follows and not _against_text(bench, pair.before, ran.feeds, text, before):
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
            reason, first = _at_output(pair, right, got)[1:]
        return Finding(rows, verdict, reason, first, EVALUATOR)
    if ran.results or changed_nodes(*pair) or changed_nodes(pair.after, pair.before):
        return Finding(rows, Verdict.UNVERIFIED, lacking)
    return Finding(rows, Verdict.IDENTICAL, f"no node of the two models differs; {lacking}")


def _against_text(
    bench: Bench, network: Network, feeds: Values, text: Values, got: Values
) -> Verdict:
    """The verdict on a model's outputs against those of the ONNX text.

    Where nothing runs and tells how far rounding may go, only much larger differences count.
    """
    noise = bench.noise(network, feeds, got)
    verdicts = {Verdict.IDENTICAL}
    for name, value in got.items():
        right = text[name]
        few = _FEW * _unit(right) * largest(magnitudes(right))
        bound = np.maximum(0.0 if noise is None else 2 * noise[name], few)
        is_far = noise is not None or gap(right, value, few).ratio > _FAR
        if not same(right, value):
            beyond = Verdict.DIFFERENT if is_far else Verdict.UNVERIFIED
            verdicts.add(Verdict.ROUNDING if _is_rounding(right, value, bound) else beyond)
    return max(verdicts, key=SEVERITY.index)


def is_telling(pair: Pair, ran: Ran) -> bool:
    """Whether a few roundings of the largest number do not explain what a sample shows."""
    before, after = ran.results
    return not all(_is_unmoved(before[name], after[name]) for name in pair.before.outputs)


def _by_text(network: Network, feeds: Values) -> Values | None:
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
    bench: Bench, pair: Pair, feeds: Values, before: Values, after: Values
) -> dict[str, Bound] | None:
    """How far rounding in both models may move each tensor; None where that is not known."""
    first = bench.noise(pair.before, feeds, before)
    second = None if first is None else bench.noise(pair.after, feeds, after)
    if first is None or second is None:
        return None
    return {
        name: first[name] + second[name] if value.shape == after[name].shape else 0.0
        for name, value in before.items()
    }


def _is_rounding(before: Array, after: Array, bound: Bound) -> bool:
    if same(before, after):
        return True
    return gap(before, after, bound).within and not untelling(before, largest(bound))


def _is_unmoved(off: Array, on: Array) -> bool:
    """Whether a few roundings of the largest number explain what changed."""
    return same(off, on) or relative_gap(off, on) <= _FEW * _unit(off)


def _unit(value: Array) -> float:
    return float(np.finfo(value.dtype).eps) if value.dtype.kind == "f" else 0.0


def _rows(pair: Pair, ran: Ran, bounds: Mapping[str, Bound] | None = None) -> tuple[OutputRow, ...]:
    return tuple(
        row_of(ran.index, name, "off", (ran.before, ran.after), (bounds or {}).get(name))
        for name in pair.before.outputs
    )


def row_of(
    sample: int, name: str, level: str, results: tuple[Results, Results], bound: Bound | None = None
) -> OutputRow:
    """One line of the report; what lies beyond a `bound` is said to be somewhere."""
    one, other = (None if isinstance(r, RunFailure) else r[name] for r in results)
    before, after = (None if value is None else tuple(value.shape) for value in (one, other))
    if one is None or other is None:
        return OutputRow(sample, name, level, before, after, equal=False, max_abs=None)
    apart = gap(one, other, 0.0 if bound is None else bound)
    difference = difference_map(one, other) if apart.where else None
    allowed = None if bound is None else apart.bound if apart.where else largest(bound)
    facts = same(one, other), apart.max_abs, allowed, apart.where, difference
    return OutputRow(sample, name, level, before, after, *facts)


# Where it begins.

Located = tuple[Verdict, str, FirstDifference | None]


def locate(bench: Bench, pair: Pair, ran: Ran, outputs: Collection[str]) -> Located:
    """Whether changed nodes explain that `outputs` lie beyond rounding, and the first that does.

    From the outputs back: what lies within rounding is fine; of a node that both models have, its
    inputs are looked at (an ArgMax makes whole steps of roundings); a changed one is guilty.
    """
    fixed = pair.before.initializers.keys() | pair.after.initializers.keys()
    shared = [n for n in pair.before.producers if n in pair.after.producers and n not in fixed]
    at_output = _at_output(pair, *ran.results)
    if any(name not in shared for name in outputs):  # no nodes make it in both models
        return at_output
    inner = [name for name in shared if name not in pair.before.outputs]
    try:
        before, after = (bench.run(network, ran.feeds, inner) for network in pair)
        if isinstance(before, RunFailure) or isinstance(after, RunFailure):
            return at_output
        values = {name: (before[name], after[name]) for name in shared}
        sides = ({name: both[side] for name, both in values.items()} for side in (0, 1))
        bounds = _bounds(bench, pair, ran.feeds, *sides)
    except LimitMet as limit:
        bench.warn(f"where the difference begins is not known: {limit.ended}")
        return at_output
    if bounds is None:
        return at_output
    beyond = {n for n in shared if not gap(*values[n], bounds[n]).within}
    vague = {n for n in shared if untelling(values[n][0], largest(bounds[n]))}
    begun = _begun(pair, values, beyond | vague)
    if guilty := [name for name in shared if name in beyond and name in begun]:
        return Verdict.DIFFERENT, "", _first(pair, guilty[0], values[guilty[0]], bounds[guilty[0]])
    if unclear := [name for name in shared if name in begun]:
        most = largest(bounds[unclear[0]])
        why = f"rounding alone may move '{unclear[0]}' by {most:.3g}: too much to see a difference"
        return Verdict.UNVERIFIED, why, None
    return Verdict.ROUNDING, "", None


def _begun(pair: Pair, values: Mapping[str, tuple[Array, Array]], marked: set[str]) -> set[str]:
    """The marked tensors, from the outputs back, that changed nodes or equal inputs make apart."""
    changed = changed_nodes(*pair)
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
    label = pair.before.label(name)
    return FirstDifference(label, name, apart.max_abs, apart.where, difference_map(*values))


def _at_output(pair: Pair, before: Values, after: Values) -> Located:
    """The first output that differs, where nothing is known of what is inside."""
    name = next(n for n in pair.before.outputs if not same(before[n], after[n]))
    if name not in pair.before.producers:
        return Verdict.DIFFERENT, f"'{name}' differs", None
    return Verdict.DIFFERENT, "", _first(pair, name, (before[name], after[name]))


# Default optimisations.


def optimised(bench: Bench, pair: Pair, runs: Sequence[Ran]) -> tuple[list[OutputRow], str]:
    """Rows for the level 'on', and what speaks against the second model there, '' for nothing.

    That is a change of its own outputs by more than rounding, where the first model does not suffer
    as much. Any other damage is a warning.
    """
    ons = [[bench.run(one, ran.feeds, optimise=True) for ran in runs] for one in pair]
    rows, problem = list[OutputRow](), ""
    for ran, first, second in zip(runs, *ons, strict=True):
        bench.look(first, second)
        sides = zip(pair, (ran.before, ran.after), (first, second), strict=True)
        damages = [_damage(bench, one, ran.feeds, off, on) for one, off, on in sides]
        is_worse = damages[1][0] > _WORSE * damages[0][0]
        for name in pair.before.outputs:
            row = row_of(ran.index, name, "on", (first, second), 0.0 if is_worse else None)
            rows.append(replace(row, bound=None))
        whose = {"the first model": damages[0][1], "the second model": damages[1][1]}
        if damages[0] == damages[1]:
            whose = {"both models alike": damages[0][1]}
        for model, damage in whose.items():
            text = (
                f"onnxruntime's default optimiser {damage} in {model}; onnxpad inspect lists what "
                "is known of it"
            )
            if damage and is_worse and model == "the second model":
                problem = text
            elif damage:
                bench.warn(text)
    return rows, problem


def _damage(
    bench: Bench, network: Network, feeds: Values, off: Results, on: Results
) -> tuple[float, str]:
    """By how much default optimisations change a model that runs without them, and how."""
    if isinstance(off, RunFailure):
        return 0.0, ""
    if isinstance(on, RunFailure):
        return np.inf, f"breaks what it makes ({on})"
    if all(_is_unmoved(value, on[name]) for name, value in off.items()):
        return 0.0, ""
    bounds = bench.noise(network, feeds, off)
    if bounds is None:
        bench.warn("how far rounding may go at the default level could not be measured")
        return 0.0, ""
    for name in network.outputs:
        apart = gap(off[name], on[name], bounds[name])
        if not apart.within:
            how = f"by up to {apart.max_abs:.3g}" if np.isfinite(apart.max_abs) else apart.where
            return apart.max_abs, f"changes output '{name}' ({how})"
    return 0.0, ""
