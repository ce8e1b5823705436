"""The shapes of a model's tensors at one size, by the same rules without any cells."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.call import Budget, Value
from onnxpad.proof.clock import Clock
from onnxpad.proof.domain import Domain, hollow
from onnxpad.proof.endings import NoResult, Undecided
from onnxpad.proof.evaluation import Environment, Evaluation, Fork, needed_nodes
from onnxpad.proof.graphs import ARGUMENT, Graph, Node
from onnxpad.proof.regions import Cut, Sizes, measured
from onnxpad.proof.sized import Notes

Array = NDArray[Any]
CELLS, AT_ONCE, NUMBERS = 1 << 31, 1 << 27, 1 << 24
"""Cells of all tensors, of one, and of one whose numbers are known beforehand. A cell without a
number is a byte at most while an operator is followed, and none after that."""
_KEPT = {
    *("Pad", "Conv", "ConvTranspose", "DeformConv", "FusedConv", "MaxPool", "AveragePool"),
    *("LpPool", "NhwcMaxPool", "QLinearAveragePool", "Relu", "Clip", "Resize", "Slice", "Concat"),
    *("BatchNormalization", "InstanceNormalization", "Identity", "Softmax", ARGUMENT),
}
"""Whose result has the type and the rank of the first operand, whatever its numbers are."""


@dataclass(slots=True)
class Shapes:
    """Types, ranks and shapes by name, as far as they are known.

    `followed` are the tensors to which lemma 2 applies, `notes` are what it asks. `has_result` is
    false where an operator that the outputs need has none. `unsteady` are tensors whose rank may be
    another one in each turn of a loop.
    """

    notes: Notes
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    dtypes: dict[str, np.dtype[Any]] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    followed: dict[str, Value] = field(default_factory=dict)
    unsteady: set[str] = field(default_factory=set)
    has_result: bool = True


def shapes_of(graph: Graph, inputs: Sequence[Cut], sizes: Sizes, clock: Clock) -> Shapes:
    """Ranks, types and shapes of tensors, worked out from the inputs at these sizes.

    Raises Undecided when the time is over.
    """
    run = Evaluation(Domain(), Notes(), Budget(CELLS, AT_ONCE, clock))
    found = Shapes(run.notes)
    values: Environment = {}
    for cut, axes in zip(inputs, measured(inputs, sizes, run.notes), strict=True):
        values[cut.names[0][0]] = Value(hollow(cut.shape(sizes)), cut.dtype, written=axes)
    for name, held in graph.constants.items():
        values[name] = constant(run, graph, name)
        found.ranks[name], found.dtypes[name] = len(held.shape), held.dtype
    for name, value in values.items():
        _keep(found, name, value)
    found.followed |= values
    guessed: set[str] = set()
    needed = needed_nodes(graph, set(), graph.outputs)
    for node in graph.nodes:
        clock.in_time()
        names = {*node.operands} - {""}
        is_guess = not guessed.isdisjoint(names)
        is_followed = names <= found.followed.keys() and not node.bodies
        run.notes.irregular = ""
        try:
            made = made_of(run, graph, node, values)
        except (Undecided, NoResult, Fork) as reason:
            made, is_guess = _guess(node, values), True
            is_void = is_followed and isinstance(reason, NoResult) and id(node) in needed
            found.has_result = found.has_result and not is_void
        is_steady = {*node.inputs} - {""} <= found.followed.keys() and not run.notes.irregular
        if (is_guess or not is_steady) and _may_turn(found, node):
            continue
        results = {name: one for name, one in zip(node.outputs, made, strict=False) if name}
        values |= results
        guessed |= results.keys() if is_guess else set()
        for name, value in results.items():
            _keep(found, name, value, is_guess=is_guess)
        if is_followed and not (is_guess or run.notes.irregular):
            found.followed |= results
        _check_carried(found, node)
    return found


def _may_turn(found: Shapes, node: Node) -> bool:
    """Whether a result may have another rank at another size, or with other numbers."""
    if node.op == "If" and not node.domain:
        ranks = [[found.ranks.get(name) for name in made] for made in node.bodies.values()]
        return any(None in one or one != ranks[0] for one in ranks)
    return (node.op, len(node.inputs)) == ("Squeeze", 1) and "axes" not in node.attributes


def _check_carried(found: Shapes, node: Node) -> None:
    """Note what is inside of a body that may hand on another rank than it was given."""
    if any(found.ranks.get(one) != found.ranks.get(other) for one, other in node.carried):
        found.unsteady |= {name for name in found.ranks if name.startswith(node.inside)}


def made_of(run: Evaluation, graph: Graph, node: Node, values: Environment) -> list[Value]:
    """The results of a node, without cells where their numbers are not known.

    Raises what the evaluation raises.
    """
    known = all(values[name].known for name in node.operands if name in values)
    run.budget.at_once = NUMBERS if known else AT_ONCE
    if node.op == ARGUMENT:
        return [_argument(node, values)]
    return [
        one if one.known else replace(one, cells=hollow(one.shape))
        for one in run.made(graph, node, values)
    ]


def _argument(node: Node, values: Environment) -> Value:
    """What a body is given: a number, or a row of an operand."""
    kind = node.attributes["kind"]
    if kind in ("int64", "bool"):
        return Value(hollow((1,) * node.attributes["rank"]), np.dtype(str(kind)))
    whole = None if kind == "state" else values.get(node.inputs[0])
    if whole is None or not whole.axes:
        raise Undecided("a body may be given other sizes in each turn")
    axes = tuple(size for at, size in enumerate(whole.axes) if at != kind % len(whole.axes))
    return Value(hollow(tuple(map(int, axes))), whole.dtype, written=axes)


def _guess(node: Node, values: Environment) -> list[Value]:
    """A stand-in for a result whose sizes are not known, where rank and type are."""
    first = values.get(node.inputs[0]) if node.inputs else None
    if first is None or node.op not in _KEPT:
        return []
    return [Value(hollow(first.shape), first.dtype)]


def constant(run: Evaluation, graph: Graph, name: str) -> Value:
    """Small constants with their numbers, large ones and what cannot be read without."""
    held = graph.constants[name]
    if held.size <= 1 << 12:
        with suppress(Undecided):
            return run.constant(held)
    return Value(hollow(held.shape), held.dtype)


def _keep(found: Shapes, name: str, value: Value, *, is_guess: bool = False) -> None:
    found.ranks[name], found.dtypes[name] = len(value.shape), value.dtype
    if not is_guess:
        found.shapes[name] = value.shape
