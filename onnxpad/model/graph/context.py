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
from onnxpad.model.graph.constant_folding import FOLDABLE, fold
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.open_cells import MOST_OPEN, Array, is_open, of_sizes
from onnxpad.model.graph.scopes import Document, Scope
from onnxpad.model.graph.types import UNKNOWN, Type, dtype_code, dtype_name
from onnxpad.padding.chain import Chain
from onnxpad.padding.operators import PLAIN_DOMAINS

MAX_CONSTANT = 4096
EXCERPT, WITH_WINDOWS = "excerpt of onnxpad", ", where convolutions or pools are"
"""How the graph of an excerpt is called, and what follows where the whole model has windows."""
OUTER = "i"
"""How tensors of an excerpt are called that are inputs of the whole model."""


@dataclass(eq=False)
class Context:
    """The reading of a scope.

    `chains` maps the keys of padded nodes to what they compute. `bodies` are the graphs inside a
    node, by its key and the attribute that holds them.
    """

    document: Document
    scope: Scope
    folder: Path | None = None
    outer: Context | None = None
    types: dict[str, Type] = field(default_factory=dict)
    chains: dict[int, Chain] = field(default_factory=dict)
    folded: dict[str, np.ndarray] = field(default_factory=dict)
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

    def is_model_input(self, name: str) -> bool:
        """Whether a tensor is an input of the whole model, here or where an excerpt was cut out."""
        scope = self.scope
        if scope.parent is not None or scope.is_function or name not in scope.input_places:
            return False
        return not scope.proto.name.startswith(EXCERPT) or name.startswith(OUTER)

    @property
    def has_windows(self) -> bool:
        """Whether a convolution or a pool stands here, or where an excerpt was cut out."""
        written = self.scope.proto.name == f"{EXCERPT}{WITH_WINDOWS}"
        return written or any(chain.axes for chain in self.chains.values())

    def attributes(self, node: Node) -> dict[str, Value]:
        """Attributes of a node."""
        return read_attributes(node.proto)

    def constant(self, name: str) -> np.ndarray | None:
        """The value of a small constant tensor, stored or folded; None if any cell is open."""
        value = self.value(name)
        return None if value is None or is_open(value) else value

    def value(self, name: str) -> np.ndarray | None:
        """Like `constant`, but with open cells: symbolic sizes, or None (open_cells.py)."""
        value = self.folded.get(name)
        if value is not None:
            return value
        found = self.constant_tensor(name)
        if found is not None:
            return self._array(found)
        return None if self.outer is None or self.scope.defines(name) else self.outer.value(name)

    def follow(self, node: Node) -> None:
        """Fold a node whose inputs are known, and record the values of its outputs."""
        if node.op_type not in FOLDABLE or node.domain not in PLAIN_DOMAINS or not node.inputs:
            return
        inputs = list[Array | None]()
        for place, name in enumerate(node.inputs):
            inputs.append(self._operand(node, place) if name else None)
            if name and inputs[-1] is None:
                return
        for place, name in enumerate(node.outputs):
            value = fold(node.proto, inputs, place)
            self.document.folded_cells += 0 if value is None else value.size
            if value is not None and self.document.folded_cells <= FOLDED_CELLS:
                self.folded[name] = value

    def _operand(self, node: Node, place: int) -> Array | None:
        """What a node reads at a place; of a tensor that is not known open cells, or its shape."""
        value, (dtype, dims) = self.value(node.inputs[place]), self.type_of(node.inputs[place])
        if node.op_type == "Shape":
            is_known = dims is not None and None not in dims
            shape = dims if is_known or value is None else value.shape
            return None if shape is None else of_sizes(shape)
        if node.op_type == "CastLike" and place and dtype:  # it is all that it takes of this input
            return np.empty(0, helper.tensor_dtype_to_np_dtype(dtype_code(dtype)))
        sizes = [size for size in dims or () if isinstance(size, int)]
        if value is not None or dims is None or dtype.startswith("float"):
            return value
        is_vector = len(dims) <= 1 and len(sizes) == len(dims) and prod(sizes) <= MOST_OPEN
        return np.full(sizes, None, object) if is_vector else None

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
        scope = self.scope.owner(name)
        if scope is None or name in scope.producers:
            return held_constant(scope.producers[name]) if scope else None
        overridable = scope.parent is None and name in self.document.overridable
        return None if overridable else scope.initializers.get(name)


def is_stored(context: Context, name: str) -> bool:
    """Whether a dense constant stands in the scope of `context` or in a graph around it."""
    scope = context.scope.owner(name)
    if scope is None or name in scope.input_places:
        return False
    if maker := scope.producers.get(name):
        return _is_constant(maker) and [one.name for one in maker.proto.attribute] == ["value"]
    return name not in scope.sparse


def tensor_type(tensor: TensorProto) -> Type:
    """Type of an initializer."""
    return Type(dtype_name(tensor.data_type), tuple(tensor.dims))


def _is_constant(node: Node) -> bool:
    return node.op_type == "Constant" and node.domain in PLAIN_DOMAINS


def held_constant(node: Node) -> TensorProto | None:
    """The value of a Constant; None for other nodes, and where a call would give it."""
    return stored_value(node.proto) if _is_constant(node) else None


def stored_value(proto: NodeProto) -> TensorProto | None:
    """What a Constant holds, but for texts and sparse tensors."""
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
