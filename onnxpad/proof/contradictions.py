"""Models that contradict the text of their operators, so that they have no result at all.

Equal operators on equal operands are equal, whatever they compute (lemma 7): so a part that both
models have is never looked at. Where it has no result, neither model is a function of its inputs,
and nothing is proved by their being alike.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from onnxpad.proof.axes import free
from onnxpad.proof.call import Budget, Notes, Value
from onnxpad.proof.clock import Clock
from onnxpad.proof.domain import Domain, hollow
from onnxpad.proof.endings import Invalid, NoResult, Undecided
from onnxpad.proof.evaluation import Environment, Evaluation, Fork, needed_nodes, read_by
from onnxpad.proof.graphs import Graph, Node
from onnxpad.proof.shapes import AT_ONCE, CELLS, Hollowed, constant, made_of

_SPATIAL = (2, 64, 640)
_MOST = 256


def contradiction(graph: Graph, given: Mapping[str, Hollowed], clock: Clock) -> str:
    """Which node has no result whatever open sizes are, and why; empty where none is known.

    `given` are the inputs, at one size of what is open. A wide mirror, which only one reading of
    the text refuses, is none. Raises Undecided where the time is over.
    """
    run = Evaluation(Domain(), Notes(), Budget(CELLS, AT_ONCE, clock))
    values = {
        name: free(hollow(shape), dtype, follows) for name, (dtype, shape, follows) in given.items()
    }
    try:
        _Walk(run, clock).through(graph, values, graph.outputs)
    except _Found as found:
        return str(found)
    return ""


class _Found(Exception):
    """A node without a result, and why."""


@dataclass(frozen=True, slots=True)
class _Walk:
    """Every node that an output needs, as far as the shapes of what it reads are known."""

    run: Evaluation
    clock: Clock

    def through(self, graph: Graph, given: Environment, wanted: Sequence[str]) -> Environment:
        """The tensors of a graph whose shapes are known; raises _Found."""
        values = dict(given)
        needed = needed_nodes(graph, set(given), wanted)
        for node in (one for one in graph.nodes if id(one) in needed):
            self.clock.in_time()
            for name in (read_by(node) - values.keys()) & graph.constants.keys():
                values[name] = constant(self.run, graph, name)
            made = zip(node.outputs, self._made(node, values), strict=False)
            values |= {name: value for name, value in made if name}
        return values

    def _made(self, node: Node, values: Environment) -> Sequence[Value]:
        """The results of a node; nothing where they are not known."""
        try:
            return made_of(self.run, node, values)
        except Fork:
            return self._either(node, values)
        except (Invalid, NoResult) as reason:
            if isinstance(reason, Invalid) or not self._may_fit(node, values):
                raise _Found(_said(node, reason)) from None
        except Undecided:
            pass
        return ()

    def _either(self, node: Node, values: Environment) -> Sequence[Value]:
        """What both branches of an If make, or the one that makes anything."""
        made, reasons = [], []
        for body in node.bodies.values():
            try:
                found = self.through(body, values, body.outputs)
            except _Found as reason:
                reasons.append(reason)
                continue
            made.append([found.get(name) for name in body.outputs])
        if not made:
            raise reasons[0]
        kinds = [[one and (one.shape, one.dtype) for one in results] for results in made]
        if None in kinds[0] or any(one != kinds[0] for one in kinds):
            return ()
        return [Value(hollow(one.shape), one.dtype) for one in made[0] if one]

    def _may_fit(self, node: Node, values: Environment) -> bool:
        """Whether other sizes of what is open give a node a result, as far as can be told.

        Its operands are tried with sizes of their own, whatever makes them.
        """
        read = {name: values[name] for name in node.inputs if name}
        is_open = any(value.sized or any(value.axes) for value in read.values())
        if node.op == "Pad" and node.attributes.get("mode") == "reflect":
            return True
        if not is_open or node.bodies or any(value.sized for value in read.values()):
            return is_open
        fixed = {size for value in read.values() for size in value.shape}
        fixed |= {size * int(node.attributes.get("group", 1)) for size in fixed}
        turns = itertools.product((1, 2), sorted({1, 2, *fixed}), (*_SPATIAL, *sorted(fixed)))
        for sizes in itertools.islice(turns, _MOST):
            resized = {name: _resized(value, *sizes) for name, value in read.items()}
            try:
                self.run.node(node, {**values, **resized})
            except NoResult:
                continue
            except (Undecided, Fork):
                pass
            return True
        return False


def _resized(value: Value, batch: int, channels: int, others: int) -> Value:
    """An operand whose open axes have other sizes; ONNX has channels second."""
    wanted = (batch, channels, *[others] * len(value.shape))
    pairs = zip(value.shape, value.axes, wanted, strict=False)
    shape = tuple(to if mask else size for size, mask, to in pairs)
    if shape == value.shape:
        return value
    return replace(value, cells=np.zeros(shape, value.dtype) if value.known else hollow(shape))


def _said(node: Node, reason: Exception) -> str:
    """Why a node has no result, with its name or that of its first result."""
    name = node.name or next((one for one in node.outputs if one), "")
    label = f"{node.op} '{name.rpartition(chr(0))[2]}'"  # names in functions have a mark
    said = str(reason)
    return label + said.removeprefix(node.op) if said.startswith(node.op) else f"{label}: {said}"
