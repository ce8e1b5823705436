"""Where two models differ: regions of changed nodes between tensors that both have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onnx import AttributeProto, NodeProto, TensorProto, defs

from onnxpad.model.comparing.networks import Network, free_names
from onnxpad.model.graph.nodes import bodies
from onnxpad.padding.operators import plain_domain

Member = tuple[bool, int]


@dataclass(frozen=True, slots=True)
class Region:
    """Changed nodes that hang together, by index in each main graph.

    `inputs` and `outputs` are tensors of both models: equal inputs must give equal outputs.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def regions(before: Network, after: Network) -> list[Region]:
    """Regions in the order of the first model's nodes.

    Two nodes are the same when operator, version, attributes, output names and inputs agree, where
    an initializer agrees by its content.
    """
    shared = _shared(before, after)
    kept = _unchanged(before, after, shared)
    changed = [(False, i) for i in _working(before) if i not in kept[0]]
    changed += [(True, i) for i in _working(after) if i not in kept[1]]
    groups = _grouped(before, after, changed, shared)
    readers = _readers(before, after)
    found = [_region(before, after, members, shared, readers) for members in groups]
    return sorted((r for r in found if r.outputs), key=lambda r: r.before or r.after)


def _working(network: Network) -> Iterator[int]:
    """Nodes that compute; those of Constants are treated as initializers."""
    for index, node in enumerate(network.nodes):
        if not (node.output and node.output[0] in network.initializers):
            yield index


def _shared(before: Network, after: Network) -> set[str]:
    """Names that mean the same kind of thing in both models, constants by content."""
    names = before.producers.keys() & after.producers.keys()
    names |= set(before.fed) & set(after.fed)
    for name in before.initializers.keys() & after.initializers.keys():
        if name not in before.producers and _equal(before, after, name):
            names.add(name)
    return names


def _equal(before: Network, after: Network, name: str) -> bool:
    first, second = before.initializers[name], after.initializers[name]
    if first is second:
        return True
    if first.dims != second.dims or first.data_type != second.data_type:
        return False
    if before.left is not None and after.left is not None:
        if before.left.holds(first) and after.left.holds(second):
            return before.left.same_values(first, after.left, second)
    elif before.folder == after.folder and first.data_location == TensorProto.EXTERNAL:
        entries = [sorted((e.key, e.value) for e in t.external_data) for t in (first, second)]
        if entries[0] == entries[1] and second.data_location == TensorProto.EXTERNAL:
            return True
    first, second = before.tensor(name) or first, after.tensor(name) or second
    if first.raw_data and second.raw_data:
        return first.raw_data == second.raw_data
    one, other = before.constant(name), after.constant(name)
    return one is not None and other is not None and one.tobytes() == other.tobytes()


def _unchanged(before: Network, after: Network, shared: set[str]) -> tuple[set[int], set[int]]:
    same: tuple[set[int], set[int]] = (set(), set())
    for index in _working(before):
        node = before.nodes[index]
        first = next((name for name in node.output if name), None)
        other = after.producers.get(first) if first in shared and first else None
        if other is None:
            continue
        twin = after.nodes[other]
        names = free_names(node) | {name for name in node.output if name}
        if names <= shared and _alike(before, after, node, twin):
            same[0].add(index)
            same[1].add(other)
    return same


def _alike(before: Network, after: Network, node: NodeProto, twin: NodeProto) -> bool:
    return (
        node.op_type == twin.op_type
        and node.domain == twin.domain
        and list(node.input) == list(twin.input)
        and list(node.output) == list(twin.output)
        and _signature(node) == _signature(twin)
        and _same_version(before, after, node)
    )


def _signature(node: NodeProto) -> list[bytes]:
    stripped = []
    for attribute in node.attribute:
        copy = AttributeProto()
        copy.CopyFrom(attribute)
        copy.doc_string = ""
        stripped.append(copy.SerializeToString(deterministic=True))
    return sorted(stripped)


def _same_version(before: Network, after: Network, node: NodeProto) -> bool:
    """Whether both models' operator sets mean the same operator; bodies ask for equal sets."""
    domain = plain_domain(node.domain)
    first, second = before.opsets.get(domain, 1), after.opsets.get(domain, 1)
    if first == second and (not bodies(node) or before.opsets == after.opsets):
        return True
    if bodies(node) or not defs.has(node.op_type, domain):
        return False
    try:
        versions = [
            defs.get_schema(node.op_type, max_inclusive_version=one, domain=domain).since_version
            for one in (first, second)
        ]
    except (defs.SchemaError, TypeError):  # an opset without it, or one that is no int32
        return False
    return versions[0] == versions[1]


def _grouped(
    before: Network, after: Network, changed: list[Member], shared: set[str]
) -> list[list[Member]]:
    """Components of changed nodes, joined by tensors that only one model has."""
    joined = _Sets()
    for side, index in changed:
        network = after if side else before
        node = network.nodes[index]
        made = {name for name in node.output if name}
        for name in made | (free_names(node) - shared - network.initializers.keys()):
            # A shared tensor joins its two makers; any other name belongs to one model.
            joined.join((side, index), name if name in shared else (side, name))
    groups: dict[object, list[Member]] = {}
    for member in changed:
        groups.setdefault(joined.root(member), []).append(member)
    return list(groups.values())


class _Sets:
    """Disjoint sets."""

    def __init__(self) -> None:
        self._parent: dict[object, object] = {}

    def root(self, member: object) -> object:
        while (above := self._parent.setdefault(member, member)) != member:
            self._parent[member] = self._parent[above]
            member = above
        return member

    def join(self, one: object, other: object) -> None:
        self._parent[self.root(one)] = self.root(other)


def _readers(before: Network, after: Network) -> dict[str, set[Member]]:
    found: dict[str, set[Member]] = {}
    for side, network in ((False, before), (True, after)):
        for index, node in enumerate(network.nodes):
            for name in free_names(node):
                found.setdefault(name, set()).add((side, index))
        for name in network.outputs:
            found.setdefault(name, set()).add((side, -1))
    return found


def _region(
    before: Network,
    after: Network,
    members: list[Member],
    shared: set[str],
    readers: dict[str, set[Member]],
) -> Region:
    sides = [tuple(sorted(i for s, i in members if s is side)) for side in (False, True)]
    made: set[str] = set()
    read: set[str] = set()
    for network, indices in zip((before, after), sides, strict=True):
        for index in indices:
            made |= set(network.nodes[index].output)
            read |= free_names(network.nodes[index])
    constant = before.initializers.keys() | after.initializers.keys()
    inputs = sorted((read & shared) - made - constant)
    inside = set(members)
    outputs = sorted(name for name in made & shared if readers.get(name, set()) - inside)
    return Region(sides[0], sides[1], tuple(inputs), tuple(outputs))
