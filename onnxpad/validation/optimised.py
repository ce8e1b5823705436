"""The same models with onnxruntime's default optimisations: what do they change?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from numpy.typing import NDArray

from onnxpad.graph.comparison.networks import Network
from onnxpad.runtime import RunFailure
from onnxpad.validation.agreement import gap, same
from onnxpad.validation.bench import Bench, Results
from onnxpad.validation.report import OutputRow
from onnxpad.validation.running import Pair, Ran
from onnxpad.validation.verifying import output_row

Array = NDArray[Any]
FUSION = "Pad_Fusion"
# How much more the second model may suffer than the first before it is called damaged.
WORSE = 4.0


@dataclass(frozen=True, slots=True)
class Damage:
    """A model whose output changes by more than rounding, or that no longer runs."""

    output: str
    max_abs: float
    said: str


def optimised(bench: Bench, pair: Pair, runs: list[Ran]) -> tuple[list[OutputRow], str]:
    """Rows for the level 'on', and why the second model must not be used so ('' if it may)."""
    rows: list[OutputRow] = []
    found: list[tuple[Damage | None, Damage | None, bool]] = []
    for ran in runs:
        before = bench.run(pair.before, ran.feeds, optimise=True)
        after = bench.run(pair.after, ran.feeds, optimise=True)
        for name in pair.before.outputs:
            values = [None if isinstance(r, RunFailure) else r[name] for r in (before, after)]
            rows.append(output_row(ran.index, name, "on", values[0], values[1]))
        bounds = _noise(bench, pair, ran)
        first = _damage(bench, pair.before, ran, (ran.before, before), bounds)
        second = _damage(bench, pair.after, ran, (ran.after, after), bounds)
        found.append((first, second, _all_same(before, after)))
    return rows, _problem(bench, found)


def _problem(bench: Bench, found: list[tuple[Damage | None, Damage | None, bool]]) -> str:
    """Warn of the worst damage to each model; the reason where only the second one suffers."""
    said = "onnxruntime's default optimiser {} the {} model"
    harmful = None
    for first, second, alike in found:
        worse = second is not None and (first is None or second.max_abs > WORSE * first.max_abs)
        if second is not None and worse and not alike:
            harmful = _worse(harmful, second)
    for title, damages in (
        ("first", [f for f, _, _ in found]),
        ("second", [s for _, s, _ in found]),
    ):
        worst = None
        for damage in damages:
            worst = _worse(worst, damage)
        if worst is not None and (title == "first" or harmful is None):
            bench.warn(said.format(worst.said, title))
    return "" if harmful is None else said.format(harmful.said, "second")


def _worse(one: Damage | None, other: Damage | None) -> Damage | None:
    if one is None or other is None:
        return one or other
    return other if other.max_abs > one.max_abs else one


def _noise(bench: Bench, pair: Pair, ran: Ran) -> dict[str, float] | None:
    for network, off in ((pair.before, ran.before), (pair.after, ran.after)):
        if not isinstance(off, RunFailure):
            return _Lazy(bench, network, ran.feeds, off)
    return None


class _Lazy(dict[str, float]):
    """Bounds that are measured when the first one is asked for."""

    def __init__(
        self, bench: Bench, network: Network, feeds: Mapping[str, Array], clean: Mapping[str, Array]
    ) -> None:
        super().__init__()
        self._ask = (bench, network, feeds, clean)

    def __missing__(self, name: str) -> float:
        bench, network, feeds, clean = self._ask
        found = bench.noise(network, feeds, clean)
        if found is None:
            bench.warn("how far rounding may go at the default level could not be measured")
        self.update(found or dict.fromkeys(clean, float("inf")))
        return self[name]


def _damage(
    bench: Bench,
    network: Network,
    ran: Ran,
    results: tuple[Results, Results],
    bounds: Mapping[str, float] | None,
) -> Damage | None:
    off, on = results
    if isinstance(off, RunFailure):
        return None
    if isinstance(on, RunFailure):
        cure = _cured(bench, network, ran, off, None)
        return Damage("", float("inf"), f"breaks{cure} ({on})")
    for name in network.outputs:
        if same(off[name], on[name]):
            continue
        found = gap(off[name], on[name], 0.0 if bounds is None else bounds[name])
        if not found.within:
            cure = _cured(bench, network, ran, off, bounds)
            how = f"by up to {found.max_abs:.3g}" if isfinite(found.max_abs) else found.where
            said = f"changes output '{name}' ({how}){cure} in"
            return Damage(name, found.max_abs, said)
    return None


def _cured(
    bench: Bench,
    network: Network,
    ran: Ran,
    off: Mapping[str, Array],
    bounds: Mapping[str, float] | None,
) -> str:
    """Names the optimiser's rule where the damage goes away without it."""
    session = bench.session(network, optimise=True, disabled=(FUSION,))
    if isinstance(session, RunFailure):
        return ""
    results = session.run(ran.feeds)
    if isinstance(results, RunFailure):
        return ""
    limits = {name: 0.0 if bounds is None else bounds[name] for name in off}
    fine = all(gap(off[name], results[name], limits[name]).within for name in off)
    return f" (its rule {FUSION})" if fine or bounds is None else ""


def _all_same(first: Results, second: Results) -> bool:
    if isinstance(first, RunFailure) or isinstance(second, RunFailure):
        return False
    return all(same(value, second[name]) for name, value in first.items())
