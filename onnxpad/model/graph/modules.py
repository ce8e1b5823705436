"""Modules of PyTorch, as its exporter notes them in the nodes that they became.

The exporter of torch.export writes `pkg.torch.onnx.name_scopes` and `class_hierarchy`: lists, from
the whole network to the operator (seen in models of torch 2.13).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from onnx import NodeProto

_LONGEST, _LEAST = 4_000, 2
_QUOTED = re.compile(r"'([^']*)'")
_LISTED = re.compile(r"\[('[^']*'(, )?)*\]")


def module_returning(nodes: Sequence[NodeProto], index: int) -> str:
    """The module of torch.nn that returns what a node computes; '' where that is not known.

    A module with several nodes returns what the last of them computes.
    """
    mine = _module(nodes[index])
    if not mine:
        return ""
    made = set(nodes[index].output)
    readers = (node for node in nodes if made & set(node.input))
    return "" if any(_module(node) == mine for node in readers) else mine


def _module(node: NodeProto) -> str:
    """The module around a node where that is one of torch.nn with an operator of its own."""
    noted = {one.key: one.value for one in node.metadata_props}
    found = []
    for key in ("pkg.torch.onnx.name_scopes", "pkg.torch.onnx.class_hierarchy"):
        text = noted.get(key, "")
        listed = len(text) < _LONGEST and _LISTED.fullmatch(text)
        found.append(_QUOTED.findall(text) if listed else [])
    scopes, classes = found
    if len(scopes) != len(classes) or len(scopes) < _LEAST:
        return ""
    own = classes[-2].startswith("torch.nn.modules.") and "container" not in classes[-2]
    return str(scopes[-2]) if own else ""
