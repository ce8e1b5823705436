"""A node as shape rules see it."""

from __future__ import annotations

from onnxpad.graph.reading.attributes import Value
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.pads import any_floats, any_integers
from onnxpad.graph.reading.shape_rules import Facts


class NodeFacts(Facts):
    """What a rule may ask about one node, read in one context."""

    def __init__(self, context: Context, node: Node) -> None:
        self._context = context
        self._node = node

    def attributes(self) -> dict[str, Value]:
        """Attributes, with the call's values where they are references."""
        return self._context.attributes(self._node)

    def integers(self, position: int) -> tuple[int, ...] | None:
        """Constant integers at an input, or None."""
        if len(self._node.inputs) <= position:
            return None
        return any_integers(self._context, self._node.inputs[position])

    def floats(self, position: int) -> tuple[float, ...] | None:
        """Constant numbers of floating point at an input, or None."""
        if len(self._node.inputs) <= position:
            return None
        return any_floats(self._context, self._node.inputs[position])
