"""What running a model costs at most, told beforehand from sizes that follow from its inputs.

Sizes that the file only declares do not count. Where a size does not follow, or an operator's work
does not go with the cells that it reads and writes, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice, repeat
from math import prod
from typing import Any, NamedTuple

from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from onnxpad import processes
from onnxpad.errors import OnnxpadError
from onnxpad.geometry.size import Size
from onnxpad.model.costs.largest_sizes import MOST_NODES, Largest, Made
from onnxpad.model.costs.rule_facts import WIDTH, NoBoundError
from onnxpad.model.costs.size_rules import SIZE_RULES
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node, bodies, every_node
from onnxpad.model.graph.types import Type, is_named, value_info, write_sizes
from onnxpad.model.reading.survey import Survey, without_collections
from onnxpad.model.shapes.inference_bounds import follows_little
from onnxpad.padding.operators import MICROSOFT, PLAIN_DOMAINS, plain_domain

MOST_MEMORY, MOST_STEPS = 512 * 2**20, 10**10
"""What a model may cost that runs in this process, where nothing can end it: about a second."""
_AT_ONCE = 16
"""Times what one run takes: two models, optimised or not, with what each of them gave, and what
onnxruntime keeps for its next run; 10 times was measured."""
_ROOM = 16
"""What is not known exactly leaves so much: a run with noise costs 12 times."""
_SMALL = 64
"""Cells of a constant that stays one where a model is read for its cost."""
# Operators whose work goes with the cells that they read and write, and all with a rule of sizes
# that `_more_steps` says nothing else of. Those that end the whole process on odd attributes are
# left out: onnxruntime 1.31.1 does so at the axis of a OneHot.
_LINEAR = SIZE_RULES.keys() | {
    *("CastLike", "Constant", "DynamicQuantizeLinear", "If", "QLinearAdd", "QLinearConcat"),
    *("QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearMul", "QLinearSigmoid"),
    *("QLinearSoftmax", "Range", "Shape", "Size", "Tile"),
}
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
    return {name: Type(_name_of(value.dtype), value.shape) for name, value in values.items()}


_name_of = lru_cache(maxsize=64)(str)


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
        self._model = model
        self._bounds: list[tuple[Mapping[str, Sequence[Size | None]], RunningCost]] = []
        self._untold: dict[tuple[tuple[str, Type], ...], RunningCost | None] = {}
        self._open = {
            value.name: [dim.dim_value < 1 for dim in value.type.tensor_type.shape.dim]
            for value in model.graph.input
        }

    def hold_for(self, model: ModelProto) -> bool:
        """Whether another model surely costs the same."""
        return bool(self._model == model)

    @cached_property
    def _read(self) -> ReadCosts | None:
        model, graph = self._model, self._model.graph
        is_told = not (model.functions or graph.sparse_initializer or _has_many_nodes(graph))
        return ReadCosts(_without_claims(model)) if is_told else None

    def bound(self, inputs: Mapping[str, Type]) -> RunningCost | None:
        """What a run costs at most, be it what larger inputs cost; None where that is not known.

        One look at the largest sizes tells of many inputs; where it tells too little, the model is
        read with these.
        """
        found = self.covering({name: one.dims or () for name, one in inputs.items()})
        key = tuple(sorted(inputs.items()))
        if found is not None or key in self._untold:
            return found or self._untold[key]
        for given in (self._rounded_up(inputs), inputs) if not self._model.functions else ():
            found = largest_cost(self._model.graph, given)
            if found is not None and _leaves_room(found):
                self._bounds.append(({name: one.dims or () for name, one in given.items()}, found))
                return found
        self._untold[key] = self.at(inputs)
        return self._untold[key]

    def covering(self, shapes: Mapping[str, Sequence[Size | None]]) -> RunningCost | None:
        """What a look at inputs at least as large told, None where there was none."""
        for larger, cost in self._bounds:
            if larger.keys() == shapes.keys() and all(
                _is_within(own, larger[name]) for name, own in shapes.items()
            ):
                return cost
        return None

    def at(self, inputs: Mapping[str, Type]) -> RunningCost | None:
        """What a run on inputs of these types costs at most; None where that is not known."""
        return None if self._read is None else self._read.at(inputs)

    def _rounded_up(self, inputs: Mapping[str, Type]) -> Mapping[str, Type]:
        """The types with open sizes rounded up to what samples seldom exceed, if they are small."""
        if sum(one[0] for one in map(_size, inputs.values()) if one) > _FEW_CELLS:
            return inputs
        return {
            name: found._replace(dims=tuple(map(_rounded, found.dims or (), self._open[name])))
            if len(self._open.get(name, ())) == len(found.dims or ())
            else found
            for name, found in inputs.items()
        }


class ReadCosts:
    """The same, of a model that is read with the sizes of its inputs."""

    def __init__(self, bare: ModelProto) -> None:
        self._bare = bare
        self._known: dict[tuple[tuple[str, Type], ...], RunningCost | None] = {}

    def at(self, inputs: Mapping[str, Type]) -> RunningCost | None:
        """What a run on inputs of these types costs at most; None where that is not known."""
        key = tuple(sorted(inputs.items()))
        if key not in self._known:
            self._known[key] = self._looked_up(inputs)
        return self._known[key]

    def _looked_up(self, inputs: Mapping[str, Type]) -> RunningCost | None:
        if not all(map(is_named, inputs.values())):
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


@without_collections()
def largest_cost(graph: GraphProto, inputs: Mapping[str, Type]) -> RunningCost | None:
    """What a run on these inputs, or smaller ones, costs at most; None where that is not known."""
    sizes = list(map(_size, inputs.values()))
    if not all(map(is_named, inputs.values())) or any(
        one is None or one[1] > WIDTH for one in sizes
    ):
        return None
    known = {name: tuple(map(int, one.dims or ())) for name, one in inputs.items()}  # type: ignore[arg-type]
    try:
        made = Largest(graph, known, None).made()
    except NoBoundError:
        return None
    return _cost_of_made(made, {value.name for value in graph.output})


def _cost_of_made(made: Sequence[Made], kept: set[str] | None) -> RunningCost | None:
    steps: list[_Step] = []
    inside: list[RunningCost] = []
    for facts, wrote, inner in made:
        cells = [prod(dims) for dims in wrote]
        kind = facts.node.op_type
        taps = facts.integers("kernel_shape") if kind in _POOLS else None
        more = _more_steps(kind, facts.dims, cells[0], taps)
        costs = [_cost_of_made(body, None) for body in inner]
        if more is None or None in costs:
            return None
        inside += filter(None, costs)
        work = _PER_CELL * (sum(map(prod, facts.dims)) + sum(cells)) + more
        read = [*facts.names, *(name for body in inner for name in _names_read(body))]
        steps.append(_Step(read, list(zip(facts.node.output, cells, repeat(WIDTH))), work))
    return RunningCost(*map(sum, zip(_cost_of_steps(steps, kept), *inside, strict=True)))


def _names_read(made: Sequence[Made]) -> Iterator[str]:
    for facts, _, inner in made:
        yield from facts.names
        for body in inner:
            yield from _names_read(body)


def _has_many_nodes(graph: GraphProto) -> bool:
    return next(islice(every_node(graph.node), MOST_NODES, None), None) is not None


def _is_within(own: Sequence[Size | None], larger: Sequence[Size | None]) -> bool:
    """Whether there are cells, and no size is beyond that of the other."""
    return len(own) == len(larger) and all(
        isinstance(size, int) and isinstance(most, int) and 0 < size <= most
        for size, most in zip(own, larger, strict=True)
    )


def _rounded(size: Size | None, is_open: bool) -> Size | None:  # noqa: FBT001 - two of `map`
    if not is_open or not isinstance(size, int):
        return size
    least = _SAMPLED if size > _BATCH else 2
    return max(least, 1 << (size - 1).bit_length())


def _leaves_room(found: RunningCost | None) -> bool:
    """Whether a model of this cost is small, and would be where its inputs are somewhat larger."""
    return found is not None and is_small(found.times(_ROOM))


def _read(bare: ModelProto) -> Sequence[Context]:
    """Every reading of every graph in it; none where it cannot be read."""
    try:
        return Survey(bare).typed_contexts()
    except (OnnxpadError, ValueError, OverflowError, RecursionError):
        return ()


class _Step(NamedTuple):
    """A node: what it reads, what it writes (names, cells, bytes of each), its work."""

    read: list[str]
    wrote: list[tuple[str, int, int]]
    work: int


def _cost_of_scope(context: Context, kept: set[str] | None) -> RunningCost | None:
    """The cost of one graph; `kept` are tensors that stay until its end, None for all."""
    steps = []
    for node in context.scope.ordered():
        work = _steps(context, node)
        wrote = [(name, _size(context.type_of(name))) for name in node.outputs if name]
        known = [(name, *size) for name, size in wrote if size is not None]
        if work is None or len(known) < len(wrote):
            return None
        steps.append(_Step(list(_read_by(context, node)), known, work))
    return _cost_of_steps(steps, kept)


def _cost_of_steps(steps: Sequence[_Step], kept: set[str] | None) -> RunningCost:
    cells = memory = peak = 0
    last = {name: index for index, step in enumerate(steps) for name in step.read}
    dying: dict[int, int] = {}
    for index, step in enumerate(steps):
        for name, count, width in step.wrote:
            cells += count
            memory += count * width
            if kept is not None and name not in kept:
                end = last.get(name, index)
                dying[end] = dying.get(end, 0) + count * width
        peak = max(peak, memory)
        memory -= dying.pop(index, 0)
    return RunningCost(cells, peak, sum(step.work for step in steps))


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


def _steps(context: Context, node: Node) -> int | None:
    if node.domain not in PLAIN_DOMAINS and plain_domain(node.domain) != MICROSOFT:
        return None
    types = [context.type_of(name) if name else _LEFT_OUT for name in node.inputs]
    sizes = [*map(_size, types), *(_size(context.type_of(name)) for name in node.outputs if name)]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    read = [tuple(size for size in found.dims or () if isinstance(size, int)) for found in types]
    out = known[len(types)][0] if len(known) > len(types) else 0
    kernel = context.attributes(node).get("kernel_shape") if node.op_type in _POOLS else None
    more = _more_steps(node.op_type, read, out, kernel if isinstance(kernel, tuple) else None)
    return None if more is None else _PER_CELL * sum(size[0] for size in known) + more


_LEFT_OUT = Type("float32", (0,))


def _more_steps(
    kind: str, read: Sequence[Sequence[int]], out: int, kernel: Sequence[Any] | None
) -> int | None:
    """Steps beside those for cells, from the sizes of what is read; None if they are not known."""
    if kind in _KERNELS:
        return out * _per_output(read, _KERNELS[kind])
    if kind == "ConvTranspose":
        return prod(read[0]) * _per_output(read, 1) if read else 0
    if kind in _PRODUCTS:
        return out * max(read[0], default=1)
    if kind in _POOLS:
        return _PER_CELL * out * (out if kernel is None else prod(map(int, kernel)))
    if kind == "Resize":
        return _PER_RESIZED * _PER_CELL * out
    return 0 if kind in _LINEAR else None


def _per_output(read: Sequence[Sequence[int]], position: int) -> int:
    """Cells of the kernel for one cell of the result."""
    return prod(read[position][1:]) if position < len(read) else 1


def _without_claims(model: ModelProto) -> ModelProto:
    """The model without its inputs, large constants and what it declares of results."""
    bare = ModelProto(ir_version=model.ir_version)
    bare.opset_import.extend(model.opset_import)
    graph, source = bare.graph, model.graph
    graph.name = source.name
    graph.output.extend(ValueInfoProto(name=value.name) for value in source.output)
    for tensor in source.initializer:
        _add_constant(graph, tensor)
    graph.node.extend(_plain_nodes(graph, source.node))
    return bare


def _fed(bare: ModelProto, inputs: Mapping[str, Type]) -> ModelProto:
    """A copy of a model without inputs that has these."""
    found = ModelProto()
    found.CopyFrom(bare)
    for name, type_ in inputs.items():
        found.graph.input.append(value_info(name, type_))
    return found


def _add_constant(graph: GraphProto, tensor: TensorProto, name: str = "") -> None:
    if prod(tensor.dims) <= _SMALL and tensor.data_location != TensorProto.EXTERNAL:
        graph.initializer.append(tensor)
    else:
        value = graph.input.add(name=name or tensor.name)
        value.type.tensor_type.elem_type = tensor.data_type
        write_sizes(value, tensor.dims)


def _plain_nodes(graph: GraphProto, nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """The nodes; large Constants become inputs of the graph, bodies lose their claims."""
    for node in nodes:
        held = node.attribute[0].t if node.op_type == "Constant" and node.attribute else None
        if held is not None and prod(held.dims) > _SMALL and node.output:
            _add_constant(graph, held, node.output[0])
        elif bodies(node):
            copy = NodeProto()
            copy.CopyFrom(node)
            for inner in every_node([copy]):
                for body in bodies(inner):
                    _drop_claims(body)
            yield copy
        else:
            yield node


def _drop_claims(body: GraphProto) -> None:
    del body.value_info[:]
    for value in body.output:
        value.ClearField("type")
