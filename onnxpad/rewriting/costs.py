"""The work of a model: multiply-adds, bytes moved, operators."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from onnxpad.geometry.size import Size
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import Type
from onnxpad.padding.operators import Kind

NOMINAL = 64
"""Stands for sizes and channels that are not known."""
_CELL_BY_CELL = frozenset({"Abs", "Add", "Div", "Mod", "Mul", "Neg", "Pow", "Sqrt", "Sub"})
_WIDTHS = dict.fromkeys(("float64", "int64", "uint64"), 8)
_WIDTHS |= dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 2)
_WIDTHS |= dict.fromkeys(("int8", "uint8", "bool"), 1)


class Cost(NamedTuple):
    """Work that comes on top, for one item of the batch."""

    multiply_adds: int = 0
    bytes_moved: int = 0
    operators: int = 0

    def __sub__(self, other: Cost) -> Cost:
        return Cost(*(one - less for one, less in zip(self, other, strict=True)))

    def __str__(self) -> str:
        """'36 fewer multiply-adds, 1,024 more bytes moved, 1 more operator'."""
        counts = (
            (self.multiply_adds, "multiply-add", ""),
            (self.bytes_moved, "byte", " moved"),
            (self.operators, "operator", ""),
        )
        return ", ".join(
            f"{abs(n):,} {'more' if n > 0 else 'fewer'} {noun}{'s' * (abs(n) > 1)}{behind}"
            for n, noun, behind in counts
            if n
        )


def work_of(contexts: Sequence[Context]) -> Cost:
    """The work of all nodes, with 64 for each size that is not known.

    Windows count a multiply-add for each cell of their kernel, whether it is padding or not;
    arithmetic counts one for each cell of its output; other operators only move bytes: what they
    read and write, constants included. Constant nodes are no operators. Bodies count once.
    """
    nodes = ((context, node) for context in contexts for node in context.scope.ordered())
    works = (work_of_node(*pair) for pair in nodes if pair[1].op_type != "Constant")
    return Cost(*map(sum, zip(*works, strict=True)))


def work_of_node(context: Context, node: Node) -> Cost:
    """The work of one node."""
    made = [context.type_of(name) for name in node.outputs if name]
    read = [context.type_of(name) for name in node.inputs if name]
    chain = context.chains.get(node.key)
    sums = 0
    if chain is not None and chain.axes and made:
        windows = read[0] if chain.op.kind is Kind.TRANSPOSED else made[0]
        sums = _cells(windows) * prod(axis.kernel for axis in chain.axes)
        if not chain.op.is_pool:
            sizes = chain.weight.shape or (None, None)
            sums *= _known(sizes[1])
    elif node.op_type in _CELL_BY_CELL and made:
        sums = _cells(made[0])
    return Cost(sums, sum(_cells(one) * _WIDTHS.get(one.dtype, 4) for one in made + read), 1)


def _cells(kind: Type) -> int:
    return NOMINAL if kind.dims is None else prod(map(_known, kind.dims))


def _known(size: Size | None) -> int:
    return size if isinstance(size, int) else NOMINAL
