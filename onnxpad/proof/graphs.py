"""Models as this room reads them: nodes with their bodies, functions written out, constants."""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    """One operator; `bodies` are the graphs among its attributes."""

    op: str
    domain: str
    opset: int
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    bodies: dict[str, "Graph"]
    name: str = ""


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
    graph = _graph(model.graph, _opsets(model.opset_import), outside)
    if model.ir_version >= 4:
        names = {given.name for given in graph.inputs} & graph.constants.keys()
        graph.defaults = {name: graph.constants.pop(name) for name in names}
    graph.inputs = [given for given in graph.inputs if given.name not in graph.constants]
    _check_names(graph, set())
    return graph


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


def _check_names(graph: Graph, outer: set[str]) -> None:
    """Raise Undecided where a name is given twice, which no valid model does."""
    names = [given.name for given in graph.inputs] + list(graph.constants)
    names += [name for node in graph.nodes for name in node.outputs if name]
    known = set(names)
    if len(known) < len(names) or known & outer:
        raise Undecided("a name that is given to two tensors")
    for node in graph.nodes:
        for body in node.bodies.values():
            _check_names(body, known | outer)


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


def _opsets(imports: Sequence[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {_domain(entry.domain): entry.version for entry in imports}


def _graph(graph: onnx.GraphProto, opsets: Mapping[str, int], outside: Outside) -> Graph:
    if graph.sparse_initializer:
        raise Undecided("sparse initializers")
    constants = {proto.name: Constant(proto, outside) for proto in graph.initializer}
    nodes = []
    for proto in graph.node:
        if (_domain(proto.domain), proto.op_type) == ("", "Constant"):
            constants[proto.output[0]] = _constant(proto, outside)
        else:
            nodes.append(_node(proto, opsets, outside))
    inputs = [_input(info) for info in graph.input]
    return Graph(inputs, [info.name for info in graph.output], nodes, constants)


def _node(proto: onnx.NodeProto, opsets: Mapping[str, int], outside: Outside) -> Node:
    domain = _domain(proto.domain)
    attributes, bodies = {}, {}
    for entry in proto.attribute:
        if entry.type == onnx.AttributeProto.GRAPH:
            bodies[entry.name] = _graph(entry.g, opsets, outside)
        else:
            attributes[entry.name] = _attribute(entry)
    opset, names = opsets.get(domain, 0), (list(proto.input), list(proto.output))
    return Node(proto.op_type, domain, opset, *names, attributes, bodies, proto.name)


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
