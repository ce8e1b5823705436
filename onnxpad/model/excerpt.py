"""A padded node with what stands around it, as a small model of its own.

`excerpt` cuts it out, `pruned` takes nodes away again, `standing_alone` gives it the weights and
inputs with which it can be run, `in_floats` lets it take and give floats.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import prod

import numpy as np
from onnx import (
    AttributeProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
)

from onnxpad.errors import RequestError
from onnxpad.geometry.budgets import ROW
from onnxpad.geometry.size import Symbol, lower_bound
from onnxpad.model.comparing.networks import free_names
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.context import Context, has_value, tensor_type
from onnxpad.model.graph.model_inputs import (
    EXCERPT,
    LOOSE,
    OUTER,
    is_model_input,
    may_follow_window,
)
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import Type, dtype_code
from onnxpad.model.reading.crossing import CROSSABLE
from onnxpad.model.small_models import Array
from onnxpad.padding.chain import Preferences
from onnxpad.padding.operators import PLAIN_DOMAINS

MAX_NODES = 128
LARGE = 65_536
_INNER = "t"
_FRONT = CROSSABLE | {"Pad"}
READ = ("Pad", "QuantizeLinear", "DequantizeLinear")
"""What passes look for in front of an operator."""


@dataclass(frozen=True, eq=False)
class Excerpt:
    """A model of few nodes; tensors and nodes have short names, so that alike nodes look alike.

    `types` are what the whole model tells of its tensors. `focus` is the key of the node that it
    is about, `readers` those of padded nodes that read the focus, where that is a Pad, `fronts`
    those of Pads in front of it. Large weights have a type and no values. `prefer` is how the user
    wants nodes read.
    """

    model: ModelProto
    types: Mapping[str, Type]
    focus: int
    readers: tuple[int, ...]
    fronts: tuple[int, ...]
    prefer: Preferences

    @property
    def fingerprint(self) -> tuple[object, ...]:
        """Equal for nodes that any plan serves alike."""
        types = tuple(sorted(self.types.items(), key=lambda item: item[0]))
        return self.model.SerializeToString(deterministic=True), repr(types), self.focus

    def became(self, written: bytes, types: Mapping[str, Type]) -> Excerpt:
        """What edits made of it: the model `written`, about no node in particular."""
        model = ModelProto.FromString(written)
        return replace(self, model=model, types=types, focus=0, readers=(), fronts=())

    def opened(self) -> EditSession:
        """A copy to work on."""
        model = _copied(self.model)
        return EditSession(model, weightless=True, types=self.types, prefer=self.prefer)


def _copied(model: ModelProto) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(model)
    return copy


def readers_of(context: Context, node: Node) -> list[Node]:
    """Padded nodes that read a Pad, at once or behind operators that a Pad can cross."""
    return [found for found in _behind(context, node) if found.key in context.chains]


def pads_before(context: Context, node: Node) -> list[Node]:
    """Pads in front of a node, at once or before operators that a Pad can cross.

    None where they are nothing to it: in front of a Pad that nothing but Pads reads.
    """
    if _is_apart(context, node):
        return []
    makers = context.makers(node.input(0), most=MAX_NODES)
    row = takewhile(lambda maker: _crosses(maker) or maker.op_type == "Pad", makers)
    return [maker for maker in row if maker.key in context.chains]


def _is_apart(context: Context, node: Node) -> bool:
    """Whether it is a Pad that no operator reads into which it and those in front may be folded."""
    return node.op_type == "Pad" and all(one.op_type == "Pad" for one in readers_of(context, node))


def _behind(context: Context, node: Node) -> list[Node]:
    found: dict[int, Node] = {}
    waiting = [node]
    while waiting and len(found) < MAX_NODES:
        maker = waiting.pop()
        for reader in (one for name in maker.outputs if name for one in context.readers(name)):
            if reader.key in found or reader.inputs[0] not in maker.outputs:
                continue
            if reader.key in context.chains:
                found[reader.key] = reader
            elif _crosses(reader):
                found[reader.key] = reader
                waiting.append(reader)
    return list(found.values())


def _crosses(node: Node) -> bool:
    return node.op_type in CROSSABLE and node.domain in PLAIN_DOMAINS


def excerpt(context: Context, node: Node) -> Excerpt:
    """The node, Pads in front of it with what computes their pads, and readers of a Pad."""
    is_pad = node.op_type == "Pad"
    kept = {one.key: one for one in (node, *_beside(context, node))}
    for one in list(kept.values()):
        _gather(context, one, kept, 1 if one is node and _is_apart(context, node) else ROW)
    nodes = context.scope.in_order(kept.values())
    places = {one.key: place for place, one in enumerate(nodes)}
    readers = readers_of(context, node) if is_pad else []
    fronts = pads_before(context, node)
    writer = _Writer(context, is_pad=is_pad)
    writer.write(nodes)
    return Excerpt(
        writer.model,
        writer.types,
        places[node.key],
        tuple(places[one.key] for one in readers if one.key in places),
        tuple(places[one.key] for one in fronts if one.key in places),
        context.document.prefer,
    )


def _beside(context: Context, node: Node) -> list[Node]:
    """What reads a Pad, and the QuantizeLinear that reads any other operator."""
    if node.op_type == "Pad":
        return _behind(context, node)
    readers = context.readers(node.outputs[0])[:1] if node.outputs else []
    return [one for one in readers if one.op_type == "QuantizeLinear"]


def _gather(context: Context, node: Node, kept: dict[int, Node], most: int) -> None:
    """Keep what stands in front of a node, `most` Pads of it."""
    scope, pads = context.scope, 0
    waiting = [(node, False)]
    while waiting and len(kept) < MAX_NODES:
        reader, computes = waiting.pop()
        pads += reader.op_type == "Pad"
        for position, name in enumerate(reader.inputs):
            maker = scope.producers.get(name) if name else None
            if maker is None or maker.key in kept or scope.children.get(maker.key):
                continue
            small = computes or (position > 0 and reader.op_type in _FRONT)
            if small:
                wanted = reader.op_type != "Shape"
            elif maker.op_type == "DequantizeLinear":
                wanted = True
            else:
                is_front = position == 0 and maker.op_type in _FRONT
                wanted = (is_front and maker.domain in PLAIN_DOMAINS) or (
                    context.constant_tensor(maker.outputs[0]) is not None
                )
            if wanted and not (maker.op_type == "Pad" and pads >= most):
                kept[maker.key] = maker
                waiting.append((maker, small))


class _Writer:
    """Writes nodes of one scope into `model` under short names; `types` are of its tensors."""

    def __init__(self, context: Context, *, is_pad: bool) -> None:
        document = context.document.model
        self._context, self._is_pad = context, is_pad
        self._names: dict[str, str] = {"": ""}
        self.types: dict[str, Type] = {}
        self.model = ModelProto(
            ir_version=document.ir_version,
            producer_name=document.producer_name,
            opset_import=document.opset_import,
        )
        self.model.graph.name = EXCERPT

    def write(self, nodes: list[Node]) -> None:
        """Write the nodes, in graph order, with what they read and what is read of them."""
        scope, graph = self._context.scope, self.model.graph
        for place, node in enumerate(nodes):
            self._copy(node, graph.node.add(), place)
        made = [name for node in nodes for name in node.outputs if name]
        reads = [name for node in nodes for name in node.inputs if name]
        for name in dict.fromkeys(reads):
            if name not in made:
                self._feed(name)
        for name in made:
            if scope.uses.get(name, 0) > reads.count(name) or name in scope.outputs:
                graph.output.append(ValueInfoProto(name=self._name(name)))

    def _copy(self, node: Node, copy: NodeProto, place: int) -> None:
        copy.op_type, copy.domain, copy.name = node.op_type, node.domain, f"n{place}"
        copy.input.extend(map(self._name, node.inputs))
        copy.output.extend(map(self._name, node.outputs))
        for attribute in node.proto.attribute:
            copy.attribute.add().CopyFrom(attribute)
            copy.attribute[-1].ClearField("doc_string")
        for name in filter(None, node.outputs):
            if (known := self._type_of(name)) != Type():
                self.types[self._name(name)] = known

    def _name(self, name: str) -> str:
        return self._names.setdefault(name, f"{self._mark(name)}{len(self._names)}")

    def _mark(self, name: str) -> str:
        """What the whole model tells of a tensor."""
        if is_model_input(self._context, name):
            return OUTER
        return LOOSE if self._is_pad and not may_follow_window(self._context, name) else _INNER

    def _type_of(self, name: str) -> Type:
        """What is known of a tensor; of a small one whose value is known its shape as well."""
        known = self._context.type_of(name)
        value = self._context.value(name) if known.dims is None else None
        return known if value is None else Type(known.dtype, value.shape)

    def _feed(self, name: str) -> None:
        """A constant as a constant, anything else as an input, with its value where it has one."""
        short, graph = self._name(name), self.model.graph
        found = self._context.constant_tensor(name)
        if isinstance(found, AttributeProto):  # of a Constant around this graph
            array = self._context.constant(name)
            found = None if array is None else numpy_helper.from_array(array)
        if found is not None:
            self.types[short] = tensor_type(found)
        else:
            graph.input.append(ValueInfoProto(name=short))
            self.types[short] = self._type_of(name)
            if has_value(self._context, name):  # which an input may replace
                found = self._context.scope.initializers[name]
        if found is not None:
            graph.initializer.append(_without_weights(found))
            graph.initializer[-1].name = short


_CELLS = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data")


def _without_weights(source: TensorProto) -> TensorProto:
    """The tensor; of a large one, or one whose cells are elsewhere, only what it is."""
    copy = TensorProto()
    is_here = any(getattr(source, name) for name in (*_CELLS, "string_data")) or 0 in source.dims
    if is_here and source.ByteSize() <= LARGE and source.data_location != TensorProto.EXTERNAL:
        copy.CopyFrom(source)
        copy.doc_string = ""
    else:
        copy.dims.extend(source.dims)
        copy.data_type, copy.data_location = source.data_type, TensorProto.EXTERNAL
    return copy


def pruned(model: ModelProto, outputs: Collection[str], given: Collection[str] = ()) -> ModelProto:
    """A copy with `outputs` alone, and the nodes, inputs and initializers that they need.

    The tensors `given` are inputs of it, where they are needed. Nodes stay in their order; outputs
    that are no tensor of the model are left out.
    """
    copy = _copied(model)
    needed, graph = set(outputs), copy.graph
    for place in reversed(range(len(graph.node))):
        if needed.difference(given).intersection(graph.node[place].output):
            needed |= free_names(graph.node[place])
        else:
            del graph.node[place]
    parts = (graph.input, needed), (graph.initializer, needed), (graph.output, outputs)
    for part, names in parts:
        for place in reversed(range(len(part))):
            if part[place].name not in names:
                del part[place]
    known = {value.name for value in graph.input}
    graph.input.extend(ValueInfoProto(name=one) for one in given if one in needed - known)
    return copy


Draw = Callable[[tuple[int, ...], str], Array]
_WEIGHTED = ("Conv", "ConvTranspose")
_LEAST = 8
"""A size that is not known is at least so large, so that windows fit."""
MOST_CELLS = 1 << 22
"""Cells of an input or a weight that are drawn at most."""


def standing_alone(
    part: Excerpt, draw: Draw, *, grown: int = 0, keeps_weights: bool = False
) -> tuple[ModelProto, dict[str, Array]]:
    """The model and inputs of zeros; constants that the excerpt left out are drawn.

    So are float weights of convolutions, unless it `keeps_weights`. Open sizes are `grown` steps
    above the smallest that is fed, a step being what they are divided by. Raises RequestError where
    the type of an input is not known.
    """
    model = _copied(part.model)
    model.graph.name = "reproducer"
    held = {tensor.name for tensor in model.graph.initializer}
    feeds: dict[str, Array] = {}
    for value in model.graph.input:
        found = part.types.get(value.name, Type())
        dims = _named(found)
        code = dtype_code(found.dtype)
        value.CopyFrom(helper.make_tensor_value_info(value.name, code, dims))
        if value.name not in held:
            shape = _checked(tuple(_size(size, grown) for size in found.dims or ()), value.name)
            feeds[value.name] = np.zeros(shape, helper.tensor_dtype_to_np_dtype(code))
    weights = {node.input[1] for node in model.graph.node if node.op_type in _WEIGHTED}
    for tensor in model.graph.initializer:
        is_float = tensor.data_type == TensorProto.FLOAT
        if (
            is_float and tensor.name in weights and not keeps_weights
        ) or tensor.data_location == TensorProto.EXTERNAL:
            shape = _checked(tuple(tensor.dims), tensor.name)
            kind = helper.tensor_dtype_to_np_dtype(tensor.data_type)
            tensor.CopyFrom(numpy_helper.from_array(draw(shape, str(kind)), tensor.name))
    return model, feeds


def left_out(part: Excerpt) -> list[str]:
    """The constants that the excerpt has no values of, as types."""
    return [
        f"{helper.tensor_dtype_to_np_dtype(tensor.data_type)} {list(tensor.dims)}"
        for tensor in part.model.graph.initializer
        if tensor.data_location == TensorProto.EXTERNAL
    ]


def _named(found: Type) -> list[int | str]:
    if not found.dtype or found.dims is None or None in found.dims:
        raise RequestError(
            "the sizes of what the node reads are not known; where the model's inputs leave sizes "
            "open, --dim gives them"
        )
    return [size.name if isinstance(size, Symbol) else int(size or 0) for size in found.dims]


def _checked(shape: tuple[int, ...], name: str) -> tuple[int, ...]:
    if min(shape, default=0) < 0 or prod(shape) > MOST_CELLS:
        raise RequestError(
            f"'{name}' has {list(shape)} cells, and a reproducer at most {MOST_CELLS}: say smaller "
            "sizes with --dim, or choose a smaller node"
        )
    return shape


def _size(size: object, grown: int) -> int:
    if not isinstance(size, Symbol):
        return int(size)  # type: ignore[call-overload, no-any-return]
    least = lower_bound(size)
    return least + (-(-max(0, _LEAST - least) // size.modulus) + grown) * size.modulus


_READS = dict.fromkeys(("QLinearConv", "QLinearAveragePool", "DequantizeLinear"), 1)
_MAKES = {"QuantizeLinear": 1, "QLinearConv": 6, "QLinearAveragePool": 3}
"""Where the scale of the bytes that an operator reads or makes stands; the zero point is next."""
_MOVES = ("MaxPool", "Pad", "Slice", "Identity")
"""They give bytes on as they are."""


def in_floats(
    model: ModelProto, feeds: list[dict[str, Array]]
) -> tuple[ModelProto, list[dict[str, Array]], dict[str, str]]:
    """The same function of floats: bytes that have a scale are converted in the model.

    Runtimes take and give bytes otherwise than those between a QuantizeLinear and a
    DequantizeLinear, which is where quantised operators stand in models. Gives the outputs' new
    names by their old ones as well.
    """
    copy = _copied(model)
    graph, nodes = copy.graph, list(copy.graph.node)
    held = {tensor.name: tensor for tensor in graph.initializer}
    fed, renamed = [dict(values) for values in feeds], dict[str, str]()
    for value in graph.input:
        name, real = value.name, f"{value.name}/real"
        reader = next((node for node in nodes if name in node.input[:1]), None)
        scaled = _scaled(reader, _READS, held)
        if scaled is None or name not in fed[0] or fed[0][name].dtype != scaled[1].dtype:
            continue
        names, zero, step = scaled
        quantise = helper.make_node("QuantizeLinear", [real, *names], [name], name=f"{real}/q")
        graph.node.insert(0, quantise)
        value.name, value.type.tensor_type.elem_type = real, TensorProto.FLOAT
        for values in fed:
            values[real] = (values.pop(name).astype(np.float32) - zero.astype(np.float32)) * step
    for value in graph.output:
        name, real = value.name, f"{value.name}/real"
        if scaled := _scaled(_origin(nodes, name), _MAKES, held):
            node = helper.make_node("DequantizeLinear", [name, *scaled[0]], [real], name=real)
            graph.node.append(node)
            value.CopyFrom(helper.make_empty_tensor_value_info(real))
            renamed[name] = real
    return copy, fed, renamed


def _origin(nodes: Sequence[NodeProto], name: str) -> NodeProto | None:
    """The node that made the cells of a tensor, from which others may have moved them."""
    maker = next((node for node in nodes if name in node.output), None)
    if maker and maker.op_type in _MOVES and name == maker.output[0]:
        return _origin(nodes, maker.input[0])
    return maker


def _scaled(
    node: NodeProto | None, places: Mapping[str, int], held: Mapping[str, TensorProto]
) -> tuple[list[str], Array, Array] | None:
    """What a node's one scale and zero point are called, then zero point and scale as numbers.

    None where they are not known numbers.
    """
    place = places.get(node.op_type) if node else None
    if node is None or place is None:
        return None
    names = list(filter(None, node.input[place : place + 2]))
    if not names or not held.keys() >= set(names):
        return None
    step, *zeros = (numpy_helper.to_array(held[name]) for name in names)
    zero = zeros[0] if zeros else np.zeros((), np.uint8)
    if step.size != 1 or step.dtype != np.float32 or zero.dtype.itemsize != 1:
        return None
    return names, zero.reshape(()), step.reshape(())
