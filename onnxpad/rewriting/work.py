"""The work of a model: multiply-adds, bytes moved, operators."""

from __future__ import annotations

from collections.abc import Sequence

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import Type
from onnxpad.padding.chain import Chain
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.costs import NOMINAL, Cost, cells, multiply_adds_of_cells, width

_CELL_BY_CELL = frozenset({"Abs", "Add", "Div", "Mod", "Mul", "Neg", "Pow", "Sqrt", "Sub"})


def work_of(contexts: Sequence[Context]) -> Cost:
    """The work of all nodes, with 64 for each size that is not known.

    Windows count a multiply-add for each cell of their kernel, whether it is padding or not;
    arithmetic counts one for each cell of its output; other operators only move bytes: what they
    read and write, constants included. Constant nodes are no operators. Bodies count once,
    functions once for each call.
    """
    times: dict[int, int] = {}
    total = Cost()
    for context in contexts:
        times[id(context)] = _times(context, times)
        for node in context.scope.ordered():
            if node.op_type != "Constant":
                total += work_of_node(context, node).times(times[id(context)])
    return total


def work_of_node(context: Context, node: Node) -> Cost:
    """The work of one node."""
    made = [context.type_of(name) for name in node.outputs if name]
    read = [context.type_of(name) for name in node.inputs if name]
    chain = context.chains.get(node.key)
    sums = 0
    if chain is not None and chain.axes and made:
        sums = _windows(chain, read[0], made[0])
    elif node.op_type in _CELL_BY_CELL and made:
        sums = _cells(made[0])
    return Cost(sums, sum(_cells(one) * width(one.dtype) for one in made + read), 1)


def _windows(chain: Chain, read: Type, made: Type) -> int:
    windows = read if chain.op.kind is Kind.TRANSPOSED else made
    return multiply_adds_of_cells(chain, _cells(windows), [axis.kernel for axis in chain.axes])


def _cells(found: Type) -> int:
    return NOMINAL if found.dims is None else cells(found.dims)


def _times(context: Context, known: dict[int, int]) -> int:
    if context.outer is not None:
        return known.get(id(context.outer), 1)
    if context.calls:
        return sum(known.get(id(caller), 1) for caller, _ in context.calls)
    return 1
