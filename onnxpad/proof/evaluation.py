"""Evaluating a graph at one size, in any domain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from onnxpad.proof.axes import follow
from onnxpad.proof.call import RULES, Budget, Call, Notes, Rule, Value
from onnxpad.proof.domain import Domain
from onnxpad.proof.endings import Invalid, NoResult, Undecided
from onnxpad.proof.floats import Numeric
from onnxpad.proof.graphs import RANDOM, Constant, Graph, Node
from onnxpad.proof.operators import arithmetic, cell_moves, sampled, windowed
from onnxpad.proof.operators.referred import referred

Array = NDArray[Any]
Environment = dict[str, Value]
ROOMS = (arithmetic, cell_moves, sampled, windowed)
"""Where the rules stand; importing them registers them."""
_POWERS = ("LpPool", "Pow", "GlobalLpPool", "ReduceL2", "ReduceSumSquare")
_QUOTIENTS = ("Div", "Reciprocal", "BatchNormalization", "QuantizeLinear", "QLinearConv")
_TYPES = {"float32": "float", "float64": "double"}
_TRIPS = 16
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
                for name in read_by(node):
                    if name not in values and name in graph.constants:
                        values[name] = self.constant(graph.constants[name])
                made = self.node(node, values)
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
        if node.bodies and (node.domain, node.op) in (("", "If"), ("", "Loop"), ("", "Scan")):
            evaluate = self._branch if node.op == "If" else self._repeated
            return evaluate(node, inputs, values)
        rule = self._rule(node)
        notes = Notes()
        for value in inputs:
            if value is not None:
                notes.reach(value.ways)
        count = max((at + 1 for at, name in enumerate(node.outputs) if name), default=0)
        call = Call(
            node.op,
            node.domain,
            node.opset,
            inputs,
            node.attributes,
            self.d,
            notes,
            self.budget,
            count,
        )
        check_text(node, inputs)
        try:
            made = rule(call)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            # Attributes and operands are a file's: what a rule does not expect, it cannot judge.
            raise Undecided(f"{node.op} is not as its text says: {error}") from None
        finally:
            self.notes.merge(notes)
        degree, bits = _bounds(call)
        if degree > STEEPEST:
            raise Undecided("a polynomial of too high a degree")
        self.notes.degree = max(self.notes.degree, degree)
        self.notes.bits = max(self.notes.bits, bits)
        found = [follow(call, rule, value) for value in made]
        self.notes.merge(notes)
        found = [replace(one, ways=notes.ways) for one in found]
        return [one if one.known else replace(one, degree=degree, bits=bits) for one in found]

    def _branch(
        self, node: Node, inputs: Sequence[Value | None], values: Environment
    ) -> Sequence[Value]:
        condition = inputs[0]
        if condition is None or condition.cells.size != 1:
            raise Undecided("If without one condition")
        if condition.known:
            if condition.sized or any(condition.axes):
                self.notes.breaks("If chooses by sizes")
            taken = bool(condition.cells.reshape(()))
        else:
            key = condition.cells.reshape(()).item()
            if key not in self.decisions:
                raise Fork(key)
            taken = self.decisions[key]
        body = node.bodies["then_branch" if taken else "else_branch"]
        return self.run(body, values, body.outputs)

    def _repeated(
        self, node: Node, inputs: Sequence[Value | None], values: Environment
    ) -> Sequence[Value]:
        """A Loop, or a Scan over the first axis of its inputs, forwards: trip after trip."""
        body, is_loop = node.bodies["body"], node.op == "Loop"
        given = [value for value in inputs[2 * is_loop :] if value is not None]
        first = len(given)
        if not is_loop:
            first -= int(node.attributes["num_scan_inputs"])
            if set(node.attributes) != {"num_scan_inputs"} or node.opset < 9 or None in inputs:
                raise Undecided("a Scan with directions or axes")
        carried, rows = given[:first], _trips(inputs) if is_loop else given[first:]
        followed = {row.axes[0] for row in rows}
        if len(followed) > 1 or (carried and any(followed)):
            self.notes.breaks("Scan runs over an axis of an open size")
        if len({row.shape[0] for row in rows}) > 1:
            raise NoResult("Scan over axes of different sizes")
        scans: list[list[Value]] = [[] for _ in body.outputs[is_loop + first :]]
        for at in range(rows[0].shape[0]):
            cut = [_row(row, at) for row in rows]
            fed = [*cut, *carried] if is_loop else [*carried, *cut]
            names = [one.name for one in body.inputs]
            made = self.run(body, {**values, **dict(zip(names, fed, strict=True))}, body.outputs)
            if is_loop and not (made[0].known and made[0].cells.all()):
                raise Undecided("a Loop with a condition")
            carried, made = made[is_loop : is_loop + first], made[is_loop + first :]
            for scan, value in zip(scans, made, strict=True):
                scan.append(value)
        return [*carried, *(self._stacked(scan, rows[0].axes[0]) for scan in scans)]

    def _stacked(self, values: list[Value], followed: int) -> Value:
        """The results of all trips as one tensor; which sizes the number of trips follows."""
        if not values:
            raise Undecided("a body that never runs")
        if any(value.shape != values[0].shape for value in values):
            raise Undecided("the trips of a Loop make different shapes")
        cells = [self.d.embed(one.cells) if one.known else one.cells for one in values]
        degree, bits = max(one.degree for one in values), max(one.bits for one in values)
        follows, notes = (followed, *values[0].axes), Notes()
        for one in values:
            notes.reach(one.ways)
        made = Value(np.stack(cells), values[0].dtype, follows=follows, degree=degree, bits=bits)
        return replace(made, ways=notes.ways)


def _trips(inputs: Sequence[Value | None]) -> list[Value]:
    """The number of each trip of a Loop that makes a known number of them, and its condition."""
    limit, going = inputs[0], inputs[1] if len(inputs) > 1 else None
    known = limit is not None and limit.known and not (limit.sized or any(limit.axes))
    if limit is None or not known or int(limit.cells.ravel()[0]) > _TRIPS:
        raise Undecided("a Loop whose number of trips is not known to be small")
    if going is not None and not (going.known and going.cells.all()):
        raise Undecided("a Loop with a condition")
    numbers = np.arange(int(limit.cells.ravel()[0]))
    both = numbers.astype(np.int64), np.ones(numbers.shape, np.bool_)
    return [Value(one, one.dtype, known=True) for one in both]


def _row(value: Value, at: int) -> Value:
    """One entry of the first axis."""
    paces = value.paces
    if paces is not None and len(paces) > 1:
        width = len(paces) // value.shape[0]
        paces = paces[at * width : (at + 1) * width]
    return replace(value, cells=value.cells[at], follows=value.axes[1:], slopes=(), paces=paces)


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
    if numbers.dtype.kind in "biu":
        return 64
    wide = np.abs(numbers.astype(np.float64))
    wide = wide[np.isfinite(wide) & (wide > 0)]
    if wide.size == 0:
        return 1
    _, exponents = np.frexp(wide[[wide.argmin(), wide.argmax()]])
    return int(max(exponents[1], 0)) + int(max(53 - exponents[0], 0)) + 1


def read_by(node: Node) -> set[str]:
    """The names that an operator reads, inside its bodies as well."""
    names = {name for name in node.inputs if name}
    for body in node.bodies.values():
        inner = {name for one in body.nodes for name in read_by(one)} | set(body.outputs)
        names |= inner
    return names


def needed_nodes(graph: Graph, given: set[str], wanted: Sequence[str]) -> set[int]:
    """Which nodes the wanted tensors need, from what is given."""
    names, needed = set(wanted) - given, set()
    for node in reversed(graph.nodes):
        if any(name in names for name in node.outputs):
            needed.add(id(node))
            names |= read_by(node) - given
    return needed
