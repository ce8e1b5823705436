"""A padded node with what stands around it, as a small model of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from onnx import (
    AttributeProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    numpy_helper,
)

from onnxpad.geometry.budgets import ROW
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
from onnxpad.model.graph.types import Type
from onnxpad.model.reading.crossing import CROSSABLE
from onnxpad.padding.chain import Preferences
from onnxpad.padding.operators import PLAIN_DOMAINS

MAX_NODES = 128
LARGE = 65_536
_INNER = "t"
_FRONT = CROSSABLE | {"Pad"}
_BETWEEN = frozenset(
    {
        *("Add", "AveragePool", "Clip", "Concat", "Div", "GlobalAveragePool", "GlobalMaxPool"),
        *("Identity", "LeakyRelu", "MaxPool", "Mul", "Neg", "Pad", "Relu", "Reshape", "Slice"),
        *("Squeeze", "Sub", "Transpose", "Unsqueeze"),
    }
)
"""What a conversion from bytes is moved past by optimisers."""


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
        types = tuple(sorted((name, found) for name, found in self.types.items()))
        return self.model.SerializeToString(deterministic=True), repr(types), self.focus

    def became(self, written: bytes, types: Mapping[str, Type]) -> Excerpt:
        """What edits made of it: the model `written`, about no node in particular."""
        model = ModelProto()
        model.ParseFromString(written)
        return replace(self, model=model, types=types, focus=0, readers=(), fronts=())

    def opened(self) -> EditSession:
        """A copy to work on."""
        model = ModelProto()
        model.CopyFrom(self.model)
        return EditSession(model, weightless=True, types=self.types, prefer=self.prefer)


def excerpt(context: Context, node: Node) -> Excerpt:
    """The node, Pads in front of it with what computes their pads, and readers of a Pad."""
    return _Cutter(context, node).cut()


def readers_of(context: Context, node: Node) -> list[Node]:
    """Padded nodes that read a Pad, at once or behind operators that a Pad can cross."""
    return [found for found in _behind(context, node) if found.key in context.chains]


def pads_before(context: Context, node: Node) -> list[Node]:
    """Pads in front of a node, at once or before operators that a Pad can cross.

    None where they are nothing to it: in front of a Pad that nothing but Pads reads.
    """
    found: list[Node] = []
    if _is_apart(context, node):
        return found
    for maker in context.makers(node.input(0), most=MAX_NODES):
        if not (_crosses(maker) or maker.op_type == "Pad"):
            break
        if maker.key in context.chains:
            found.append(maker)
    return found


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


class _Cutter:
    def __init__(self, context: Context, node: Node) -> None:
        self._context = context
        self._focus = node
        self._kept = {node.key: node}
        self._names: dict[str, str] = {"": ""}
        self._types: dict[str, Type] = {}

    def cut(self) -> Excerpt:
        readers: list[Node] = []
        if self._focus.op_type == "Pad":
            self._kept |= {found.key: found for found in _behind(self._context, self._focus)}
            readers = readers_of(self._context, self._focus)
            self._kept |= {found.key: found for found in self._dequantised()}
        self._kept |= {found.key: found for found in self._quantises()}
        for node in list(self._kept.values()):
            self._gather(node)
        nodes = self._context.scope.in_order(self._kept.values())
        numbers = {node.key: index for index, node in enumerate(nodes)}
        fronts = pads_before(self._context, self._focus)
        return Excerpt(
            self._written(nodes),
            self._types,
            numbers[self._focus.key],
            tuple(numbers[node.key] for node in readers if node.key in numbers),
            tuple(numbers[node.key] for node in fronts if node.key in numbers),
            self._context.document.prefer,
        )

    def _quantises(self) -> list[Node]:
        """The QuantizeLinear that is first to read the result of what is no Pad."""
        if self._focus.op_type == "Pad" or not self._focus.outputs:
            return []
        first = self._context.readers(self._focus.outputs[0])[:1]
        return [one for one in first if one.op_type == "QuantizeLinear"]

    def _dequantised(self) -> Iterator[Node]:
        """What stands between a Pad and the QuantizeLinear of the bytes that it reads as floats."""
        makers = list(self._context.makers(self._focus.input(0), most=MAX_NODES))
        kinds = [maker.op_type for maker in makers]
        if "DequantizeLinear" in kinds and _BETWEEN.issuperset(
            kinds[: kinds.index("DequantizeLinear")]
        ):
            behind = kinds.index("QuantizeLinear") if "QuantizeLinear" in kinds else len(kinds)
            yield from makers[: behind + 1]

    def _gather(self, node: Node) -> None:
        """Keep what stands in front of a node."""
        waiting, pads = [(node, False)], 0
        most = 1 if node is self._focus and _is_apart(self._context, node) else ROW
        while waiting and len(self._kept) < MAX_NODES:
            reader, computes = waiting.pop()
            pads += reader.op_type == "Pad"
            for position, name in enumerate(reader.inputs):
                maker = self._context.scope.producers.get(name) if name else None
                if maker is None or maker.key in self._kept:
                    continue
                if self._context.scope.children.get(maker.key):
                    continue
                small = computes or (position > 0 and reader.op_type in _FRONT)
                wanted = reader.op_type != "Shape" if small else self._is_front(maker, position)
                if wanted and not (maker.op_type == "Pad" and pads >= most):
                    self._kept[maker.key] = maker
                    waiting.append((maker, small))

    def _is_front(self, maker: Node, position: int) -> bool:
        if maker.op_type == "DequantizeLinear" or self._is_constant(maker):
            return True
        return position == 0 and maker.op_type in _FRONT and maker.domain in PLAIN_DOMAINS

    def _is_constant(self, maker: Node) -> bool:
        return self._context.constant_tensor(maker.outputs[0]) is not None

    def _written(self, nodes: list[Node]) -> ModelProto:
        document = self._context.document.model
        model = ModelProto(ir_version=document.ir_version, producer_name=document.producer_name)
        model.opset_import.extend(document.opset_import)
        model.graph.name = EXCERPT
        made = {name for node in nodes for name in node.outputs if name}
        for index, node in enumerate(nodes):
            self._copy(node, model.graph.node.add(), index)
        for name in self._free(nodes, made):
            self._feed(model, name)
        reads = [name for node in nodes for name in node.inputs]
        for name in (name for node in nodes for name in node.outputs if name):
            outside = self._context.scope.uses.get(name, 0) > reads.count(name)
            if outside or name in self._context.scope.outputs:
                model.graph.output.append(ValueInfoProto(name=self._name(name)))
        return model

    def _free(self, nodes: list[Node], made: set[str]) -> Iterator[str]:
        seen = set(made)
        for node in nodes:
            for name in node.inputs:
                if name and name not in seen:
                    seen.add(name)
                    yield name

    def _name(self, name: str) -> str:
        return self._names.setdefault(name, f"{self._mark(name)}{len(self._names)}")

    def _mark(self, name: str) -> str:
        """What the whole model tells of a tensor."""
        if is_model_input(self._context, name):
            return OUTER
        apart = self._focus.op_type == "Pad" and not may_follow_window(self._context, name)
        return LOOSE if apart else _INNER

    def _copy(self, node: Node, copy: NodeProto, index: int) -> None:
        copy.op_type, copy.domain, copy.name = node.op_type, node.domain, f"n{index}"
        copy.input.extend(self._name(name) for name in node.inputs)
        copy.output.extend(self._name(name) for name in node.outputs)
        for attribute in node.proto.attribute:
            copy.attribute.add().CopyFrom(attribute)
            copy.attribute[-1].doc_string = ""
        for name in node.outputs:
            if name and (known := self._type_of(name)) != Type():
                self._types[self._name(name)] = known

    def _type_of(self, name: str) -> Type:
        """What is known of a tensor; of a small one whose value is known its shape as well."""
        known = self._context.type_of(name)
        value = self._context.value(name) if known.dims is None else None
        return known if value is None else Type(known.dtype, value.shape)

    def _feed(self, model: ModelProto, name: str) -> None:
        """A constant as a constant, anything else as an input, with its value where it has one."""
        found = self._context.constant_tensor(name)
        if isinstance(found, AttributeProto):  # of a Constant around this graph
            array = self._context.constant(name)
            found = None if array is None else numpy_helper.from_array(array)
        if found is not None:
            copy = model.graph.initializer.add()
            _copy_tensor(found, copy)
            copy.name = self._name(name)
            self._types[self._name(name)] = tensor_type(found)
            return
        model.graph.input.append(ValueInfoProto(name=self._name(name)))
        self._types[self._name(name)] = self._type_of(name)
        if has_value(self._context, name):  # which an input may replace
            copy = model.graph.initializer.add()
            _copy_tensor(self._context.scope.initializers[name], copy)
            copy.name = self._name(name)


_CELLS = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data")


def _copy_tensor(source: TensorProto, copy: TensorProto) -> None:
    """The tensor; of a large one, or one whose cells are elsewhere, only what it is."""
    is_here = any(getattr(source, name) for name in (*_CELLS, "string_data")) or 0 in source.dims
    if is_here and source.ByteSize() <= LARGE and source.data_location != TensorProto.EXTERNAL:
        copy.CopyFrom(source)
        copy.doc_string = ""
        return
    copy.dims.extend(source.dims)
    copy.data_type = source.data_type
    copy.data_location = TensorProto.EXTERNAL
