"""Types of what padded operators, branches and constants give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import AttributeProto, GraphProto, TensorProto

from onnxpad.chain import Chain
from onnxpad.geometry.size import Size, plus, times
from onnxpad.graph.reading.context import Context, tensor_type
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.types import UNKNOWN, Type
from onnxpad.ops import Kind


def merge(declared: Type, found: Type) -> Type:
    """What a rule found, completed by what the file or shape inference says."""
    if found.dims is None:
        return Type(found.dtype or declared.dtype, declared.dims)
    if declared.dims is None or len(declared.dims) != len(found.dims):
        return Type(found.dtype or declared.dtype, found.dims)
    pairs = zip(found.dims, declared.dims, strict=True)
    dims = tuple(said if own is None else own for own, said in pairs)
    return Type(found.dtype or declared.dtype, dims)


def padded_type(chain: Chain, source: Type) -> Type:
    """Output type of a Pad node whose pads are known."""
    step = chain.pad
    if step is None or source.dims is None:
        return Type(source.dtype)
    sizes = zip(source.dims, step.pads.begins, step.pads.ends, strict=True)
    return Type(
        source.dtype,
        tuple(_real(None if size is None else plus(size, b + e)) for size, b, e in sizes),
    )


def window_type(
    context: Context, node: Node, chain: Chain, source: Type, sizes: tuple[Size | None, ...]
) -> Type:
    """Output type of a convolution or pool whose windows give `sizes` cells."""
    batch = source.dims[0] if source.dims else None
    channels = _channels(context, node, chain, source)
    last = chain.first_axis == 1
    sizes = tuple(_fitting(size) for size in sizes)
    dims = (batch, *sizes, channels) if last else (batch, channels, *sizes)
    return Type(_dtype(context, node, chain, source), dims)


def _real(size: Size | None) -> Size | None:
    """A size that can be; padding that crops more than there is gives none."""
    return None if isinstance(size, int) and size < 0 else size


def _fitting(size: Size | None) -> Size | None:
    """An output size that can be: where no window fits, onnxruntime makes one cell or none."""
    return None if isinstance(size, int) and size < 1 else size


def _dtype(context: Context, node: Node, chain: Chain, source: Type) -> str:
    if chain.op.name == "ConvInteger":
        return "int32"
    zero = 7 if chain.op.name == "QLinearConv" else 4 if chain.op.quantised else None
    if zero is not None and len(node.inputs) > zero and node.inputs[zero]:
        return context.type_of(node.inputs[zero]).dtype or source.dtype
    return source.dtype


def _channels(context: Context, node: Node, chain: Chain, source: Type) -> Size | None:
    position = chain.op.weight
    if position is None:
        place = len(source.dims) - 1 if source.dims and chain.first_axis == 1 else 1
        return source.dims[place] if source.dims else None
    dims = context.type_of(node.inputs[position]).dims if len(node.inputs) > position else None
    if not dims or chain.op.channels_last:
        return None
    if chain.op.kind is not Kind.TRANSPOSED:
        return dims[0]
    group = context.attributes(node).get("group", 1)
    return times(dims[1], group) if dims[1] is not None and isinstance(group, int) else None


def carried_types(body: GraphProto, types: Mapping[str, Type]) -> dict[str, Type]:
    """What the inputs of a Loop's body are in every turn, not only in the first.

    A size stays that is declared alike where the state comes in and where it goes out.
    """
    found = {}
    for given, left in zip(body.input[2:], body.output[1:], strict=False):
        known, after = types.get(given.name, UNKNOWN), types.get(left.name, UNKNOWN)
        if known.dims is not None:
            ends = after.dims if len(after.dims or ()) == len(known.dims) else None
            pairs = zip(known.dims, ends or (None,) * len(known.dims), strict=True)
            sizes = tuple(size if size == end else None for size, end in pairs)
            found[given.name] = Type(known.dtype, sizes)
    return found


def branch_types(bodies: Sequence[Context]) -> list[Type]:
    """Outputs of an If: what both branches agree on."""
    columns = []
    for body in bodies:
        graph = body.scope.proto
        if isinstance(graph, GraphProto):
            columns.append([body.type_of(value.name) for value in graph.output])
    return [_agreed(pair) for pair in zip(*columns, strict=False)]


def _agreed(pair: tuple[Type, ...]) -> Type:
    first, second = pair[0], pair[-1]
    dtype = first.dtype if first.dtype == second.dtype else ""
    if first.dims is None or second.dims is None or len(first.dims) != len(second.dims):
        return Type(dtype)
    both = zip(first.dims, second.dims, strict=True)
    return Type(dtype, tuple(one if one == other else None for one, other in both))


def constant_type(value: TensorProto | AttributeProto) -> Type:
    """Type of a Constant node's output."""
    if isinstance(value, TensorProto):
        return tensor_type(value)
    match value.name:
        case "value_int":
            return Type("int64", ())
        case "value_ints":
            return Type("int64", (len(value.ints),))
        case "value_float":
            return Type("float32", ())
        case "value_floats":
            return Type("float32", (len(value.floats),))
        case _:
            return UNKNOWN
