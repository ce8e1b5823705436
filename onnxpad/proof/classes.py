"""Tensors of two models that are the same by congruence: equal operators on equal operands.

A class is a number that both models share. Inputs are equal by name, constants by the hash of type,
shape and values (lemma 6), everything else by operator, attributes and the classes of what it
reads. Operators are taken to be functions of their operands, but for those that draw at random.
"""

from collections.abc import Hashable
from functools import cache

import numpy as np
import onnx

from onnxpad.proof.graphs import RANDOM, Graph, Node

_UNCHANGED = {"Identity"}
Classes = dict[str, int]


class Numbering:
    """Gives classes; equal keys, equal numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._false: set[int] = set()

    def number(self, key: Hashable) -> int:
        """The class of a key."""
        return self._numbers.setdefault(key, len(self._numbers))

    def start(self, graph: Graph) -> Classes:
        """The classes of inputs and constants."""
        classes = {one.name: self.number(("input", one.name)) for one in graph.inputs}
        for name, constant in graph.constants.items():
            classes[name] = self.number(("constant", constant.digest()))
            if constant.dtype.kind == "b" and constant.size == 1 and not constant.numbers().any():
                self._false.add(classes[name])
        return classes

    def draws(self, node: Node, classes: Classes) -> bool:
        """Whether an operator draws at random, with a seed or without.

        A Dropout does where it trains: opset 12 has an input for that, opset 6 an attribute.
        """
        if node.op != "Dropout" or node.domain:
            return node.op in RANDOM
        if node.opset < 7:
            return not node.attributes.get("is_test", 0)
        training = node.inputs[2] if len(node.inputs) > 2 else ""
        return bool(training) and classes.get(training) not in self._false

    def add(self, node: Node, classes: Classes) -> None:
        """Give the outputs of a node their classes.

        An argument of a body is any tensor, equal by its place, depth and the operand behind it.
        """
        operands = tuple(classes.get(name, -1) if name else None for name in node.operands)
        key: Hashable = (node.domain, node.op, node.opset, operands, plain(node))
        if -1 in operands or self.draws(node, classes):
            key = object()
        elif node.op in _UNCHANGED and not node.domain and operands[0] is not None:
            classes[node.outputs[0]] = operands[0]
            return
        for at, name in enumerate(node.outputs):
            if name:
                classes[name] = self.number((key, at, len(node.outputs)))


def plain(node: Node) -> Hashable:
    """The attributes that say more than their defaults, as a key."""
    found, defaults = [], _defaults(node.op, node.domain, node.opset)
    for name, value in sorted(node.attributes.items()):
        text = repr(value)
        if isinstance(value, np.ndarray):
            text = repr((value.dtype.str, value.shape, value.tobytes()))
        if (name, text) not in defaults:
            found.append((name, text))
    return tuple(found)


@cache
def _defaults(op: str, domain: str, opset: int) -> frozenset[tuple[str, str]]:
    """Attributes with the value that the operator's text gives them."""
    if domain or not onnx.defs.has(op, opset, domain):
        return frozenset()
    written = onnx.defs.get_schema(op, opset, domain).attributes
    plain = (onnx.AttributeProto.INT, onnx.AttributeProto.FLOAT, onnx.AttributeProto.STRING)
    found = set()
    for name, entry in written.items():
        if entry.default_value.type in plain:
            value = onnx.helper.get_attribute_value(entry.default_value)
            found.add((name, repr(value.decode() if isinstance(value, bytes) else value)))
    return frozenset(found)
