"""Which nodes onnxruntime's default optimiser damages: changed ones, or ones both models have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network, free_names
from onnxpad.model.comparing.regions import Region
from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import gap
from onnxpad.validation.bench import Bench

Array = NDArray[Any]
FUSION = "Pad_Fusion"
_FUSED = ("Conv", "MaxPool", "AveragePool")


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
    place = f", at {', '.join(labels)}" if labels else ""
    pooled = any(label.startswith("MaxPool") for label in labels)
    more = "; see onnxpad explain pad-fused-into-max-pool" if pooled else ""
    return f"{place}; try onnxruntime with the optimiser rule {FUSION} disabled{more}"


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
