"""The same models with onnxruntime's default optimisations: what they change, and at which node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network, free_names
from onnxpad.model.comparing.regions import Region
from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import gap, relative_gap, same
from onnxpad.validation.bench import Bench, Results
from onnxpad.validation.difference_maps import difference_map
from onnxpad.validation.report import OutputRow
from onnxpad.validation.samples import Pair, Ran, output_row

Array = NDArray[Any]
Bounds = Mapping[str, Array]
FUSION = "Pad_Fusion"
_FUSED = ("Conv", "MaxPool", "AveragePool")
# So many roundings of one number are no damage.
_FEW = 32
# How much more the second model may suffer than the first before it is called damaged.
WORSE = 4.0


@dataclass(frozen=True, slots=True)
class Damage:
    """A model whose output changes by more than rounding, or that no longer runs.

    `cure` names the optimiser's rule without which it would not; `why` is what onnxruntime says.
    """

    output: str
    max_abs: float
    said: str
    cure: str = ""
    why: str = ""


def optimised(
    bench: Bench, pair: Pair, runs: list[Ran], regions: Sequence[Region]
) -> tuple[list[OutputRow], str]:
    """Rows for the level 'on', and why the second model must not be used so ('' if it may).

    Only damage at changed nodes speaks against the second model; what happens to nodes that both
    models have is a warning.
    """
    rows: list[OutputRow] = []
    found: list[SampleDamage] = []
    ons: list[list[Results]] = []
    for network in pair.both():
        bench.close_large()  # one large model at a time
        ons.append([bench.run(network, ran.feeds, optimise=True) for ran in runs])
    for ran, before, after in zip(runs, *ons, strict=True):
        bench.look(before, after)
        own = _noise(bench, pair, ran)
        alike = _all_same(before, after)
        if alike and _all_same(ran.before, ran.after) and _unmoved(ran.before, before):
            rows += [_row(ran, name, (before, after), own) for name in pair.before.outputs]
            found.append(SampleDamage(ran, None, None, alike))
            continue
        rows += [_row(ran, name, (before, after), own) for name in pair.before.outputs]
        first = _damage(bench, pair.before, ran, (ran.before, before), own[0])
        second = (
            first
            if alike and _all_same(ran.before, ran.after)
            else _damage(bench, pair.after, ran, (ran.after, after), own[1])
        )
        found.append(SampleDamage(ran, first, second, alike))
    return rows, _problem(bench, pair, found, regions)


def _row(
    ran: Ran, name: str, on: tuple[Results, Results], own: tuple[Bounds | None, Bounds | None]
) -> OutputRow:
    """One line for the level 'on'.

    Where the outputs are equal without optimisations, each model may move by its own rounding.
    """
    first, second = (None if isinstance(r, RunFailure) else r[name] for r in on)
    off = (ran.before, ran.after)
    bound: Array | float | None = None
    if first is not None and second is not None and not same(first, second):
        values = [None if isinstance(r, RunFailure) else r[name] for r in off]
        if values[0] is not None and values[1] is not None and same(values[0], values[1]):
            moved = [
                np.inf if bounds is None else bounds[name]
                for bounds, value in zip(own, (first, second), strict=True)
                if not same(values[0], value)
            ]
            total = np.asarray(sum(moved))
            bound = total if np.isfinite(total).all() else None
    row = output_row(ran.index, name, "on", (first, second), bound)
    if first is None or second is None or not row.where or not _were_equal(off, name):
        return row
    return replace(row, difference=difference_map(first, second))


def _were_equal(off: tuple[Results, Results], name: str) -> bool:
    """Whether the optimisations alone make an output differ."""
    before, after = (None if isinstance(one, RunFailure) else one[name] for one in off)
    return before is not None and after is not None and same(before, after)


@dataclass(frozen=True, slots=True)
class SampleDamage:
    """What one sample shows of damage to each model; `alike` where both give the same."""

    ran: Ran
    first: Damage | None
    second: Damage | None
    alike: bool

    @property
    def worse(self) -> bool:
        """Whether the second model suffers more than the first one does."""
        if self.second is None or self.alike:
            return False
        return self.first is None or self.second.max_abs > WORSE * self.first.max_abs


def _problem(bench: Bench, pair: Pair, found: list[SampleDamage], regions: Sequence[Region]) -> str:
    """Warn of the worst damage to each model; the reason where changed nodes suffer."""
    suspects = [harm for harm in found if harm.worse]
    harms = [harm for harm in suspects if not _inherited(bench, pair, harm, regions)]
    harmful = _complaint(bench, pair.after, [(harm.ran, harm.second) for harm in harms])
    first = _complaint(bench, pair.before, [(h.ran, h.first) for h in found])
    second = _complaint(bench, pair.after, [(h.ran, h.second) for h in found])
    if first == second and first is not None and harmful is None:
        bench.warn(_sentence(first, "both models alike"))
        return ""
    for title, complaint in (("first", first), ("second", second)):
        if complaint is not None and (title == "first" or harmful is None):
            bench.warn(_sentence(complaint, f"the {title} model"))
    return "" if harmful is None else _sentence(harmful, "the second model")


def _sentence(complaint: tuple[str, str], models: str) -> str:
    said, more = complaint
    return f"onnxruntime's default optimiser {said} {models}{more}"


def _complaint(
    bench: Bench, network: Network, damages: Sequence[tuple[Ran, Damage | None]]
) -> tuple[str, str] | None:
    """What the worst damage to a model is, and behind its name where it is and what to try."""
    worst: Damage | None = None
    feeds: Mapping[str, Array] = {}
    for ran, damage in damages:
        if damage is not None and _worse(worst, damage) is damage:
            worst, feeds = damage, ran.feeds
    if worst is None:
        return None
    hint = advice(damaged_pools(bench, network, feeds)) if FUSION in worst.cure else ""
    return worst.said, f"{worst.cure}{hint}{worst.why}"


def _inherited(bench: Bench, pair: Pair, harm: SampleDamage, regions: Sequence[Region]) -> bool:
    """Whether nodes that the first model has too explain the damage, and changed ones do not.

    A first model that runs undamaged shows that it is new.
    """
    if harm.first is None and not isinstance(harm.ran.before, RunFailure):
        return False
    feeds, kept = harm.ran.feeds, unchanged(pair.after, regions)
    if changed_damage(bench, pair.after, regions, feeds):
        return False
    return bool(damaged_pools(bench, pair.after, feeds, kept))


def _worse(one: Damage | None, other: Damage | None) -> Damage | None:
    if one is None or other is None:
        return one or other
    return other if other.max_abs > one.max_abs else one


def _noise(bench: Bench, pair: Pair, ran: Ran) -> tuple[Bounds | None, Bounds | None]:
    """Bounds for each model, of its own rounding; those of the other one where it does not run."""
    found = [
        None if isinstance(off, RunFailure) else _Lazy(bench, network, ran.feeds, off)
        for network, off in zip(pair.both(), (ran.before, ran.after), strict=True)
    ]
    return found[0] or found[1], found[1] or found[0]


class _Lazy(dict[str, Array]):
    """Bounds that are measured when the first one is asked for."""

    def __init__(
        self, bench: Bench, network: Network, feeds: Mapping[str, Array], clean: Mapping[str, Array]
    ) -> None:
        super().__init__()
        self._ask = (bench, network, feeds, clean)

    def __bool__(self) -> bool:
        return True

    def __missing__(self, name: str) -> Array:
        bench, network, feeds, clean = self._ask
        found = bench.noise(network, feeds, clean)
        if found is None:
            bench.warn("how far rounding may go at the default level could not be measured")
        self.update(found or dict.fromkeys(clean, np.asarray(np.inf)))
        return self[name]


def _damage(
    bench: Bench,
    network: Network,
    ran: Ran,
    results: tuple[Results, Results],
    bounds: Bounds | None,
) -> Damage | None:
    off, on = results
    if isinstance(off, RunFailure):
        return None
    if isinstance(on, RunFailure):
        cure = _cured(bench, network, ran, off, None)
        return Damage("", float("inf"), "breaks", cure, f"; onnxruntime says: {on}")
    for name in network.outputs:
        if same(off[name], on[name]):
            continue
        found = gap(off[name], on[name], 0.0 if bounds is None else bounds[name])
        if not found.within:
            cure = _cured(bench, network, ran, off, bounds)
            how = f"by up to {found.max_abs:.3g}" if isfinite(found.max_abs) else found.where
            return Damage(name, found.max_abs, f"changes output '{name}' ({how}) in", cure)
    return None


def _cured(
    bench: Bench,
    network: Network,
    ran: Ran,
    off: Mapping[str, Array],
    bounds: Bounds | None,
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


def _unmoved(off: Results, on: Results) -> bool:
    """Whether default optimisations move outputs by no more than a few roundings of the largest.

    How far rounding may go is then not worth measuring: a padding error is larger than that.
    """
    if isinstance(off, RunFailure) or isinstance(on, RunFailure):
        return False
    return all(
        same(value, on[name])
        or (value.dtype.kind == "f" and relative_gap(value, on[name]) <= _FEW * _unit(value))
        for name, value in off.items()
    )


def _unit(value: Array) -> float:
    return float(np.finfo(value.dtype).eps)


def _all_same(first: Results, second: Results) -> bool:
    if isinstance(first, RunFailure) or isinstance(second, RunFailure):
        return False
    return all(same(value, second[name]) for name, value in first.items())


def damaged_pools(
    bench: Bench, network: Network, feeds: Mapping[str, Array], among: frozenset[int] | None = None
) -> list[str]:
    """Nodes behind a Pad that give something else, alone with it, under default optimisations.

    Only pairs of nodes in `among`, where it is given.
    """
    readers = _readers(network)
    found = []
    for index, node in enumerate(network.nodes):
        behind = readers.get(node.output[0], []) if node.op_type == "Pad" and node.output else []
        if len(behind) != 1 or network.nodes[behind[0]].op_type not in _FUSED:
            continue
        couple = [index, behind[0]]
        if among is not None and not among.issuperset(couple):
            continue
        if _damaged(bench, network, couple, feeds):
            found.append(network.operation(behind[0]).label)
    return found


def changed_damage(
    bench: Bench, network: Network, regions: Sequence[Region], feeds: Mapping[str, Array]
) -> bool:
    """Whether the second model's changed nodes, with their neighbours, are damaged alone."""
    readers = _readers(network)
    for region in regions:
        near = set(region.after)
        for index in region.after:
            node = network.nodes[index]
            near |= {network.producers[n] for n in free_names(node) if n in network.producers}
            near |= {reader for name in node.output for reader in readers.get(name, ())}
        if near and _damaged(bench, network, sorted(near), feeds):
            return True
    return False


def unchanged(network: Network, regions: Sequence[Region]) -> frozenset[int]:
    """Nodes of the second model that the first one has too."""
    changed = {index for region in regions for index in region.after}
    return frozenset(range(len(network.nodes))) - changed


def advice(labels: Sequence[str]) -> str:
    """Where the damage is and what to try."""
    where = f", at {', '.join(labels)}" if labels else ""
    pooled = any(label.startswith("MaxPool") for label in labels)
    more = "; see onnxpad explain pad-fused-into-max-pool" if pooled else ""
    return f"{where}; try onnxruntime with the optimiser rule {FUSION} disabled{more}"


def _damaged(
    bench: Bench, network: Network, indices: Sequence[int], feeds: Mapping[str, Array]
) -> bool:
    """Whether these nodes as a model of their own give something else when optimised."""
    made = {name for index in indices for name in network.nodes[index].output if name}
    read = network.names_read(indices) - made - network.initializers.keys()
    captured = bench.run(network, feeds, sorted(read - feeds.keys()))
    if isinstance(captured, RunFailure):
        return False
    values = {**feeds, **captured}
    given = {name: values[name] for name in read}
    inside = set(indices)
    readers = _readers(network)
    wanted = sorted(
        name
        for name in made
        if name in network.outputs or not inside.issuperset(readers.get(name, ()))
    )
    part = bench.part(network, indices, given, wanted)
    off = bench.run(part, given)
    on = bench.run(part, given, optimise=True)
    if isinstance(off, RunFailure):
        return False
    if isinstance(on, RunFailure):
        return True
    bounds = bench.noise(part, given, off) or {}
    return not all(gap(off[n], on[n], bounds.get(n, 0.0)).within for n in wanted)


def _readers(network: Network) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for index, node in enumerate(network.nodes):
        for name in free_names(node):
            found.setdefault(name, []).append(index)
    return found
