"""Models as this room reads them: one row of nodes, with those of functions and bodies in it."""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.inliner
from numpy.typing import NDArray
from onnx import external_data_helper, helper, numpy_helper

from onnxpad.proof.endings import Undecided

Array = NDArray[Any]
_STANDARD = ("", "ai.onnx")
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform"}
RANDOM |= {"RandomUniformLike", "BiasDropout", "BitmaskDropout", "BitmaskBiasDropout", "Sampling"}
"""Operators that draw at random; a Dropout does where it trains."""
ARGUMENT = "Argument"
"""An operator that stands for an argument of a body: any tensor of the rank of its operand."""


Outside = Path | Callable[[onnx.TensorProto], Iterator[bytes]] | None
"""Where values lie that a model refers to: a folder, or what gives those of a tensor in pieces."""


@dataclass(eq=False, slots=True)
class Constant:
    """A tensor of the file; large ones are hashed in blocks, and read only where that is asked."""

    proto: onnx.TensorProto
    outside: Outside

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        return tuple(self.proto.dims)

    @property
    def size(self) -> int:
        """Number of cells."""
        return math.prod(self.proto.dims)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Its type, as numpy has it."""
        return helper.tensor_dtype_to_np_dtype(self.proto.data_type)

    def numbers(self) -> Array:
        """The values; raises Undecided for texts and for data that is not there."""
        if self.proto.data_type == onnx.TensorProto.STRING:
            raise Undecided("a constant of texts")
        held, pieces = self.proto, self._pieces()
        if pieces is not None:
            held = onnx.TensorProto(data_type=held.data_type, dims=held.dims)
            held.raw_data = b"".join(pieces)
        try:
            return numpy_helper.to_array(held)
        except (ValueError, TypeError) as error:
            raise Undecided(f"a constant cannot be read: {error}") from None

    def _pieces(self) -> Iterator[bytes] | None:
        """The bytes of values that lie in another file; None where they do not."""
        if self.proto.data_location != onnx.TensorProto.EXTERNAL:
            return None
        if self.outside is None:
            raise Undecided("the data of a constant lies in another file")
        if callable(self.outside):
            return self.outside(self.proto)
        return _blocks(self.proto, self.outside)

    def digest(self) -> bytes:
        """Hash of type, shape and values (lemma 6); equal hashes, equal constants."""
        found = hashlib.sha256(repr((self.proto.data_type, self.shape)).encode())
        if (pieces := self._pieces()) is not None:
            for block in pieces:
                found.update(block)
        elif self.proto.HasField("raw_data"):
            found.update(self.proto.raw_data)
        elif self.proto.data_type == onnx.TensorProto.STRING:
            found.update(repr(list(self.proto.string_data)).encode())
        else:
            found.update(np.ascontiguousarray(self.numbers()).tobytes())
        return found.digest()


def _blocks(proto: onnx.TensorProto, folder: Path) -> Iterator[bytes]:
    """The bytes of a tensor in a file of a folder, no more than its cells take."""
    held = onnx.TensorProto()
    held.CopyFrom(proto)
    if all(entry.key != "length" for entry in held.external_data):
        width = helper.tensor_dtype_to_np_dtype(proto.data_type).itemsize
        held.external_data.add(key="length", value=str(math.prod(proto.dims) * width))
    try:
        external_data_helper.load_external_data_for_tensor(held, str(folder))
    except Exception as error:  # noqa: BLE001 - of another library, on a file's words
        raise Undecided(f"a constant cannot be read: {error}") from None
    yield held.raw_data


@dataclass(eq=False, slots=True)
class Node:
    """One operator; the nodes of its bodies stand in front of it.

    `bodies` are the names of what those make; `carried` pairs an argument of a body with the result
    that it becomes in the next turn.
    """

    op: str
    domain: str
    opset: int
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    bodies: dict[str, list[str]] = field(default_factory=dict)
    carried: list[tuple[str, str]] = field(default_factory=list)

    @property
    def operands(self) -> list[str]:
        """All that its outputs are functions of; what is left out is empty."""
        return [*self.inputs, *(name for results in self.bodies.values() for name in results)]

    @property
    def inside(self) -> str:
        """How the names of tensors in its bodies begin."""
        return f"{self.outputs[0]}'s "


@dataclass(frozen=True, slots=True)
class Input:
    """What must be given; a size is a number, a name, or None; `sizes` is None without a rank."""

    name: str
    dtype: np.dtype[Any] | None
    sizes: tuple[int | str | None, ...] | None


@dataclass(eq=False, slots=True)
class Graph:
    """Nodes in their order; `constants` by name, `inputs` that somebody may give.

    `defaults` are what inputs are where nobody gives them; since a caller may (from IR 4 on), they
    are no constants.
    """

    inputs: list[Input]
    outputs: list[str]
    nodes: list[Node]
    constants: dict[str, Constant]
    defaults: dict[str, Constant] = field(default_factory=dict)


def read(model: onnx.ModelProto, outside: Outside = None) -> Graph:
    """The main graph; raises Undecided for what has no meaning here."""
    model = _written_out(model)
    made = _Row({_domain(entry.domain): entry.version for entry in model.opset_import}, outside)
    made.add(model.graph, {}, "", 0)
    inputs, constants = [_input(info) for info in model.graph.input], made.constants
    names = {given.name for given in inputs} & constants.keys() if model.ir_version >= 4 else set()
    defaults = {name: constants.pop(name) for name in names}
    inputs = [given for given in inputs if given.name not in constants]
    outputs = [info.name for info in model.graph.output]
    return Graph(inputs, outputs, made.nodes, constants, defaults)


def _written_out(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the nodes of its functions in place of their calls."""
    if not model.functions:
        return model
    try:
        found = onnx.inliner.inline_local_functions(_with_defaults(model))
    except Exception as error:  # noqa: BLE001 - of another library, on a file's functions
        raise Undecided(f"functions cannot be written out: {error}") from None
    if found.functions:
        raise Undecided("functions of other opsets than the model's")
    return found


def _with_defaults(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the defaults of a function's attributes in calls, which onnx would drop."""
    defaults = {
        (_domain(one.domain), one.name, one.overload): one.attribute_proto
        for one in model.functions
    }
    if not any(defaults.values()):
        return model
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for nodes in (made.graph.node, *(function.node for function in made.functions)):
        for node in _all_nodes(nodes):
            given = {entry.name: entry for entry in node.attribute}
            key = _domain(node.domain), node.op_type, node.overload
            for entry in defaults.get(key, ()):
                if entry.name not in given:
                    node.attribute.append(entry)
                elif given[entry.name].ref_attr_name:
                    raise Undecided(f"whether a call gives the attribute {entry.name} is not known")
    return made


def _all_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Nodes, and those of their bodies."""
    for node in nodes:
        yield node
        for entry in node.attribute:
            for body in (entry.g, *entry.graphs):
                yield from _all_nodes(body.node)


def _input(info: onnx.ValueInfoProto) -> Input:
    kind = info.type.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type) if kind.elem_type else None
    if not kind.HasField("shape"):
        return Input(info.name, dtype, None)
    sizes = [
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None
        for dim in kind.shape.dim
    ]
    return Input(info.name, dtype, tuple(sizes))


def _domain(domain: str) -> str:
    return "" if domain in _STANDARD else domain


@dataclass(slots=True)
class _Row:
    """Nodes and constants of a graph, those of bodies among them under names of their own."""

    opsets: Mapping[str, int]
    outside: Outside
    nodes: list[Node] = field(default_factory=list)
    constants: dict[str, Constant] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def add(
        self, graph: onnx.GraphProto, around: Mapping[str, str], prefix: str, depth: int
    ) -> dict[str, str]:
        """Append a graph; the names of its tensors here, with those of what lies `around` it."""
        if graph.sparse_initializer:
            raise Undecided("sparse initializers")
        own = [*dict.fromkeys(one.name for one in (*graph.input, *graph.initializer))]
        own += [name for node in graph.node for name in node.output if name]
        scope = {**around, **{name: prefix + name for name in own}}
        added = {scope[name] for name in own}
        if len(added) < len(own) or added & self.names or around.keys() & set(own):
            raise Undecided("a name that is given to two tensors")
        self.names |= added
        for tensor in graph.initializer:
            self.constants[scope[tensor.name]] = Constant(tensor, self.outside)
        for node in graph.node:
            if (_domain(node.domain), node.op_type) == ("", "Constant"):
                self.constants[scope[node.output[0]]] = _constant(node, self.outside)
            else:
                self._node(node, scope, depth)
        return scope

    def _node(self, proto: onnx.NodeProto, scope: Mapping[str, str], depth: int) -> None:
        inputs, outputs = (
            [name and scope.get(name, f"{name} of nobody") for name in names]
            for names in (proto.input, proto.output)
        )
        domain = _domain(proto.domain)
        node = Node(proto.op_type, domain, self.opsets.get(domain, 0), inputs, outputs, {})
        graphs = [one for one in proto.attribute if one.type == onnx.AttributeProto.GRAPH]
        for entry in proto.attribute:
            if entry not in graphs:
                node.attributes[entry.name] = _attribute(entry)
        for entry in sorted(graphs, key=lambda one: one.name):  # written in any order
            self._body(entry, node, scope, depth + 1)
        self.nodes.append(node)

    def _body(
        self, entry: onnx.AttributeProto, node: Node, scope: Mapping[str, str], depth: int
    ) -> None:
        """Append a body of a node, with its arguments as what nodes make of operands."""
        prefix = f"{node.inside}{entry.name} "
        states = []
        for at, info in enumerate(entry.g.input):
            kind, operands = _argument_of(node, at)
            name = prefix + info.name
            facts = {"at": at, "depth": depth, "kind": kind}
            if kind in ("int64", "bool"):
                facts["rank"] = len(info.type.tensor_type.shape.dim)
            self.nodes.append(Node(ARGUMENT, "body", 0, operands, [name], facts))
            states += [name] if kind == "state" else []
        names = self.add(entry.g, scope, prefix, depth)
        results = [names.get(info.name, f"{info.name} of nobody") for info in entry.g.output]
        node.bodies[entry.name] = results
        node.attributes[entry.name] = [len(entry.g.input), len(results)]
        node.carried += zip(states, results[node.op == "Loop" :], strict=False)


def _argument_of(node: Node, at: int) -> tuple[str | int, list[str]]:
    """The type of an argument that is a number, its axis of a row, or "state"; and its operand."""
    operands = node.inputs[at : at + 1]
    if (node.domain, node.op) == ("", "Loop"):
        return ("int64", "bool")[at] if at < 2 else "state", operands
    if (node.domain, node.op) != ("", "Scan") or node.opset < 9:
        return "state", []
    row = at - len(node.inputs) + int(node.attributes.get("num_scan_inputs", 0))
    axes = node.attributes.get("scan_input_axes", ())
    return "state" if row < 0 else int(axes[row]) if row < len(axes) else 0, operands


def _attribute(entry: onnx.AttributeProto) -> Any:  # noqa: ANN401 - of any type
    if entry.ref_attr_name:
        raise Undecided(f"the attribute {entry.name} is one of a function")
    value = helper.get_attribute_value(entry)
    match entry.type:
        case onnx.AttributeProto.STRING:
            return value.decode("utf-8", "replace")
        case onnx.AttributeProto.TENSOR:
            return Constant(value, None).numbers()
        case onnx.AttributeProto.INTS | onnx.AttributeProto.FLOATS | onnx.AttributeProto.STRINGS:
            return list(value)
        case onnx.AttributeProto.INT | onnx.AttributeProto.FLOAT:
            return value
    raise Undecided(f"the attribute {entry.name} is no number, text or tensor")


def _constant(proto: onnx.NodeProto, outside: Outside) -> Constant:
    """A Constant node as a constant."""
    kinds = {"value_int": np.int64, "value_ints": np.int64}
    kinds |= {"value_float": np.float32, "value_floats": np.float32}  # type: ignore[dict-item]
    for entry in proto.attribute:
        if entry.name == "value":
            return Constant(entry.t, outside)
        if entry.name in kinds:
            value = np.asarray(helper.get_attribute_value(entry), kinds[entry.name])
            return Constant(numpy_helper.from_array(value), None)
    raise Undecided("a Constant that is neither tensor nor number")
