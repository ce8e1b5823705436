"""Whether onnx's shape inference ends soon, told from the model alone.

Measured with onnx 1.23.2 and read in its source: time and memory go with the nodes of the model,
but for what follows the values of shapes. A Slice steps through them by its `steps`, which
overflow (a step of -2^63 never ends, one of 2^31 reads outside of its memory); a Concat of a
result with itself doubles them; a Cast, or any other operator that follows values, counts those
of one long axis one by one; the body of a function is inferred for every call, calls inside of
calls for each of these. A Slice of data with a size below 0, which windows larger than their input
have, ends the process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import onnx
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

from onnxpad.model.graph.nodes import bodies, every_node
from onnxpad.padding.operators import PLAIN_DOMAINS, operator

_MOST_CALLS = 10_000
MOST_VALUES = 10_000
LARGEST_STEP = 2**30
_ONE_AXIS = 64
# The operators through which onnx 1.23.2 follows values, and those that hold them.
FOLLOWED = {
    *("Add", "Cast", "Concat", "Gather", "Mul", "Size", "Slice", "Squeeze", "Sub", "Unsqueeze"),
}
# Operators whose result has as many axes as what they read, and no more cells.
_ALIKE = frozenset(
    """Abs Add And BatchNormalization Cast Ceil Clip CumSum DequantizeLinear Div Dropout Elu Equal
    Erf Exp Floor Gelu Greater HardSigmoid HardSwish Identity InstanceNormalization
    LayerNormalization LeakyRelu Less Log LogSoftmax Max Min Mish Mod Mul Neg Not Or PRelu Pow
    QuantizeLinear Reciprocal Relu Round Selu Sigmoid Sign Slice Softmax Softplus Split Sqrt Sub Sum
    Tanh Transpose Unsqueeze Where Xor""".split()  # noqa: SIM905
)
# These keep axes too, but not the cells.
_OTHER_CELLS = {
    *("Concat", "DepthToSpace", "Expand", "GlobalAveragePool", "GlobalMaxPool", "Pad", "Resize"),
    *("SpaceToDepth", "Tile", "Upsample"),
}
# These hand on what they read first, moved or fewer of it, whatever else they read.
_NO_MORE_CELLS = {"Cast", "Identity", "Neg", "Slice", "Transpose", "Unsqueeze"}
# By how many inputs they read: the last one holds the sizes of the result.
_SHAPED = {1: "ConstantOfShape", 2: "Reshape"}
_TWO_AXES = {"Flatten", "Gemm"}
_STEPS = 4
# They take sizes from their inputs and attributes.
_SIZED = {"CenterCropPad", "Expand", "Resize", "Split", "TopK", "Upsample"}


def is_bounded(model: ModelProto, *, data_prop: bool) -> bool:
    """Whether inference ends, at a cost that grows with nothing but the size of the model."""
    nodes = every_node(model.graph.node)
    if not model.functions and FOLLOWED.isdisjoint(node.op_type for node in nodes):
        return True  # nothing of what the look is for can be found
    look = _Look(model)
    if look.deep or (look.slices and look.doubts):
        return False
    return not (data_prop and (look.wild or look.long))


def follows_little(model: ModelProto) -> bool:
    """The same of a model all of whose sizes are known, and small."""
    look = _Look(model)
    return not (look.deep or look.wild)


def calls_in(model: ModelProto) -> int:
    """How many calls of local functions there are, those inside of each called one counted again.

    Counting ends beyond 2^62; a function that calls itself counts as that many.
    """
    functions = {(one.domain, one.name): one for one in model.functions}
    known: dict[tuple[str, str], int] = {}

    def count(nodes: Iterable[NodeProto], depth: int) -> int:
        total = 0
        for node in every_node(nodes):
            key = (node.domain, node.op_type)
            if key not in functions:
                continue
            if depth > len(functions):
                return 2**62
            if key not in known:
                known[key] = count(functions[key].node, depth + 1)
            total += 1 + known[key]
        return min(total, 2**62)

    return count(model.graph.node, 0)


@dataclass
class _Names:
    """What is known of tensors by name.

    `wide` are those of two axes and more, of which inference follows no values; `lengths` are the
    most cells that the others can have, and wide ones that only hand those on; 0 where inference
    knows no shape.
    """

    lengths: dict[str, int] = field(default_factory=dict)
    wide: set[str] = field(default_factory=set)
    constants: dict[str, TensorProto] = field(default_factory=dict)

    def copy(self) -> _Names:
        """For a body, whose names are its own."""
        return _Names(dict(self.lengths), set(self.wide), dict(self.constants))

    def declare(self, graph: GraphProto) -> None:
        """Take up what a graph is given."""
        for value in graph.input:
            dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            if len(dims) > 1:
                self.wide.add(value.name)
            self.lengths[value.name] = _cells(dims) if dims else 0
        for tensor in graph.initializer:
            self.hold(tensor.name, tensor)

    def hold(self, name: str, tensor: TensorProto) -> None:
        """Take up a constant."""
        self.constants[name] = tensor
        if len(tensor.dims) > 1:
            self.wide.add(name)
        self.lengths[name] = _cells(tensor.dims)

    def follow(self, node: NodeProto) -> None:
        """Take up what a node makes."""
        kind, name = node.op_type, node.output[0]
        sources = [one for one in node.input if one]
        if kind in _TWO_AXES or (kind != "Pad" and operator(node.domain, kind) is not None):
            self.wide.update(node.output)
        elif kind in _ALIKE or kind in _OTHER_CELLS:
            self._alike(node, sources if kind in _ALIKE or kind == "Concat" else sources[:1])
        elif kind == "MatMul" and self.wide.issuperset(sources):
            self.wide.add(name)
        elif kind in ("Shape", "Size"):
            self.lengths[name] = _ONE_AXIS
        elif kind == _SHAPED.get(len(sources)):
            self._shape(node, self.constants.get(sources[-1]))
        elif kind not in ("Squeeze", "Gather") or not self.wide.isdisjoint(sources):
            return
        elif self.lengths.keys() >= set(sources):
            self.lengths[name] = max(1, self.lengths[sources[-1 if kind == "Gather" else 0]])

    def _alike(self, node: NodeProto, sources: Sequence[str]) -> None:
        """Take up what has the axes of its sources."""
        if not self.wide.isdisjoint(sources):
            self.wide.update(node.output)
            if node.op_type in _NO_MORE_CELLS and sources[0] in self.lengths:
                self.lengths[node.output[0]] = self.lengths[sources[0]]
        elif self.lengths.keys() >= set(sources):
            known = [self.lengths[one] for one in sources]
            if node.op_type == "Concat":
                self.lengths[node.output[0]] = sum(known)
            elif node.op_type in _ALIKE:
                self.lengths.update(dict.fromkeys(node.output, max(known, default=0)))

    def _shape(self, node: NodeProto, target: TensorProto | None) -> None:
        """Take up what has the sizes that a constant says."""
        if target is None:
            return
        name, axes = node.output[0], prod(target.dims)
        if axes > 1:
            self.wide.add(name)
        sizes = _numbers(target) if 0 < axes <= _ONE_AXIS else None
        if sizes is None or not all(isinstance(size, int) for size in sizes):
            return
        whole = self.lengths.get(node.input[0], 0)
        stated = int(prod(size for size in sizes if size != -1))
        if min(sizes) > 0 or (node.op_type == "ConstantOfShape" and min(sizes) == 0):
            self.lengths[name] = stated
        elif min(sizes) == -1 and 0 < stated <= whole:
            self.lengths[name] = whole


class _Look:
    """What one look at a model finds.

    `deep` says that functions are called too often. `wild` that more values of shapes would be
    followed than `MOST_VALUES`, or in wild steps; `long` that the cells of one long axis may be.
    `slices` are nodes that cut data, `doubts` what may have a size below 0, which they end the
    process on.
    """

    def __init__(self, model: ModelProto) -> None:
        self.wild = self.long = self.slices = self.doubts = False
        self.deep = bool(model.functions) and calls_in(model) > _MOST_CALLS
        names = _Names()
        names.declare(model.graph)
        self._part(model.graph, names)
        for function in model.functions:
            self._part(function, _Names())

    def _part(self, part: GraphProto | FunctionProto, names: _Names) -> None:
        self.doubts |= _states_negative(part)
        for node in part.node:
            for body in bodies(node):
                inner = names.copy()
                for tensor in body.initializer:
                    inner.hold(tensor.name, tensor)
                self._part(body, inner)
            if node.domain in PLAIN_DOMAINS and node.output:
                self._node(node, names)

    def _node(self, node: NodeProto, names: _Names) -> None:
        kind = node.op_type
        if kind == "Constant" and node.attribute:
            held = node.attribute[0]
            if held.name == "value":
                names.hold(node.output[0], held.t)
                self.doubts |= min(held.t.dims, default=0) < 0
            else:
                names.lengths[node.output[0]] = max(1, len(held.ints))
            return
        self._note(node, names)
        names.follow(node)
        if kind in FOLLOWED:
            read = [one for one in node.input if one and one not in names.wide]
            lengths = [names.lengths.get(one) for one in read]
            self.long |= None in lengths
            if (made := node.output[0]) not in names.wide:
                lengths.append(names.lengths.get(made))
            self.wild |= any((length or 0) > MOST_VALUES for length in lengths)

    def _note(self, node: NodeProto, names: _Names) -> None:
        if node.op_type == "Slice":
            self.slices |= not (node.input and names.lengths.get(node.input[0]))
            self.wild |= not _steps_are_small(node, names.constants)
        elif operator(node.domain, node.op_type) is not None:
            self.doubts = True
        elif node.op_type in _SIZED:
            self.doubts |= any(min(one.ints, default=0) < 0 for one in node.attribute)
            places = node.input[1:] if node.op_type != "Resize" else node.input[2:]
            self.doubts |= any(
                name and _may_be_negative(names.constants.get(name)) for name in places
            )


def _states_negative(part: GraphProto | FunctionProto) -> bool:
    stated = list(part.value_info)
    if isinstance(part, GraphProto):
        stated += [*part.input, *part.output]
        if any(size < 0 for tensor in part.initializer for size in tensor.dims):
            return True
    return any(dim.dim_value < 0 for value in stated for dim in value.type.tensor_type.shape.dim)


def _cells(sizes: Sequence[int]) -> int:
    """How many there are, 0 where a size is below 0."""
    return 0 if min(sizes, default=0) < 0 else prod(sizes)


def _may_be_negative(tensor: TensorProto | None) -> bool:
    if tensor is None or prod(tensor.dims) > _ONE_AXIS:
        return True
    found = _numbers(tensor)
    return found is None or any(number < 0 for number in found)


def _steps_are_small(node: NodeProto, constants: Mapping[str, TensorProto]) -> bool:
    """Whether a Slice has no steps, or constants that cannot overflow."""
    name = node.input[_STEPS] if len(node.input) > _STEPS else ""
    if not name:
        return True
    tensor = constants.get(name)
    if tensor is None or prod(tensor.dims) > _ONE_AXIS:
        return False
    steps = _numbers(tensor)
    return steps is not None and all(abs(step) <= LARGEST_STEP for step in steps)


def _numbers(tensor: TensorProto) -> list[float] | None:
    """What a small constant holds; None where it is damaged or lies elsewhere."""
    try:
        array = onnx.numpy_helper.to_array(tensor).reshape(-1)
    except Exception:  # noqa: BLE001 - numpy and onnx raise many kinds
        return None
    found: list[float] = array.tolist()
    return found if array.dtype.kind in "iufb" else None
