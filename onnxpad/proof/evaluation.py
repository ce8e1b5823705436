"""Evaluating a graph at one size, in any domain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from onnxpad.proof.call import RULES, Budget, Call, Rule, Value
from onnxpad.proof.domain import Domain
from onnxpad.proof.endings import Invalid, Undecided
from onnxpad.proof.floats import Numeric
from onnxpad.proof.graphs import RANDOM, Constant, Graph, Node
from onnxpad.proof.operators import arithmetic, cell_moves, sampled, windowed
from onnxpad.proof.operators.referred import referred
from onnxpad.proof.sized import Notes, broadcast, hangs

Array = NDArray[Any]
Environment = dict[str, Value]
ROOMS = (arithmetic, cell_moves, sampled, windowed)
"""Where the rules stand; importing them registers them."""
_POWERS = ("LpPool", "Pow", "GlobalLpPool", "ReduceL2", "ReduceSumSquare")
_QUOTIENTS = ("Div", "Reciprocal", "BatchNormalization", "QuantizeLinear", "QLinearConv")
_TYPES = {"float32": "float", "float64": "double"}
_BY_CELL = {*arithmetic.NUMBERS, "Sum", "Mean", "Where", "PRelu"}
"""Whose operands are broadcast to the shape of the result."""
_KEPT_NUMBERS = {*_BY_CELL, "Concat", "Shape", "ConstantOfShape", "Expand", "Reshape"}
"""Whose numbers are those of their operands, or tell by themselves which sizes they hang on."""
STEEPEST = 1 << 24
"""A polynomial of a higher degree is not tested by random points here."""


class Fork(Exception):
    """A condition that is not known decides between two bodies."""

    def __init__(self, condition: int) -> None:
        super().__init__(condition)
        self.condition = condition


@dataclass(slots=True)
class Evaluation:
    """What an evaluation needs besides the graph; `decisions` say how open conditions turn out."""

    d: Domain
    notes: Notes
    budget: Budget
    decisions: Mapping[Any, bool] = field(default_factory=dict)
    numbers: dict[int, tuple[Constant, Array]] = field(default_factory=dict)

    def constant(self, constant: Constant) -> Value:
        """A constant of the file as known numbers."""
        key = id(constant)
        if key not in self.numbers:
            self.budget.spend(constant.size)
            self.numbers[key] = (constant, constant.numbers())
        return Value(self.numbers[key][1], constant.dtype, known=True)

    def run(self, graph: Graph, given: Environment, wanted: Sequence[str]) -> list[Value]:
        """The wanted tensors; `given` holds inputs, cuts and what a body captures."""
        values = dict(given)
        needed = needed_nodes(graph, set(given), wanted)
        for node in graph.nodes:
            if id(node) in needed:
                self.budget.spend(0)
                for name in node.inputs:
                    if name not in values and name in graph.constants:
                        values[name] = self.constant(graph.constants[name])
                made = self.made(graph, node, values)
                if len(made) < len([name for name in node.outputs if name]):
                    raise Undecided(f"{node.op} with {len(node.outputs)} outputs")
                values |= {
                    name: value
                    for name, value in zip(node.outputs, made, strict=False)
                    if name and name not in given
                }
        return [self._held(graph, values, name) for name in wanted]

    def _held(self, graph: Graph, values: Environment, name: str) -> Value:
        if name not in values and name in graph.constants:
            return self.constant(graph.constants[name])
        if name not in values:
            raise Undecided(f"{name} is read before it is computed")
        return values[name]

    def _rule(self, node: Node) -> Rule:
        rule = RULES.get((node.domain, node.op))
        if rule is None and isinstance(self.d, Numeric) and not (node.bodies or node.op in RANDOM):
            rule = referred
        if rule is None:
            raise Undecided(f"the operator {node.domain + '.' if node.domain else ''}{node.op}")
        return rule

    def node(self, node: Node, values: Environment) -> Sequence[Value]:
        """The outputs of one operator."""
        for name in node.inputs:
            if name and name not in values:
                raise Undecided(f"{node.op} reads {name}, which is not there")
        inputs = [values[name] if name else None for name in node.inputs]
        rule = self._rule(node)
        count = max((at + 1 for at, name in enumerate(node.outputs) if name), default=0)
        facts = (node.op, node.domain, node.opset, inputs, node.attributes)
        call = Call(*facts, self.d, self.notes, self.budget, count)
        check_text(node, inputs)
        try:
            made = rule(call)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            # Attributes and operands are a file's: what a rule does not expect, it cannot judge.
            raise Undecided(f"{node.op} is not as its text says: {error}") from None
        degree, bits = _bounds(call)
        if degree > STEEPEST:
            raise Undecided("a polynomial of too high a degree")
        self.notes.degree = max(self.notes.degree, degree)
        self.notes.bits = max(self.notes.bits, bits)
        if any(one is not None and (one.written or one.is_sized) for one in inputs):
            made = [_followed(call, value) for value in made]
        return [one if one.known else replace(one, degree=degree, bits=bits) for one in made]

    def made(self, graph: Graph, node: Node, values: Environment) -> Sequence[Value]:
        """The outputs of one operator, of the branch that an If takes for one."""
        if not node.bodies or (node.domain, node.op) != ("", "If"):
            return self.node(node, values)
        condition = values.get(node.inputs[0])
        if condition is None or condition.cells.size != 1:
            raise Undecided("If without one condition")
        if condition.known:
            if condition.is_sized or hangs(*condition.axes):
                self.notes.breaks("If chooses by sizes")
            taken = bool(condition.cells.reshape(()).item())
        else:
            key = condition.cells.reshape(()).item()
            if key not in self.decisions:
                raise Fork(key)
            taken = self.decisions[key]
        return self.run(graph, values, node.bodies["then_branch" if taken else "else_branch"])


def _followed(call: Call, value: Value) -> Value:
    """A result with the open sizes that its axes and numbers hang on."""
    operands = [one for one in call.inputs if one is not None]
    written = value.written
    if written is None and call.op in _BY_CELL:
        written = broadcast(call.notes, [one.axes for one in operands])
    elif written is None:
        written = operands[0].axes
    if tuple(map(int, written)) != value.shape:
        call.notes.breaks(f"how {call.op} changes sizes is not known")
        written = value.shape
    if value.known and call.op not in _KEPT_NUMBERS and any(one.is_sized for one in operands[1:]):
        call.notes.breaks(f"{call.op} chooses numbers by sizes")
    return replace(value, written=written if hangs(*written) else None)


def check_text(node: Node, inputs: Sequence[Value | None]) -> None:
    """Raise Invalid for what the text of the opset lacks: operator, attribute, input or type."""
    if node.domain:
        return
    attributes, most, types = _schema(node.op, node.opset)
    unknown = node.attributes.keys() - attributes
    bound: dict[str, np.dtype[Any]] = {}
    for value, (kind, allowed) in zip(inputs, types, strict=False):
        if value is None:
            continue
        if _type_name(value.dtype) not in allowed:
            raise Invalid(f"{node.op} of {value.dtype}, which opset {node.opset} does not take")
        if (first := bound.setdefault(kind, value.dtype)) != value.dtype:
            raise Invalid(f"{node.op} of {first} and {value.dtype}, where ONNX has one type")
    if unknown or len(node.inputs) > most:
        what = f"the attribute {min(unknown)}" if unknown else f"{len(node.inputs)} inputs"
        raise Invalid(f"{node.op} with {what}, which opset {node.opset} does not have")


@cache
def _type_name(dtype: np.dtype[Any]) -> str:
    """A type by its name in the text of ONNX."""
    return _TYPES.get(dtype.name, dtype.name)


@cache
def _schema(
    op: str, opset: int
) -> tuple[frozenset[str], int, tuple[tuple[str, frozenset[str]], ...]]:
    """The attributes of an operator, how many inputs it may have, and their types.

    Inputs whose types have one name (T) have one type.
    """
    try:
        schema = onnx.defs.get_schema(op, opset, "")
    except (onnx.defs.SchemaError, TypeError):  # an opset that is no int32
        raise Undecided(f"{op} is no operator of opset {opset}") from None
    types = tuple(
        (
            slot.type_str,
            frozenset(one.removeprefix("tensor(").removesuffix(")") for one in slot.types),
        )
        for slot in schema.inputs
    )
    return frozenset(schema.attributes), schema.max_input, types


def _bounds(call: Call) -> tuple[int, int]:
    """Degree and coefficient bits of what an operator makes.

    Sums and products of all operands are bounded by the sum of their degrees; a quotient by data
    makes a sum of as many denominators as it has terms, here at most 2**12.
    """
    values = [value for value in call.inputs if value is not None]
    factor = 1
    if call.op in _POWERS:
        factor = 64
    degree = factor * sum(value.degree for value in values)
    if call.op in _QUOTIENTS and any(value.degree for value in values[1:]):
        degree *= 1 << 12
    bits = factor * sum(_bits(value) for value in values) + 20
    return max(1, degree), bits


def _bits(value: Value) -> int:
    """Bits of numerator and denominator."""
    if not value.known or value.cells.size == 0:
        return value.bits
    numbers = value.cells
    if numbers.dtype.kind in "biuO":
        return 64
    wide = np.abs(numbers.astype(np.float64))
    wide = wide[np.isfinite(wide) & (wide > 0)]
    if wide.size == 0:
        return 1
    _, exponents = np.frexp(wide[[wide.argmin(), wide.argmax()]])
    return int(max(exponents[1], 0)) + int(max(53 - exponents[0], 0)) + 1


def needed_nodes(graph: Graph, given: set[str], wanted: Sequence[str]) -> set[int]:
    """Which nodes the wanted tensors need, from what is given; which branches is not known yet."""
    names, needed = set(wanted) - given, set()
    for node in reversed(graph.nodes):
        if any(name in names for name in node.outputs):
            needed.add(id(node))
            names.update(set(node.inputs) - given)
    return needed
