"""What is known of the tensors of a scope: their types, their values, what is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np
from onnx import (
    NodeProto,
    TensorProto,
    helper,
    numpy_helper,
)

from onnxpad.errors import ModelError
from onnxpad.geometry.budgets import FOLDED_CELLS, IN_A_ROW
from onnxpad.model.graph.attributes import Value, read_attributes
from onnxpad.model.graph.constant_folding import FOLDABLE, fold, shape_of
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.open_cells import MOST_OPEN, Array, is_open
from onnxpad.model.graph.scopes import Document, Scope
from onnxpad.model.graph.types import UNKNOWN, Type, dtype_code, dtype_name
from onnxpad.padding.chain import Chain, Unclear
from onnxpad.padding.operators import PLAIN_DOMAINS

MAX_CONSTANT = 4096


@dataclass(eq=False)
class Context:
    """The reading of a scope.

    `chains` maps the keys of padded nodes to what they compute. `hanging` says what computed pads
    hang on, by their name. `bodies` are the graphs inside a node, by its key and the attribute
    that holds them.
    """

    document: Document
    scope: Scope
    folder: Path | None = None
    outer: Context | None = None
    types: dict[str, Type] = field(default_factory=dict)
    chains: dict[int, Chain] = field(default_factory=dict)
    folded: dict[str, np.ndarray | None] = field(default_factory=dict)
    hanging: dict[str, Unclear] = field(default_factory=dict)
    bodies: dict[tuple[int, str], Context] = field(default_factory=dict)
    _readers: dict[str, list[Node]] | None = None

    def readers(self, name: str) -> list[Node]:
        """Nodes of the scope that read a tensor, as the scope was when this was first asked."""
        if self._readers is None:
            self._readers = {}
            for node in self.scope.ordered():
                for read in dict.fromkeys(node.inputs):
                    self._readers.setdefault(read, []).append(node)
        return self._readers.get(name, [])

    def makers(
        self, name: str, data: Callable[[Context, Node], int] | None = None, most: int = IN_A_ROW
    ) -> Iterator[Node]:
        """What makes a tensor here, what makes the first input of that, and so on.

        `data` says which input to follow instead, `most` how many there are at most.
        """
        for _ in range(most):
            maker = self.scope.producers.get(name)
            if maker is None:
                return
            yield maker
            if not maker.inputs:
                return
            name = maker.inputs[0 if data is None else data(self, maker)]

    def type_of(self, name: str) -> Type:
        """What is known of a tensor, here or in an enclosing graph."""
        found, outer = self.types.get(name), self.outer
        while found is None and outer is not None:
            found, outer = outer.types.get(name), outer.outer
        return UNKNOWN if found is None else found

    def attributes(self, node: Node) -> dict[str, Value]:
        """Attributes of a node."""
        return read_attributes(node.proto)

    def constant(self, name: str) -> np.ndarray | None:
        """The value of a small tensor that never changes, stored or computed, or None."""
        value = self.value(name)
        return None if value is None or is_open(value) else value

    def value(self, name: str) -> np.ndarray | None:
        """The same with cells that are open: sizes that are no numbers, or None (open_cells.py)."""
        value = self.folded.get(name)
        if value is not None:
            return value
        found = self.constant_tensor(name)
        return self._computed(name) if found is None else self._array(found)

    def _computed(self, name: str) -> np.ndarray | None:
        if name not in self.folded:
            for one in _inputs_first(self, name):
                self.folded[one] = None  # what a constant computes itself from is not constant
                value = computed(self, one)
                self.document.folded_cells += 0 if value is None else value.size
                if self.document.folded_cells <= FOLDED_CELLS:
                    self.folded[one] = value
        return self.folded[name]

    def _array(self, found: TensorProto) -> np.ndarray | None:
        known = self.scope.arrays.get(id(found))
        if known is None or known[0] is not found:
            known = self.scope.arrays[id(found)] = (found, _array(found, self.folder))
        return known[1]

    def branch(self, node: Node) -> Context | None:
        """The body that an If runs, where its condition is known."""
        holds = self.constant(node.input(0))
        if holds is None or holds.size != 1:
            return None
        return self.bodies.get((node.key, "then_branch" if holds.all() else "else_branch"))

    def constant_tensor(self, name: str) -> TensorProto | None:
        """The value of a constant: an initializer or what a Constant holds.

        An initializer that an input of the model may replace (IR version 4 and newer) is none.
        """
        context: Context | None = self
        while context is not None:
            scope = context.scope
            if name in scope.producers:
                return held_constant(context, scope.producers[name])
            if name in scope.initializers:
                overridable = scope.parent is None and name in context.document.overridable
                return None if overridable else scope.initializers[name]
            if name in scope.input_places:
                return None
            context = context.outer
        return None


def is_stored(context: Context, name: str) -> bool:
    """Whether a dense constant stands in the scope of `context` or in a graph around it."""
    inside: Context | None = context
    while inside is not None and name not in inside.scope.input_places:
        scope = inside.scope
        if name in scope.producers:
            return _holds_tensor(scope.producers[name])
        if name in scope.initializers:
            return name not in scope.sparse
        inside = inside.outer
    return False


def tensor_type(tensor: TensorProto) -> Type:
    """Type of an initializer."""
    return Type(dtype_name(tensor.data_type), tuple(tensor.dims))


def _holds_tensor(node: Node) -> bool:
    """Whether a Constant holds a dense tensor."""
    return _is_constant(node) and [one.name for one in node.proto.attribute] == ["value"]


def _is_constant(node: Node) -> bool:
    return node.op_type == "Constant" and node.domain in PLAIN_DOMAINS


def held_constant(context: Context, node: Node) -> TensorProto | None:
    """The value of a Constant; None for other nodes, and where a call would give it."""
    if not _is_constant(node):
        return None
    held = context.scope.held
    if node.key not in held:
        held[node.key] = _held(node.proto)
    return held[node.key]


def _held(proto: NodeProto) -> TensorProto | None:
    for attribute in proto.attribute:
        name = attribute.name
        if attribute.ref_attr_name:
            continue
        if name == "value" and attribute.HasField("t"):
            tensor: TensorProto = attribute.t
            return tensor
        if name in ("value_int", "value_ints", "value_float", "value_floats"):
            dtype = np.float32 if "float" in name else np.int64
            return numpy_helper.from_array(np.asarray(helper.get_attribute_value(attribute), dtype))
    return None


def _array(found: TensorProto, folder: Path | None) -> np.ndarray | None:
    external = found.data_location == TensorProto.EXTERNAL
    lacks_file = external and (folder is None or not found.external_data)
    if prod(found.dims) > MAX_CONSTANT or lacks_file:
        return None
    try:
        return numpy_helper.to_array(found, str(folder or ""))
    except Exception as error:  # numpy_helper raises many kinds for damaged tensors
        raise ModelError(f"the constant '{found.name}' cannot be read: {error}") from error


def has_value(context: Context, name: str) -> bool:
    """Whether a value is stored for a tensor, though an input may give another."""
    if context.constant_tensor(name) is not None:
        return True
    scope = context.scope  # names of a function are its own
    return scope is context.document.main and name in context.document.overridable


def _inputs_first(context: Context, name: str) -> list[str]:
    """The tensor, behind those of its scope from which its value follows and is not known yet."""
    found: list[str] = []
    producers = context.scope.producers
    pending, seen = [(name, False)], set[str]()
    while pending:
        one, is_ready = pending.pop()
        if is_ready:
            found.append(one)
        if is_ready or one in seen or one in context.folded:
            continue
        seen.add(one)
        pending.append((one, True))
        maker = producers.get(one)
        if maker is not None and maker.op_type in FOLDABLE and maker.op_type != "Shape":
            makers = ((read, producers.get(read)) for read in maker.inputs)
            pending += [(read, False) for read, node in makers if node and not _is_constant(node)]
    return found


def computed(context: Context, name: str) -> Array | None:
    """The value of a tensor that a node writes, as far as arithmetic on sizes tells it."""
    inside: Context | None = context
    while inside is not None and name not in inside.scope.producers:
        inside = inside.outer
    if inside is None:
        return None
    node = inside.scope.producers[name]
    if node.domain not in PLAIN_DOMAINS:
        return None
    try:
        if node.op_type not in FOLDABLE or not node.inputs:
            return None
        if node.op_type == "Shape":
            return _shape(inside, node)
        inputs = _operands(inside, node)
        if any(name and one is None for name, one in zip(node.inputs, inputs, strict=True)):
            return None
        return fold(node.proto, inputs, node.outputs.index(name))
    except RecursionError:
        return None


def _shape(context: Context, node: Node) -> Array | None:
    """Sizes of the input's type; of an input whose value is known, those of the value."""
    dims = context.type_of(node.inputs[0]).dims
    if dims is None or None in dims:
        value = context.value(node.inputs[0])
        dims = dims if value is None else value.shape
    return None if dims is None else shape_of(node.proto, dims)


def _operands(context: Context, node: Node) -> list[Array | None]:
    """The values of the inputs; None for one that is left out or not known."""
    found = [_operand(context, name) if name else None for name in node.inputs]
    if node.op_type == "CastLike" and len(found) > 1:
        dtype = context.type_of(node.inputs[1]).dtype
        if dtype:  # it is all that a CastLike takes of this input
            found[1] = np.empty(0, helper.tensor_dtype_to_np_dtype(dtype_code(dtype)))
    return found


def _operand(context: Context, name: str) -> Array | None:
    """The value of an input; a small one of which only the shape is known has open cells."""
    value = context.value(name)
    if value is not None:
        return value
    dims = context.type_of(name).dims
    sizes = [size for size in dims or () if isinstance(size, int)]
    if dims is None or len(sizes) < len(dims) or prod(sizes) > MOST_OPEN:
        return None
    return np.full(sizes, None, object)
