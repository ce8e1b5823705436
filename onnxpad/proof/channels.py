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
    sides = [list(region.between(at)) for at in (0, 1)]
    found = [[node for node in side if node.op in _CONVOLUTIONS] for side in sides]
    kinds = [[(node.op, node.attributes.get("group", 1)) for node in side] for side in found]
    if kinds[0] != kinds[1] or len(found[0]) > 1:
        return None
    allowed = _LINEAR if found[0] else _LINEAR | _CELL_BY_CELL
    for at, side in enumerate(sides):
        for node in side:
            plain = node.op in allowed and not node.domain and not node.bodies
            if node in found[at] and not node.domain:
                continue
            if (
                not plain
                or len(node.outputs) > 1
                or not _keeps_channels(region.graphs[at], node, len(data[0].sizes))
            ):
                return None
    cuts = {cut.key: cut for cut in region.cuts}
    cuts[data[0].key] = replace(data[0], sizes=(data[0].sizes[0], 1, *data[0].sizes[2:]))
    if found[0]:
        weights = [_operands(region, at, found[at][0]) for at in (0, 1)]
        if weights[0] is None or weights[0] != weights[1]:
            return None
        cuts |= {cut.key: _single(cut) for cut in weights[0]}
    elif len(region.cuts) > 1:
        return None
    graphs = tuple(_ungrouped(region.graphs[at], found[at]) for at in (0, 1))
    return replace(region, graphs=(graphs[0], graphs[1]), cuts=tuple(cuts.values()))


def _operands(region: Region, at: int, node: Node) -> list[Cut] | None:
    """Weight and bias of a convolution as cuts; None where they are something else.

    A bias that is a constant of both sides is left open as well.
    """
    found = []
    for name in node.inputs[1:]:
        cut = next((one for one in region.cuts if name in one.names[at] and not one.data), None)
        if cut is None:
            return None
        found.append(cut)
    return found


def _single(cut: Cut) -> Cut:
    """A weight with one channel on both sides, or one bias."""
    if len(cut.sizes) == 1:
        return replace(cut, sizes=(1,))
    return replace(cut, sizes=(1, 1, *cut.sizes[2:]))


def _ungrouped(graph: Graph, convolutions: list[Node]) -> Graph:
    """The graph with these convolutions in one group."""
    nodes = []
    for node in graph.nodes:
        if node in convolutions:
            kept = {name: one for name, one in node.attributes.items() if name != "group"}
            nodes.append(replace(node, attributes=kept))
        else:
            nodes.append(node)
    return replace(graph, nodes=nodes)


def _keeps_channels(graph: Graph, node: Node, rank: int) -> bool:
    """Whether a Pad or Slice leaves batch and channels alone; others do."""
    if node.op not in ("Pad", "Slice"):
        return True
    pads = _listed(graph, node, 1, "pads") if node.op == "Pad" else None
    axes = _listed(graph, node, 3, "axes")
    if node.op == "Slice":
        return axes is not None and all(axis % rank >= 2 for axis in axes)
    if pads is None or (len(node.inputs) > 3 and node.inputs[3] and axes is None):
        return False
    spots = axes if axes is not None else list(range(rank))
    if len(pads) != 2 * len(spots):
        return False
    return all(
        pads[at] == pads[len(spots) + at] == 0 for at, axis in enumerate(spots) if axis % rank < 2
    )


def _listed(graph: Graph, node: Node, at: int, name: str) -> list[int] | None:
    """Whole numbers of an attribute, or of an operand that is a constant."""
    if name in node.attributes:
        return [int(one) for one in node.attributes[name]]
    if at < len(node.inputs) and node.inputs[at] in graph.constants:
        constant = graph.constants[node.inputs[at]]
        if constant.size <= 64:
            return [int(one) for one in constant.numbers().ravel()]
    return None
