"""The padded part of a graph: which padded node reads what another one makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnxpad.model.graph.nodes import NodeId
from onnxpad.model.reading.survey import Site

LARGEST, _MOST = 4000, 6
"""Nodes of the scopes that are walked through; and padded nodes that one tensor is traced to."""


def padded_links(
    sites: Sequence[Site], numbers: Mapping[NodeId, int]
) -> tuple[tuple[int, int], ...]:
    """Pairs of `numbers`: the second node reads what the first makes, and none between them pads.

    A tensor that hangs on many padded nodes is traced to some of them alone. Nothing of graphs
    that are larger than what can be drawn.
    """
    scopes = {site.address.scope: site.context.scope for site in sites}
    if sum(len(scope.nodes) for scope in scopes.values()) > LARGEST:
        return ()
    links: dict[tuple[int, int], None] = {}
    for name, scope in scopes.items():
        origins: dict[str, tuple[int, ...]] = {}
        for node in scope.nodes:
            read = dict.fromkeys(one for tensor in node.inputs for one in origins.get(tensor, ()))
            number = numbers.get((name, node.key))
            if number is not None:
                links |= dict.fromkeys((origin, number) for origin in read)
                read = {number: None}
            if read:
                told = (*read,)[-_MOST:]
                origins |= dict.fromkeys(node.outputs, told)
    return tuple(links)
