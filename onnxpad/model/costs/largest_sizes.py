"""The largest sizes that tensors have where inputs are at most so large.

One look tells of all smaller inputs: every rule gives no less than what any of them leads to, and
sizes that the file only declares do not count. An operator without a rule ends the look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import prod
from typing import NamedTuple

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, numpy_helper

from onnxpad.model.costs.number_rules import NUMBER_RULES
from onnxpad.model.costs.rule_facts import (
    FEW,
    FOLLOWED_TYPES,
    WIDER,
    Dims,
    Facts,
    NoBoundError,
    Numbers,
    bounded,
    constant,
)
from onnxpad.model.costs.size_rules import FILLING, KERNELS, SIZE_RULES, covers, joined
from onnxpad.model.shapes.inference_bounds import FOLLOWED, MOST_VALUES
from onnxpad.padding.operators import PLAIN_DOMAINS

MOST_NODES = 2_000
"""Looking through more nodes takes longer than starting a child."""
_DAMAGED = (IndexError, ValueError, TypeError, ArithmeticError, RecursionError)
"""What rules raise where a node has not what its operator asks for."""


class Made(NamedTuple):
    """What a node writes, and what its bodies make."""

    facts: Facts
    wrote: list[Dims]
    bodies: list[list[Made]]


class Largest:
    """The sizes of one graph's tensors; raises NoBoundError in `made` where one has no bound."""

    def __init__(self, graph: GraphProto, known: Mapping[str, Dims], outer: Largest | None) -> None:
        self._graph = graph
        self._outer = outer
        self._dims = dict(known)
        self._given = set(known)
        self._filled = {name for name, dims in known.items() if 0 not in dims}
        self._passed: list[Facts] = []
        self._nodes = 0
        self._numbers: dict[str, Numbers | None] = {}
        self._tensors = {tensor.name: tensor for tensor in graph.initializer}

    def made(self) -> list[Made]:
        """What every node makes, in the order of the graph."""
        self._count(len(self._graph.node))
        try:
            return list(self._walk())
        except _DAMAGED as error:
            raise NoBoundError from error
        finally:
            self._passed.clear()

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MOST_NODES or self._graph.sparse_initializer:
            raise NoBoundError
        if self._outer is not None:
            self._outer._count(nodes)  # noqa: SLF001 - another of this kind

    def _walk(self) -> Iterator[Made]:
        known = self._dims
        for node in self._graph.node:
            kind = node.op_type
            if node.domain not in PLAIN_DOMAINS:
                raise NoBoundError
            if kind == "Constant":
                self._hold(node)
                continue
            names = list(node.input)
            dims = [known.get(name) or self.dims(name) for name in names if name]
            facts = Facts(self, node, names, dims)
            bodies: list[list[Made]] = []
            is_followed = kind == "Shape" or (kind in NUMBER_RULES and self.numbers(names[0]))
            wrote = self._follow(facts) if is_followed else []
            if not wrote:
                inside = list(self._bodies(facts)) if kind == "If" else []
                bodies = [made for _, made in inside]
                wrote = self._sizes(facts, [sizes for sizes, _ in inside])
            known.update(zip(node.output, wrote, strict=True))
            self._passed.append(facts)
            yield Made(facts, wrote, bodies)

    def _sizes(self, facts: Facts, branches: Sequence[Sequence[Dims]]) -> list[Dims]:
        kind = facts.node.op_type
        if kind == "If":
            found: Dims | list[Dims] = joined(*branches)
        elif kind in SIZE_RULES:
            found = SIZE_RULES[kind](facts)
        else:
            raise NoBoundError
        wrote = found if isinstance(found, list) else [found] * len(facts.node.output)
        for dims in wrote:
            if dims and min(dims) < 0:
                raise NoBoundError
        if kind in FOLLOWED:
            _refuse_many_values([*facts.dims, *wrote])
        return wrote

    def _follow(self, facts: Facts) -> list[Dims]:
        """Take up bounds of the few numbers that a node makes of others; nothing without them."""
        found = None
        with suppress(NoBoundError):  # of numbers: there may be one of sizes
            found = NUMBER_RULES[facts.node.op_type](facts)
        made = [found] if isinstance(found, Numbers) else found or []
        shapes = [one.most.shape for one in made]
        if max(map(prod, shapes), default=FEW) > FEW or len(made) != len(facts.node.output):
            return []
        self._numbers.update(zip(facts.node.output, made, strict=True))
        return shapes

    def is_filled(self, name: str) -> bool:
        """Whether a tensor surely has cells, whatever the sizes of the inputs are."""
        for facts in self._passed:
            is_kernel = facts.node.op_type in KERNELS
            fills = is_kernel or facts.node.op_type in FILLING
            if fills and all(map(self._has_cells, filter(None, facts.names))):
                self._filled.update(facts.node.output if not is_kernel or covers(facts) else ())
        self._passed.clear()
        return self._has_cells(name)

    def _has_cells(self, name: str) -> bool:
        tensor = None if name in self._filled else self.tensor(name)
        return name in self._filled or (tensor is not None and 0 not in tensor.dims)

    def dims(self, name: str) -> Dims:
        """The largest sizes of a tensor."""
        found = self._dims.get(name)
        if found is None:
            tensor = self._tensors.get(name)
            if tensor is None:
                if self._outer is None:
                    raise NoBoundError
                return self._outer.dims(name)
            found = self._dims[name] = tuple(tensor.dims)
            if tensor.data_type in WIDER or min(found, default=0) < 0:
                raise NoBoundError
        return found

    def numbers(self, name: str) -> Numbers | None:
        """Bounds of the whole numbers in a small tensor, None where there are none."""
        if name in self._numbers:
            return self._numbers[name]
        if name in self._given:
            return None
        tensor = self._tensors.get(name)
        if tensor is None:
            inside = name in self._dims or self._outer is None
            return None if inside or self._outer is None else self._outer.numbers(name)
        array = constant(tensor) if tensor.data_type in FOLLOWED_TYPES else None
        if array is None:
            self._numbers[name] = None
        else:
            array = array.astype(np.int64)
            self._numbers[name] = bounded(array, array)
        return self._numbers[name]

    def tensor(self, name: str) -> TensorProto | None:
        """An initializer that no input takes the place of, or what a Constant holds."""
        if name in self._given:
            return None
        if name in self._tensors or self._outer is None or name in self._dims:
            return self._tensors.get(name)
        return self._outer.tensor(name)

    def _hold(self, node: NodeProto) -> None:
        (held,) = node.attribute
        (name,) = node.output
        if held.name == "value":
            tensor = held.t
        elif held.name in ("value_int", "value_ints"):
            values = held.i if held.name == "value_int" else list(held.ints)
            tensor = numpy_helper.from_array(np.asarray(values, np.int64))
        elif held.name in ("value_float", "value_floats"):
            numbers = held.f if held.name == "value_float" else list(held.floats)
            tensor = numpy_helper.from_array(np.asarray(numbers, np.float32))
        else:
            raise NoBoundError
        if held.ref_attr_name or name in self._dims or name in self._tensors:
            raise NoBoundError
        self._tensors[name] = tensor
        self.dims(name)

    def _bodies(self, facts: Facts) -> Iterator[tuple[list[Dims], list[Made]]]:
        for attribute in facts.attributes.values():
            graph = attribute.g
            if attribute.type != AttributeProto.GRAPH or graph.input:
                raise NoBoundError
            inner = Largest(graph, {}, self)
            made = inner.made()
            yield [inner.dims(value.name) for value in graph.output], made


def _refuse_many_values(shapes: Sequence[Dims]) -> None:
    """Inference, which opening a model begins with, follows the values of one axis."""
    if any(len(dims) <= 1 and prod(dims) > MOST_VALUES for dims in shapes):
        raise NoBoundError
