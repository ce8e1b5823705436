"""A node as shape rules see it."""

from __future__ import annotations

from collections.abc import Sequence

from onnxpad.geometry.size import Size
from onnxpad.graph.reading.attributes import Value
from onnxpad.graph.reading.cells import sizes_of
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.pads import any_floats, any_integers
from onnxpad.graph.reading.shape_rules import Facts, Rule
from onnxpad.graph.reading.types import Type


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

    def sizes(self, position: int) -> tuple[Size | None, ...] | None:
        """Integers at an input as far as they are known; None where not even their number is."""
        if len(self._node.inputs) <= position or not self._node.inputs[position]:
            return None
        value = self._context.value(self._node.inputs[position])
        return None if value is None or value.ndim > 1 else sizes_of(value)


def ruled(rule: Rule, inputs: Sequence[Type], facts: Facts) -> Sequence[Type]:
    """What a rule says; nothing where the node has fewer inputs or other axes than it may."""
    try:
        return (rule(inputs, facts),)
    except (IndexError, ValueError, RuntimeError, ZeroDivisionError):
        return ()
