"""Regions that are the same for every channel, with one channel.

Lemma 4. Where no operator tells channels apart (pools, pads and cuts of other axes, functions cell
by cell), the sides agree for any number of channels if they agree for one.

Lemma 5. Let a region be linear and the same for each channel but for one convolution whose weight
W [M, C, taps] and bias b [M] are the same constants on both sides, and so may be any (lemma 6), and
which takes them in the same order, in as many groups.
Then y[m] is the sum over c of A(W[m, c], x[c]), and b[m] U, where A and U do not hang on m and c.
If the sides agree for M = C = 1 and any W, x and b, their A and U agree (A is 0 where W is), and
with them all sums. A group is a sum over fewer channels: the same holds.
"""

from dataclasses import replace

from onnxpad.proof.functions import FLOATS
from onnxpad.proof.graphs import Graph, Node
from onnxpad.proof.regions import Cut, Region

_CONVOLUTIONS = ("Conv", "ConvTranspose")
_LINEAR = {"Pad", "Slice", "Identity", "AveragePool"}
_CELL_BY_CELL = {*FLOATS, "Relu", "Clip", "MaxPool", "LpPool"}


def one_channel(region: Region) -> Region | None:
    """The region with one channel, where lemma 4 or 5 holds; None elsewhere."""
    data = [cut for cut in region.cuts if cut.data]
    if len(data) != 1 or len(data[0].sizes) < 3:
        return None
    rank = len(data[0].sizes)
    found, weights = list[list[Node]](), list[list[Cut | None]]()
    for at, graph in enumerate(region.graphs):
        nodes = list(region.between(at))
        found.append([one for one in nodes if one.op in _CONVOLUTIONS and not one.domain])
        allowed = _LINEAR if found[at] else _LINEAR | _CELL_BY_CELL
        rest = [node for node in nodes if node not in found[at]]
        if not all(node.op in allowed and _keeps_channels(graph, node, rank) for node in rest):
            return None
        names = [name for node in found[at] for name in node.inputs[1:]]
        weights.append([_constant(region, at, name) for name in names])
    kinds = [[(node.op, node.attributes.get("group", 1)) for node in side] for side in found]
    if kinds[0] != kinds[1] or len(kinds[0]) > 1 or weights[0] != weights[1]:
        return None
    held = [cut for cut in weights[0] if cut is not None]
    if len(held) < len(weights[0]) or (not kinds[0] and len(region.cuts) > 1):
        return None
    single = [replace(data[0], sizes=(data[0].sizes[0], 1, *data[0].sizes[2:]))]
    single += [replace(cut, sizes=(1, 1, *cut.sizes[2:])[: len(cut.sizes)]) for cut in held]
    first, second = (_ungrouped(*pair) for pair in zip(region.graphs, found, strict=True))
    cuts = {cut.key: cut for cut in (*region.cuts, *single)}
    return replace(region, graphs=(first, second), cuts=tuple(cuts.values()))


def _constant(region: Region, at: int, name: str) -> Cut | None:
    """A weight or a bias that is the same constant on both sides."""
    return next((cut for cut in region.cuts if name in cut.names[at] and not cut.data), None)


def _ungrouped(graph: Graph, convolutions: list[Node]) -> Graph:
    """The graph with these convolutions in one group."""
    nodes = [
        replace(node, attributes={**node.attributes, "group": 1}) if node in convolutions else node
        for node in graph.nodes
    ]
    return replace(graph, nodes=nodes)


def _keeps_channels(graph: Graph, node: Node, rank: int) -> bool:
    """Whether an operator, such as a Pad of other axes, leaves batch and channels alone."""
    held = [graph.constants.get(name) for name in node.inputs[1:]]
    if node.domain or len(node.outputs) > 1:
        return False
    if node.op == "Slice":
        axes = held[2] if len(held) > 2 else None
        return axes is not None and bool((axes.numbers() % rank >= 2).all())
    if node.op != "Pad":
        return True
    listed = held[0] if held else None
    pads = listed.numbers().tolist() if listed else node.attributes.get("pads", [])
    return len(held) < 3 and len(pads) == 2 * rank and not any((*pads[:2], *pads[rank:][:2]))
