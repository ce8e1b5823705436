"""What running a model costs at most, told beforehand from sizes that follow from its inputs.

Sizes that the file only declares do not count. Where a size does not follow, or an operator's work
does not go with the cells that it reads and writes, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from math import prod
from typing import Any, NamedTuple

from numpy.typing import NDArray
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from onnxpad import processes
from onnxpad.errors import OnnxpadError
from onnxpad.geometry.size import Size, Symbol
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import Type, dtype_code, is_named
from onnxpad.model.reading.survey import Survey
from onnxpad.model.shapes.dimensions import Dimensions
from onnxpad.model.shapes.inference_bounds import every_node, follows_little
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
_FEW_CELLS = 2**18
"""Cells of inputs beyond which a look at larger ones would tell nothing of use."""
_BATCH, _SAMPLED = 8, 128
"""The largest size that may be a batch; one that samples of other axes seldom exceed."""
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


def _has_many_nodes(graph: GraphProto) -> bool:
    return next(islice(every_node(graph.node), _MOST_NODES, None), None) is not None


def types_of(values: Mapping[str, NDArray[Any]]) -> dict[str, Type]:
    """Types of arrays by name."""
    return {name: Type(str(value.dtype), value.shape) for name, value in values.items()}


_AT_ONCE = 16
"""Times what one run takes: two models, optimised or not, with what each of them gave, and what
onnxruntime keeps for its next run; 10 times was measured."""


_ROOM = 16
"""What is not known exactly leaves so much: a run with noise costs 12 times."""


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
    return RunningCosts(model).at(inputs)


class RunningCosts:
    """What runs of one model cost, whose inputs may have many sizes."""

    def __init__(self, model: ModelProto) -> None:
        graph = model.graph
        told = not (model.functions or graph.sparse_initializer or _has_many_nodes(graph))
        self._bare = _without_claims(model) if told else None
        self._inputs = graph.input
        self._is_open = any(
            not dim.HasField("dim_value")
            for value in graph.input
            for dim in value.type.tensor_type.shape.dim
        )
        self._stated: dict[str, Type] | None = None
        self._known: dict[tuple[tuple[str, Type], ...], RunningCost | None] = {}

    @property
    def content(self) -> bytes:
        """Models of which this is equal cost the same."""
        return b"" if self._bare is None else self._bare.SerializeToString()

    def bound(self, inputs: Mapping[str, Type]) -> RunningCost | None:
        """What a run costs at most, be it what larger inputs cost; None where that is not known.

        Where every size inside grows with those of the inputs, few looks tell of many sizes.
        """
        if _key(inputs) in self._known or not self._has_room(inputs):
            return self.at(inputs)
        own = self._open_sizes(inputs)
        if not own:
            return self.at(inputs)
        for given, found in self._known.items():
            larger = self._open_sizes(dict(given)) or {}
            if larger and all(own[name] <= size for name, size in larger.items()):
                return found
        found = self.at({name: self._rounded_up(name, one) for name, one in inputs.items()})
        return found if _leaves_room(found) else self.at(inputs)

    def _has_room(self, inputs: Mapping[str, Type]) -> bool:
        """Whether larger inputs may be looked at in place of these: small ones of open sizes."""
        cells = sum(one[0] for one in map(_size, inputs.values()) if one)
        return (
            self._is_open and cells <= _FEW_CELLS and all(map(_leaves_room, self._known.values()))
        )

    def at(self, inputs: Mapping[str, Type]) -> RunningCost | None:
        """What a run on inputs of these types costs at most; None where that is not known."""
        key = _key(inputs)
        if key not in self._known:
            self._known[key] = self._looked_up(inputs)
        return self._known[key]

    def _looked_up(self, inputs: Mapping[str, Type]) -> RunningCost | None:
        if self._bare is None or not all(map(is_named, inputs.values())):
            return None
        bare = _fed(self._bare, inputs)
        kept = {value.name for value in bare.graph.output}
        cost = RunningCost(0, 0, 0)
        contexts = _read(bare) if follows_little(bare) else ()
        for context in contexts:
            found = _cost_of_scope(context, kept if context.outer is None else None)
            if found is None:
                return None
            cost = RunningCost(*map(sum, zip(cost, found, strict=True)))
        return cost if contexts else None

    def _growing(self, given: Iterable[str]) -> dict[str, Type]:
        """These inputs as the model states them, where every size grows with those left open."""
        dimensions = Dimensions()
        stated = {
            value.name: dimensions.type_of(value.type, value.name, is_input=True)
            for value in self._inputs
        }
        stated = {name: found for name, found in stated.items() if name in given}
        if self._bare is None or not all(is_named(one) and _grows(one) for one in stated.values()):
            return {}
        contexts = _read(_fed(self._bare, stated), inferring=False)
        made = (
            context.type_of(name)
            for context in contexts
            for node in context.scope.ordered()
            for name in filter(None, node.outputs)
        )
        return stated if contexts and all(map(_grows, made)) else {}

    def _open_sizes(self, inputs: Mapping[str, Type]) -> dict[str, int] | None:
        """Sizes by the names of those that the model leaves open.

        None where some size inside may shrink as they grow, or they are not as the model says.
        """
        if self._stated is None:
            self._stated = self._growing(inputs)
        if self._stated.keys() != inputs.keys():
            return None
        found: dict[str, int] = {}
        for name, (dtype, dims) in inputs.items():
            stated = self._stated[name]
            if dtype != stated.dtype or len(dims or ()) != len(stated.dims or ()):
                return None
            for own, size in zip(stated.dims or (), dims or (), strict=True):
                if not isinstance(size, int):
                    return None
                said = found.setdefault(own.name, size) if isinstance(own, Symbol) else own
                if said != size:
                    return None
        return found

    def _rounded_up(self, name: str, given: Type) -> Type:
        """The type with open sizes rounded up to a power of two that samples seldom exceed."""
        stated = (self._stated or {})[name].dims
        pairs = zip(stated or (), given.dims or (), strict=True)
        return given._replace(dims=tuple(_rounded(*pair) for pair in pairs))


def _rounded(stated: Size | None, size: Size | None) -> Size | None:
    if not isinstance(stated, Symbol) or not isinstance(size, int):
        return size
    least = _SAMPLED if size > _BATCH else 2
    return max(least, 1 << (size - 1).bit_length())


def _grows(found: Type) -> bool:
    """Whether all sizes are numbers, or made of one open size by what never makes it smaller.

    Such sizes have a root: it was multiplied, divided and rounded, and numbers were added.
    """
    return found.dims is not None and all(
        isinstance(size, int) or (size is not None and size.root is not None) for size in found.dims
    )


def _leaves_room(found: RunningCost | None) -> bool:
    """Whether a model of this cost is small, and would be where its inputs are somewhat larger."""
    return found is not None and is_small(found.times(_ROOM))


def _key(inputs: Mapping[str, Type]) -> tuple[tuple[str, Type], ...]:
    return tuple(sorted(inputs.items()))


def _read(bare: ModelProto, *, inferring: bool = True) -> Sequence[Context]:
    """Every reading of every graph in it; none where it cannot be read."""
    try:
        survey = Survey(bare, inferring=inferring)
        return survey.typed_contexts() if inferring else survey.contexts
    except (OnnxpadError, ValueError, OverflowError, RecursionError):
        return ()


def _cost_of_scope(context: Context, kept: set[str] | None) -> RunningCost | None:
    """The cost of one graph; `kept` are tensors that stay until its end, None for all."""
    cells = memory = steps = peak = 0
    nodes = list(context.scope.ordered())
    last = {name: index for index, node in enumerate(nodes) for name in _read_by(context, node)}
    dying: dict[int, int] = {}
    for index, node in enumerate(nodes):
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
                end = last.get(name, index)
                dying[end] = dying.get(end, 0) + count * width
        peak = max(peak, memory)
        memory -= dying.pop(index, 0)
    return RunningCost(cells, peak, steps)


def _read_by(context: Context, node: Node) -> Iterator[str]:
    yield from node.inputs
    for _, body in context.scope.children.get(node.key, ()):
        for inner in body.ordered():
            yield from inner.inputs


@lru_cache(maxsize=1024)
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


def _cells(context: Context, node: Node, position: int) -> int | None:
    name = node.inputs[position] if position < len(node.inputs) else ""
    found = _size(context.type_of(name)) if name else (0, 0)
    return None if found is None else found[0]


def _steps(context: Context, node: Node) -> int | None:
    if node.domain not in PLAIN_DOMAINS and plain_domain(node.domain) != MICROSOFT:
        return None
    read = [_cells(context, node, index) for index in range(len(node.inputs))]
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


def _read_cells(context: Context, node: Node, position: int) -> int:
    return _cells(context, node, position) or 0


def _per_output(context: Context, node: Node, position: int) -> int:
    """Cells of the kernel for one cell of the result."""
    dims = context.type_of(node.inputs[position]).dims or () if position < len(node.inputs) else ()
    return prod(size for size in dims[1:] if isinstance(size, int))


def _without_claims(model: ModelProto) -> ModelProto:
    """The model without its inputs, large constants and what it declares of results."""
    bare = ModelProto(ir_version=model.ir_version)
    bare.opset_import.extend(model.opset_import)
    graph, source = bare.graph, model.graph
    graph.name = source.name
    graph.output.extend(ValueInfoProto(name=value.name) for value in source.output)
    for tensor in source.initializer:
        _add_constant(graph, tensor)
    graph.node.extend(_plain_nodes(source.node, graph))
    return bare


def _fed(bare: ModelProto, inputs: Mapping[str, Type]) -> ModelProto:
    """A copy of a model without inputs that has these."""
    found = ModelProto()
    found.CopyFrom(bare)
    for name, type_ in inputs.items():
        _declare(found.graph.input.add(), name, type_)
    return found


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
        elif size is not None:
            dim.dim_param = size.name
