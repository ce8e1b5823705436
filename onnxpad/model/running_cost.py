"""What running a model costs at most, told beforehand from sizes that follow from its inputs.

Sizes that the file only declares do not count. Where a size does not follow, or an operator's work
does not go with the cells that it reads and writes, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from math import prod
from typing import Any, NamedTuple

from numpy.typing import NDArray
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from onnxpad import processes
from onnxpad.errors import OnnxpadError
from onnxpad.model.reading.context import Context
from onnxpad.model.reading.nodes import Node
from onnxpad.model.reading.survey import Survey
from onnxpad.model.shapes.inference_bounds import follows_little
from onnxpad.model.shapes.types import Type, dtype_code, is_named
from onnxpad.padding.operators import MICROSOFT, PLAIN_DOMAINS, plain_domain

_SMALL = 64
_MOST_NODES = 2_000
"""Looking through more nodes takes longer than starting a child."""
# Operators whose work goes with the cells that they read and write. Those that end the whole
# process on odd attributes are left out: onnxruntime 1.31.1 does so at the axis of a OneHot.
_LINEAR = frozenset(
    """Abs Acos Acosh Add And Asin Asinh Atan Atanh BatchNormalization Cast CastLike Ceil Celu Clip
    Concat Constant ConstantOfShape Cos Cosh DepthToSpace DequantizeLinear Div Dropout
    DynamicQuantizeLinear Elu Equal Erf Exp Expand Flatten Floor Gather Gelu GlobalAveragePool
    GlobalMaxPool Greater GreaterOrEqual HardSigmoid HardSwish Identity If InstanceNormalization
    IsInf IsNaN LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax Max Mean Min Mish Mod
    Mul Neg Not Or PRelu Pad Pow QuantizeLinear Range Reciprocal ReduceMax ReduceMean ReduceMin
    ReduceSum Relu Reshape Round Selu Shape Sigmoid Sign Sin Sinh Size Slice Softmax Softplus
    Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Tan Tanh Tile Transpose Unsqueeze Upsample
    Where Xor QLinearAdd QLinearConcat QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul
    QLinearSigmoid QLinearSoftmax""".split()  # noqa: SIM905
)
# Where the kernel stands among the inputs of an operator that multiplies by one.
_KERNELS = {"Conv": 1, "FusedConv": 1, "ConvInteger": 1, "QLinearConv": 3, "NhwcConv": 1}
_POOLS = {"AveragePool", "LpPool", "MaxPool", "QLinearAveragePool"}
_PRODUCTS = {"Gemm", "MatMul", "MatMulInteger", "QLinearMatMul", "FusedMatMul"}
_PER_RESIZED = 64
_PER_CELL = 16
"""Steps that a cell counts for, where a step is a multiplication in a convolution."""


MOST_MEMORY, MOST_STEPS = 512 * 2**20, 10**10
"""What a model may cost that runs in this process, where nothing can end it: about a second."""


class RunningCost(NamedTuple):
    """`cells` of all tensors, `memory` in bytes that they take at once, `steps` of work."""

    cells: int
    memory: int
    steps: int

    def times(self, factor: int) -> RunningCost:
        """The cost of a model that does so much more."""
        return RunningCost(*(factor * one for one in self))


def types_of(values: Mapping[str, NDArray[Any]]) -> dict[str, Type]:
    """Types of arrays by name."""
    return {name: Type(str(value.dtype), value.shape) for name, value in values.items()}


_AT_ONCE = 16
"""Times what one run takes: two models, optimised or not, with what each of them gave, and what
onnxruntime keeps for its next run; 10 times was measured."""


def is_small(cost: RunningCost | None) -> bool:
    """Whether a model of this cost may run in this process: not beyond the limits of the work."""
    if cost is None:
        return False
    asked = processes.current()
    memory = MOST_MEMORY if asked.memory is None else min(MOST_MEMORY, asked.memory // _AT_ONCE)
    seconds = 1.0 if asked.seconds is None else min(1.0, asked.seconds)
    return cost.memory <= memory and cost.steps <= seconds * MOST_STEPS


def running_cost(model: ModelProto, inputs: Mapping[str, Type]) -> RunningCost | None:
    """What running a model on inputs of these types costs at most; None where that is not known.

    Local functions have to be inlined.
    """
    if model.functions or model.graph.sparse_initializer or len(model.graph.node) > _MOST_NODES:
        return None
    if not all(map(is_named, inputs.values())):
        return None
    bare = _without_claims(model, inputs)
    if not follows_little(bare):
        return None
    try:
        contexts = Survey(bare).typed_contexts()
    except (OnnxpadError, ValueError, OverflowError, RecursionError):
        return None
    cells = memory = steps = 0
    kept = {value.name for value in model.graph.output}
    for context in contexts:
        found = _cost_of_scope(context, kept if context.outer is None else None)
        if found is None:
            return None
        cells, memory, steps = (
            sum(pair) for pair in zip((cells, memory, steps), found, strict=True)
        )
    return RunningCost(cells, memory, steps)


def _cost_of_scope(context: Context, kept: set[str] | None) -> RunningCost | None:
    """The cost of one graph; `kept` are tensors that stay until its end, None for all."""
    cells = memory = steps = peak = 0
    nodes = list(context.scope.ordered())
    last = {name: place for place, node in enumerate(nodes) for name in _read_by(context, node)}
    dying: dict[int, int] = {}
    for place, node in enumerate(nodes):
        work = _steps(context, node)
        made = [_size(context.type_of(name)) for name in node.outputs if name]
        if work is None or None in made:
            return None
        steps += work
        for name, size in zip(filter(None, node.outputs), made, strict=True):
            count, width = size or (0, 0)
            cells += count
            memory += count * width
            if kept is not None and name not in kept:
                end = last.get(name, place)
                dying[end] = dying.get(end, 0) + count * width
        peak = max(peak, memory)
        memory -= dying.pop(place, 0)
    return RunningCost(cells, peak, steps)


def _read_by(context: Context, node: Node) -> Iterator[str]:
    yield from node.inputs
    for _, body in context.scope.children.get(node.key, ()):
        for inner in body.ordered():
            yield from inner.inputs


def _size(found: Type) -> tuple[int, int] | None:
    """Cells and bytes of each."""
    if found.dims is None or not all(isinstance(size, int) for size in found.dims):
        return None
    sizes = [size for size in found.dims if isinstance(size, int)]
    count = prod(sizes)
    if min(sizes, default=0) < 0 or not found.dtype or found.dtype == "string":
        return None
    return count, _width(found.dtype)


def _width(dtype: str) -> int:
    digits = "".join(filter(str.isdigit, dtype.removeprefix("float8").removeprefix("bfloat")))
    bits = int(digits[:3]) if digits else 8
    return max(1, bits // 8)


def _cells(context: Context, node: Node, place: int) -> int | None:
    name = node.inputs[place] if place < len(node.inputs) else ""
    found = _size(context.type_of(name)) if name else (0, 0)
    return None if found is None else found[0]


def _steps(context: Context, node: Node) -> int | None:
    if node.domain not in PLAIN_DOMAINS and plain_domain(node.domain) != MICROSOFT:
        return None
    read = [_cells(context, node, place) for place in range(len(node.inputs))]
    wrote = [_size(context.type_of(name)) for name in node.outputs if name]
    if None in read or None in wrote:
        return None
    cells = sum(one or 0 for one in read) + sum(one[0] for one in wrote if one)
    out = wrote[0][0] if wrote and wrote[0] else 0
    more = _more_steps(context, node, out)
    return None if more is None else _PER_CELL * cells + more


def _more_steps(context: Context, node: Node, out: int) -> int | None:
    """Steps beside those for cells; None where they are not known."""
    kind, read = node.op_type, partial(_read_cells, context, node)
    if kind in _LINEAR:
        return 0
    if kind in _KERNELS:
        return out * _per_output(context, node, _KERNELS[kind])
    if kind == "ConvTranspose":
        return read(0) * _per_output(context, node, 1)
    if kind in _PRODUCTS:
        sizes = context.type_of(node.inputs[0]).dims or ()
        return out * max((size for size in sizes if isinstance(size, int)), default=1)
    if kind in _POOLS:
        kernel = context.attributes(node).get("kernel_shape")
        taps = prod(map(int, kernel)) if isinstance(kernel, tuple) else out
        return _PER_CELL * out * taps
    return _PER_RESIZED * _PER_CELL * out if kind == "Resize" else None


def _read_cells(context: Context, node: Node, place: int) -> int:
    return _cells(context, node, place) or 0


def _per_output(context: Context, node: Node, place: int) -> int:
    """Cells of the kernel for one cell of the result."""
    dims = context.type_of(node.inputs[place]).dims or () if place < len(node.inputs) else ()
    return prod(size for size in dims[1:] if isinstance(size, int))


def _without_claims(model: ModelProto, inputs: Mapping[str, Type]) -> ModelProto:
    """The model without large constants and what it declares of results, its inputs as given."""
    bare = ModelProto(ir_version=model.ir_version)
    bare.opset_import.extend(model.opset_import)
    graph, source = bare.graph, model.graph
    graph.name = source.name
    for value in source.input:
        if value.name in inputs:
            _declare(graph.input.add(), value.name, inputs[value.name])
    graph.output.extend(ValueInfoProto(name=value.name) for value in source.output)
    for tensor in source.initializer:
        _add_constant(graph, tensor)
    graph.node.extend(_plain_nodes(source.node, graph))
    return bare


def _add_constant(graph: GraphProto, tensor: TensorProto, name: str = "") -> None:
    if prod(tensor.dims) <= _SMALL and tensor.data_location != TensorProto.EXTERNAL:
        graph.initializer.append(tensor)
    else:
        value = graph.input.add()
        value.name = name or tensor.name
        value.type.tensor_type.elem_type = tensor.data_type
        value.type.tensor_type.shape.SetInParent()
        for size in tensor.dims:
            value.type.tensor_type.shape.dim.add().dim_value = size


def _plain_nodes(nodes: Iterable[NodeProto], graph: GraphProto | None) -> Iterator[NodeProto]:
    """The nodes; large Constants become inputs of the main graph, bodies lose their claims."""
    for node in nodes:
        held = node.attribute[0].t if node.op_type == "Constant" and node.attribute else None
        if graph is not None and held is not None and prod(held.dims) > _SMALL and node.output:
            _add_constant(graph, held, node.output[0])
        elif any(
            one.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for one in node.attribute
        ):
            copy = NodeProto()
            copy.CopyFrom(node)
            for attribute in copy.attribute:
                for body in (attribute.g, *attribute.graphs) if _has_bodies(attribute) else ():
                    _drop_claims(body)
            yield copy
        else:
            yield node


def _has_bodies(attribute: AttributeProto) -> bool:
    return attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS)


def _drop_claims(body: GraphProto) -> None:
    del body.value_info[:]
    for value in body.output:
        value.ClearField("type")
    for node in body.node:
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs) if _has_bodies(attribute) else ():
                _drop_claims(inner)


def _declare(value: ValueInfoProto, name: str, found: Type) -> None:
    value.name = name
    tensor = value.type.tensor_type
    tensor.elem_type = dtype_code(found.dtype)
    tensor.shape.SetInParent()
    for size in found.dims or ():
        dim = tensor.shape.dim.add()
        if isinstance(size, int):
            dim.dim_value = size
