"""A padded node with what stands around it, as a small model of its own.

`excerpt` cuts it out, `standing_alone` gives it the weights and inputs with which it can be run,
`in_floats` lets it take and give floats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import prod

import numpy as np
from onnx import GraphProto, ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper

from onnxpad.errors import RequestError
from onnxpad.geometry.budgets import ROW
from onnxpad.geometry.size import Symbol, lower_bound
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.context import EXCERPT, OUTER, WITH_WINDOWS, Context, has_value
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import Type, dtype_code
from onnxpad.model.reading.crossing import CROSSABLE
from onnxpad.model.small_models import Array, copied
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
        model = copied(self.model)
        return EditSession(model, weightless=True, types=self.types, prefer=self.prefer)


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
    """A node, the Pads in front with the nodes that compute their pads, and readers of a Pad."""
    selected = {member.key: member for member in (node, *_beside(context, node))}
    for member in list(selected.values()):
        limit = 1 if member is node and _is_apart(context, node) else ROW
        _gather(context, member, selected, limit)
    nodes = context.scope.in_order(selected.values())
    places = {member.key: place for place, member in enumerate(nodes)}
    readers = readers_of(context, node) if node.op_type == "Pad" else []
    fronts = pads_before(context, node)
    model, types = _written(context, nodes)
    return Excerpt(
        model,
        types,
        places[node.key],
        tuple(places[reader.key] for reader in readers if reader.key in places),
        tuple(places[pad.key] for pad in fronts if pad.key in places),
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


def _written(context: Context, nodes: Sequence[Node]) -> tuple[ModelProto, dict[str, Type]]:
    """These nodes, in graph order, as a model under short names, and the types of its tensors."""
    scope, document = context.scope, context.document.model
    windows = WITH_WINDOWS if context.has_windows else ""
    model = ModelProto(
        ir_version=document.ir_version,
        producer_name=document.producer_name,
        opset_import=document.opset_import,
        graph=GraphProto(name=f"{EXCERPT}{windows}"),
    )
    graph, names = model.graph, {"": ""}

    def short(name: str) -> str:
        mark = OUTER if context.is_model_input(name) else _INNER
        return names.setdefault(name, f"{mark}{len(names)}")

    for place, node in enumerate(nodes):
        copy = graph.node.add()
        copy.CopyFrom(node.proto)
        copy.name = f"n{place}"
        copy.ClearField("doc_string")
        copy.ClearField("metadata_props")
        copy.input[:] = map(short, node.inputs)
        copy.output[:] = map(short, node.outputs)
    made = [name for node in nodes for name in node.outputs if name]
    reads = [name for node in nodes for name in node.inputs if name]
    for name in dict.fromkeys(one for one in reads if one not in made):
        tensor = context.constant_tensor(name)
        if tensor is None:
            graph.input.append(ValueInfoProto(name=short(name)))
            if has_value(context, name):  # which an input may replace
                tensor = scope.initializers[name]
        if tensor is not None:
            graph.initializer.append(_without_weights(tensor))
            graph.initializer[-1].name = short(name)
    for name in made:
        if scope.uses.get(name, 0) > reads.count(name) or name in scope.outputs:
            graph.output.append(ValueInfoProto(name=short(name)))
    del names[""]
    return model, {short(name): _type_of(context, name) for name in names}


def _type_of(context: Context, name: str) -> Type:
    """What is known of a tensor; of a small one whose value is known its shape as well."""
    known = context.type_of(name)
    value = context.value(name) if known.dims is None else None
    return known if value is None else Type(known.dtype, value.shape)


def _without_weights(source: TensorProto) -> TensorProto:
    """The tensor; of a large one, or one whose cells are elsewhere, only what it is."""
    copy = TensorProto(dims=source.dims, data_type=source.data_type)
    if source.ByteSize() > LARGE or source.data_location == TensorProto.EXTERNAL:
        copy.data_location = TensorProto.EXTERNAL
    else:
        copy.CopyFrom(source)
        copy.doc_string = ""
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
    model = copied(part.model)
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


_BYTES = ("uint8", "int8")
_SCALED = ("QLinear", "QuantizeLinear", "DequantizeLinear")


def in_floats(
    model: ModelProto, types: Mapping[str, Type], feeds: list[dict[str, Array]]
) -> tuple[ModelProto, list[dict[str, Array]], dict[str, str]]:
    """The same function of floats: bytes that quantised operators take and make are converted.

    Runtimes take and give bytes otherwise than those between a QuantizeLinear and a
    DequantizeLinear, which is where quantised operators stand in models. Gives the outputs' new
    names by their old ones as well.
    """
    copy = copied(model)
    graph, fed, renamed = copy.graph, [dict(values) for values in feeds], dict[str, str]()
    if not any(node.op_type.startswith(_SCALED) for node in graph.node):
        return copy, fed, renamed
    for is_input, values in ((True, graph.input), (False, graph.output)):
        for value in values:
            name, dtype = value.name, types.get(value.name, Type()).dtype
            if dtype not in _BYTES or (is_input and name not in fed[0]):
                continue
            real, step = f"{name}/real", [f"{name}/scale", f"{name}/zero"]
            numbers = np.ones((), np.float32), np.zeros((), dtype)
            graph.initializer.extend(map(numpy_helper.from_array, numbers, step))
            if is_input:
                node = helper.make_node("QuantizeLinear", [real, *step], [name], name=real)
                graph.node.insert(0, node)
                value.name, value.type.tensor_type.elem_type = real, TensorProto.FLOAT
                for arrays in fed:
                    arrays[real] = arrays.pop(name).astype(np.float32)
            else:
                node = helper.make_node("DequantizeLinear", [name, *step], [real], name=real)
                graph.node.append(node)
                value.CopyFrom(helper.make_empty_tensor_value_info(real))
                renamed[name] = real
    return copy, fed, renamed
