"""Which sizes tell: those at which stages of a model have odd and even rows, and multiples."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from onnxpad.model.comparing.networks import Network, free_names

_LEAST, _WHOLE, _MOST = 32, 64, 256


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
