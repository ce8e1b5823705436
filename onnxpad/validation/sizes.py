"""Which sizes tell: odd and even rows at every stage, multiples, and numbers compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from onnxpad.model.comparing.networks import Network, Operation, free_names

_LEAST, _WHOLE, _MOST = 32, 64, 256
_COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_FEW = 4


def stage_sizes(networks: Iterable[Network]) -> tuple[int, ...]:
    """Sizes from the cumulative strides of all stages, which hold for each spatial axis.

    Stage by stage, SAME padding and rounding depend on the rows that are left over a stride. A
    multiple of all strides leaves none anywhere, one more leaves some everywhere, and one stage's
    strides more change sides there.
    """
    strides = sorted({one for network in networks for one in _cumulative(network)})
    whole = strides[-1] if strides else 1
    step = whole * -(-_LEAST // whole)
    found = [step * -(-_WHOLE // step), step + 1, step + whole - 1]
    found += [step + stride for stride in strides[:2]]
    found += [step + stride + 1 for stride in strides[-2:-1]]
    return tuple(dict.fromkeys(size for size in found if size <= _MOST))


def comparisons(network: Network) -> Iterator[Operation]:
    """Nodes that compare a number which only sizes decide."""
    sized: set[str] = set()
    for index, node in enumerate(network.nodes):
        read = free_names(node) - network.initializers.keys()
        if node.op_type in ("Shape", "Size") or (read and read <= sized):
            sized |= set(node.output)
            if node.op_type in _COMPARISONS and not node.domain:
                yield network.operation(index)


def compared_sizes(networks: Iterable[Network]) -> tuple[int, ...]:
    """Numbers that sizes are compared with; a size that is one may be a case of its own."""
    found: list[int] = []
    for network in networks:
        for operation in comparisons(network):
            for name in operation.inputs:
                tensor = network.initializers.get(name)
                value = network.constant(name) if tensor and prod(tensor.dims) <= _FEW else None
                if value is not None and value.dtype.kind in "iuf":
                    found += [int(one) for one in value.ravel() if 0 < one < 1 << 20]
    return tuple(dict.fromkeys(found))[:_FEW]


def channel_counts(networks: Iterable[Network]) -> tuple[int, ...]:
    """Lengths of constants of one axis, the first of the model first: numbers of channels."""
    found = [
        max(tensor.dims)
        for network in networks
        for node in network.nodes
        for name in node.input
        if (tensor := network.initializers.get(name)) is not None
        and prod(tensor.dims) == max(tensor.dims, default=1) > 1
    ]
    return tuple(dict.fromkeys(int(one) for one in found))[:3]


def _cumulative(network: Network) -> set[int]:
    """By how much each tensor is smaller than what the model was fed, for the largest stride."""
    behind: dict[str, int] = {}
    for node in network.nodes:
        facts = {one.name: one for one in node.attribute}
        own = max(facts["strides"].ints, default=1) if "strides" in facts else 1
        if node.op_type == "SpaceToDepth" and "blocksize" in facts:
            own = facts["blocksize"].i
        if node.op_type == "ConvTranspose":
            own = 1
        total = own * max((behind.get(name, 1) for name in free_names(node)), default=1)
        behind |= dict.fromkeys(node.output, min(total, 10**6))
    return {one for one in behind.values() if 1 < one <= _MOST}
