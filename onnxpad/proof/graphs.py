"""Models as this room reads them: nodes with their bodies, functions written out, constants."""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import external_data_helper, helper, numpy_helper

from onnxpad.proof.endings import Undecided

Array = NDArray[Any]
_STANDARD = ("", "ai.onnx")
_MARK = "\0"
_BLOCK = 1 << 20
_DEEPEST = 64
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
    """The bytes of a tensor in a file of a folder, no more than its cells take: it may be endless.

    Cells of less than a byte stand several in one.
    """
    entry = external_data_helper.ExternalDataInfo(proto)
    path = (folder / entry.location).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise Undecided("the data of a constant lies outside of the model's folder")
    width = helper.tensor_dtype_to_np_dtype(proto.data_type).itemsize
    left = min(getattr(entry, "length", None) or math.inf, math.prod(proto.dims) * width)
    try:
        with path.open("rb") as file:
            file.seek(int(getattr(entry, "offset", None) or 0))
            while left > 0 and (block := file.read(int(min(_BLOCK, left)))):
                left -= len(block)
                yield block
    except OSError as error:
        raise Undecided(f"a constant cannot be read: {error}") from None


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


@dataclass(frozen=True, slots=True)
class _Scope:
    opsets: Mapping[str, int]
    functions: Mapping[tuple[str, str, str], onnx.FunctionProto]
    bindings: Mapping[str, onnx.AttributeProto]
    outside: Outside
    depth: int = 0


def read(model: onnx.ModelProto, outside: Outside = None) -> Graph:
    """The main graph; raises Undecided for what has no meaning here."""
    functions = {(_domain(f.domain), f.name, f.overload): f for f in model.functions}
    scope = _Scope(_opsets(model.opset_import), functions, {}, outside)
    graph = _graph(model.graph, scope)
    if model.ir_version >= 4:
        names = {given.name for given in graph.inputs} & graph.constants.keys()
        graph.defaults = {name: graph.constants.pop(name) for name in names}
    graph.inputs = [given for given in graph.inputs if given.name not in graph.constants]
    _check_names(graph, set())
    return graph


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


def _graph(graph: onnx.GraphProto, scope: _Scope) -> Graph:
    if graph.sparse_initializer:
        raise Undecided("sparse initializers")
    if any(_MARK in name for node in graph.node for name in (*node.input, *node.output)):
        raise Undecided("a name with a character of value 0")
    constants = {proto.name: Constant(proto, scope.outside) for proto in graph.initializer}
    nodes = _nodes(graph.node, scope, constants)
    inputs = [_input(info) for info in graph.input]
    return Graph(inputs, [info.name for info in graph.output], nodes, constants)


def _nodes(
    protos: Sequence[onnx.NodeProto], scope: _Scope, constants: dict[str, Constant]
) -> list[Node]:
    made: list[Node] = []
    for proto in protos:
        bound = {entry.name: entry for entry in _bound(proto, scope)}
        key = (_domain(proto.domain), proto.op_type, proto.overload)
        if key in scope.functions:
            made += _written_out(proto, scope.functions[key], bound, scope, constants)
        elif key[:2] == ("", "Constant"):
            constants[proto.output[0]] = _constant(bound, scope)
        else:
            made.append(_node(proto, bound, scope))
    return made


def _bound(proto: onnx.NodeProto, scope: _Scope) -> Iterator[onnx.AttributeProto]:
    """The attributes of a node; references are replaced by what the call says, or dropped."""
    for entry in proto.attribute:
        if not entry.ref_attr_name:
            yield entry
        elif entry.ref_attr_name in scope.bindings:
            named = onnx.AttributeProto()
            named.CopyFrom(scope.bindings[entry.ref_attr_name])
            named.name = entry.name
            yield named


def _node(proto: onnx.NodeProto, bound: Mapping[str, onnx.AttributeProto], scope: _Scope) -> Node:
    domain = _domain(proto.domain)
    attributes, bodies = {}, {}
    for name, entry in bound.items():
        if entry.type == onnx.AttributeProto.GRAPH:
            bodies[name] = _graph(entry.g, scope)
        else:
            attributes[name] = _attribute(entry)
    return Node(
        proto.op_type,
        domain,
        scope.opsets.get(domain, 0),
        list(proto.input),
        list(proto.output),
        attributes,
        bodies,
        proto.name,
    )


def _attribute(entry: onnx.AttributeProto) -> Any:  # noqa: ANN401 - of any type
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


def _constant(bound: Mapping[str, onnx.AttributeProto], scope: _Scope) -> Constant:
    """A Constant node as a constant."""
    kinds = {"value_int": np.int64, "value_ints": np.int64}
    kinds |= {"value_float": np.float32, "value_floats": np.float32}  # type: ignore[dict-item]
    for name, entry in bound.items():
        if name == "value":
            return Constant(entry.t, scope.outside)
        if name in kinds:
            value = np.asarray(helper.get_attribute_value(entry), kinds[name])
            return Constant(numpy_helper.from_array(value), None)
    raise Undecided("a Constant that is neither tensor nor number")


def _written_out(
    call: onnx.NodeProto,
    function: onnx.FunctionProto,
    given: Mapping[str, onnx.AttributeProto],
    scope: _Scope,
    constants: dict[str, Constant],
) -> list[Node]:
    """The nodes of a function in place of its call; its names get a mark that no file has."""
    if scope.depth >= _DEEPEST:
        raise Undecided("functions that call functions too deeply")
    bindings = {entry.name: entry for entry in function.attribute_proto} | dict(given)
    inner = _Scope(
        _opsets(function.opset_import), scope.functions, bindings, scope.outside, scope.depth + 1
    )
    own: dict[str, Constant] = {}
    nodes = _nodes(function.node, inner, own)
    mark = f"{call.output[0]}{_MARK}"
    names = dict.fromkeys(function.input, "")
    names |= dict(zip(function.input, call.input, strict=False))
    for name, constant in own.items():
        constants[mark + name] = constant
    for node in nodes:
        _rename(node, names, mark)
    results = zip(call.output, function.output, strict=False)
    passed = [
        Node("Identity", "", 13, [names.get(inside, mark + inside)], [outside], {}, {})
        for outside, inside in results
        if outside
    ]
    return nodes + passed


def _rename(node: Node, names: Mapping[str, str], mark: str) -> None:
    """Give the names of a function's body their mark, inside its graphs as well."""

    def new(name: str) -> str:
        return names.get(name, mark + name) if name else ""

    node.inputs = [new(name) for name in node.inputs]
    node.outputs = [new(name) for name in node.outputs]
    for body in node.bodies.values():
        body.inputs = [replace(given, name=new(given.name)) for given in body.inputs]
        body.outputs = [new(name) for name in body.outputs]
        body.constants = {new(name): constant for name, constant in body.constants.items()}
        for inner in body.nodes:
            _rename(inner, names, mark)
