"""A network cut at the padded nodes in question: parts that run one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onnxpad.diagnosis.sites import Place
from onnxpad.model.comparing.networks import Network


@dataclass(frozen=True, slots=True)
class Stage:
    """Nodes that run together; `place` is the number of the place that they are, if any.

    `reads` are tensors from outside, `makes` those that later stages or the caller want; `kept`
    is everything that later stages still read.
    """

    indices: tuple[int, ...]
    place: int | None
    reads: tuple[str, ...]
    makes: tuple[str, ...]
    kept: frozenset[str]


def stages(network: Network, places: Sequence[Place], wanted: Sequence[str]) -> list[Stage]:
    """The network in stages, as far as `wanted` hangs on it; every needed place is one stage."""
    order = needed_nodes(network, wanted)
    needed = set(order)
    by_node = {place.node: number for number, place in enumerate(places) if place.node in needed}
    hidden = _hidden_pads(network, places, wanted, needed)
    groups: list[tuple[list[int], int | None]] = [([], None)]
    for index in order:
        if index in by_node:
            number = by_node[index]
            groups += [(list(places[number].indices), number), ([], None)]
        elif index not in hidden:
            groups[-1][0].append(index)
    return _linked(network, [group for group in groups if group[0]], wanted)


def needed_places(network: Network, places: Sequence[Place], tensor: str) -> frozenset[int]:
    """Numbers of the places that a tensor hangs on."""
    nodes = set(needed_nodes(network, [tensor]))
    return frozenset(number for number, place in enumerate(places) if place.node in nodes)


def needed_nodes(network: Network, wanted: Iterable[str]) -> list[int]:
    """Nodes that `wanted` hangs on, each behind those that it reads from."""
    producers = network.producers
    found: list[int] = []
    done: set[int] = set()
    stack = [(producers[name], False) for name in wanted if name in producers]
    stack.sort(reverse=True)
    while stack:
        index, ready = stack.pop()
        if ready:
            found.append(index)
            continue
        if index in done:
            continue
        done.add(index)
        stack.append((index, True))
        before = {producers[name] for name in network.names_read([index]) if name in producers}
        stack.extend((other, False) for other in sorted(before - done, reverse=True))
    file = sorted(found)
    return file if _sound(network, file) else found


def _sound(network: Network, indices: Sequence[int]) -> bool:
    """Whether every node stands behind those that it reads from."""
    producers = network.producers
    return all(
        producers[name] < index
        for index in indices
        for name in network.names_read([index])
        if name in producers
    )


def _hidden_pads(
    network: Network, places: Sequence[Place], wanted: Sequence[str], needed: set[int]
) -> set[int]:
    """Pads that only the operator behind them reads."""
    hidden = set()
    for place in places:
        if place.pad is None or place.node not in needed:
            continue
        made = set(network.nodes[place.pad].output)
        others = needed - {place.node}
        if not made & set(wanted) and not made & network.names_read(others):
            hidden.add(place.pad)
    return hidden


def _linked(
    network: Network, groups: Sequence[tuple[list[int], int | None]], wanted: Sequence[str]
) -> list[Stage]:
    """What each group reads and makes, found from the end."""
    later = set(wanted)
    found = []
    for indices, place in reversed(groups):
        made = {name for index in indices for name in network.nodes[index].output if name}
        if place is not None and len(indices) > 1:
            made = {name for name in network.nodes[indices[-1]].output if name}
            inner = {name for index in indices for name in network.nodes[index].output}
        else:
            inner = made
        read = network.names_read(indices) - inner - network.initializers.keys()
        makes = tuple(sorted(made & later))
        kept = frozenset(later)
        later = (later - made) | read
        found.append(Stage(tuple(indices), place, tuple(sorted(read)), makes, kept))
    return found[::-1]
