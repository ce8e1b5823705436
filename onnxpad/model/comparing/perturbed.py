"""A model that adds random rounding to what its nodes compute."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod, sqrt

from onnx import ModelProto, NodeProto, TensorProto, helper

from onnxpad.model.comparing.networks import Network
from onnxpad.model.graph.nodes import bodies
from onnxpad.model.graph.types import open_negative_sizes
from onnxpad.model.shapes.native_inference import infer_shapes
from onnxpad.padding.plain_operators import MOVES

_UNIT: dict[int, float] = {
    TensorProto.FLOAT: 2.0**-24,
    TensorProto.FLOAT16: 2.0**-11,
    TensorProto.DOUBLE: 2.0**-53,
}
_FILTERS = {"Conv": 0, "FusedConv": 0, "ConvTranspose": 1}  # axis of w that is not summed over
_UNKNOWN_TERMS = 1024
# Partial sums against the sum of the magnitudes.
_SHARE = 0.25
_USUAL_TAPS = 9
_ROUNDED_ONCE = ("Add", "Sub", "Mul", "Div", "Sqrt", "Cast", "DequantizeLinear", "PRelu")
_SUMS_OF_ONE = ("AveragePool", "GlobalAveragePool", "ReduceMean", "ReduceSum")
_SUMS = ("MatMul", "Gemm", "BatchNormalization", *_SUMS_OF_ONE)
_MEAN, _VARIANCE = 3, 4
PHASE = "onnxpad/noise_phase"
_LONG = ("Reduce", "LayerNormalization", "InstanceNormalization", "GlobalAveragePool", "Softmax")
_COPIES = MOVES | {
    *("Pad", "Concat", "GatherND", "GatherElements", "Where", "ScatterND", "ScatterElements"),
    *("Dropout", "Constant"),
    *("Relu", "MaxPool", "GlobalMaxPool", "Max", "Min", "Clip", "Abs", "Neg", "QuantizeLinear"),
}
_STEPS = {
    *("Round", "Floor", "Ceil", "Sign", "Equal", "Greater", "GreaterOrEqual", "Less", "Where"),
    *("LessOrEqual", "ArgMax", "ArgMin", "TopK", "Hardmax", "NonMaxSuppression", "ThresholdedRelu"),
    *("Shrink", "Mod", "IsInf", "NonZero", "Compress", "Unique"),
}
_NOT_DATA = ("Shape", "Size", "NonZero", "ArgMax", "ArgMin", "ConstantOfShape", "EyeLike")


_SCALE_OF_RESULT = {
    **dict.fromkeys(("QLinearConv", "QLinearMatMul", "QLinearAdd", "QLinearMul"), 6),
    **dict.fromkeys(("QLinearAveragePool", "QLinearGlobalAveragePool"), 3),
    **dict.fromkeys(("QLinearSigmoid", "QLinearLeakyRelu"), 3),
}
"""Which input is the scale that whole numbers are rounded by."""


def perturbed(
    network: Network, *, roundings: float = 1 / 16, of_whole: bool = False
) -> Network | None:
    """The model with noise of the size of its own rounding behind every float operation.

    A sum of K products gets up to roundings*sqrt(K)u of its size (`_size`), any operation 4u
    (Higham, Accuracy and Stability, 3.1; onnxruntime's CPU sums in blocks: twice the largest error
    in 25600 products was 15u of the size); half precision is taken to be summed in float32 and
    rounded once. Values that come from shapes get none. The noise depends on the further input
    `PHASE`, a scalar. None where no tensor can carry noise. `of_whole` rounds what
    QLinear operators compute as well, as runtimes do that have floats inside: by their scales.
    """
    types = _element_types(network)
    data = _data(network, types)
    nodes: list[NodeProto] = []
    kinds = set()
    for node in network.nodes:
        copy = NodeProto()
        copy.CopyFrom(node)
        nodes.append(copy)
        if node.op_type in _COPIES or not data & set(node.output):
            continue
        if of_whole and (at := _SCALE_OF_RESULT.get(node.op_type)) is not None:
            kind = types.get(node.input[at], TensorProto.FLOAT)
            kinds.add(kind)
            nodes[-1:] = [*_other_scale(copy, at, kind, roundings), copy]
        for position, name in enumerate(node.output):
            unit = _UNIT.get(types.get(name, 0))
            if name in data and unit is not None:
                kinds.add(types[name])
                clean = copy.output[position] = f"{name}/without_noise"
                sums = 3 + roundings * sqrt(_terms(network, node))
                level = unit + sums * min(unit, 2.0**-24)
                nodes.extend(_noise(network, node, clean, name, level, types[name]))
    if not kinds:
        return None
    phases = [helper.make_node("Cast", [PHASE], [_phase(kind)], to=kind) for kind in sorted(kinds)]
    return Network(_with_nodes(network, [*phases, *nodes]), network.folder, network.left)


def jumps(network: Network) -> bool:
    """Whether a value that moves by a rounding may move others by a whole step."""
    return any(node.op_type in _STEPS or "Quant" in node.op_type for node in network.nodes) or any(
        node.op_type.startswith("QLinear") or bodies(node) for node in network.nodes
    )


def only_copies(network: Network) -> bool:
    """Whether every node hands values on: nothing can round."""
    return all(node.op_type in _COPIES for node in network.nodes)


def _noise(
    network: Network, node: NodeProto, clean: str, name: str, level: float, kind: int
) -> list[NodeProto]:
    """name = clean + level * size(clean) * sin(1000 clean + phase).

    The sine spreads like random numbers; onnxruntime has RandomUniformLike for few opsets only.
    """
    part = {key: f"{name}/noise_{key}" for key in ("angle", "wave", "unit")}
    factor = 1.0 if kind == TensorProto.FLOAT16 else 1000.0
    sizes, size = _size(network, node, clean, name, kind)
    return [
        _scalar(f"{name}/noise_factor", factor, kind),
        _scalar(f"{name}/noise_level", level, kind),
        helper.make_node("Mul", [clean, f"{name}/noise_factor"], [part["angle"]]),
        helper.make_node("Add", [part["angle"], _phase(kind)], [f"{part['angle']}/moved"]),
        helper.make_node("Sin", [f"{part['angle']}/moved"], [part["wave"]]),
        *sizes,
        helper.make_node("Mul", [size, f"{name}/noise_level"], [part["unit"]]),
        helper.make_node("Mul", [part["wave"], part["unit"]], [f"{name}/noise"]),
        helper.make_node("Add", [clean, f"{name}/noise"], [name]),
    ]


def _other_scale(node: NodeProto, at: int, kind: int, roundings: float) -> list[NodeProto]:
    """Nodes that move the scale of a result by what a sum of many products is rounded by."""
    scale, name = node.input[at], f"{node.output[0]}/noise_scale"
    node.input[at] = name
    level = _UNIT[kind] + (3 + roundings * sqrt(_UNKNOWN_TERMS)) * min(_UNIT[kind], 2.0**-24)
    return [
        _scalar(f"{name}/level", level, kind),
        helper.make_node("Sin", [_phase(kind)], [f"{name}/wave"]),
        helper.make_node("Mul", [f"{name}/wave", f"{name}/level"], [f"{name}/share"]),
        helper.make_node("Mul", [scale, f"{name}/share"], [f"{name}/more"]),
        helper.make_node("Add", [scale, f"{name}/more"], [name]),
    ]


def _size(
    network: Network, node: NodeProto, clean: str, name: str, kind: int
) -> tuple[list[NodeProto], str]:
    """Nodes that compute what the rounding of `clean` goes with, and the name of the result.

    A single operation rounds by its result. A sum rounds by its partial sums: a share of the sum of
    the magnitudes, which the operator gives of magnitudes, or, for a convolution, whose taps all
    read one kind of data, what it gives of their means. Of others the largest value.
    """
    result, twin, share = f"{name}/noise_abs", f"{name}/noise_sum", _SHARE
    nodes = [helper.make_node("Abs", [clean], [result])]
    if node.op_type in _ROUNDED_ONCE:
        return nodes, result
    if node.op_type in _FILTERS:
        nodes += [helper.make_node("GlobalMaxPool", [result], [f"{result}/largest"])]
        nodes += _means_through(node, name, twin)
        result = f"{result}/largest"
        share *= _taps(network, node)
    elif node.op_type in _SUMS:
        nodes += _of_magnitudes(node, name, twin)
    else:
        nodes += [helper.make_node("ReduceMax", [result], [f"{result}/largest"], keepdims=1)]
        return nodes, f"{result}/largest"
    nodes += [
        _scalar(f"{name}/noise_share", share, kind),
        helper.make_node("Mul", [twin, f"{name}/noise_share"], [f"{twin}/shared"]),
        helper.make_node("Max", [result, f"{twin}/shared"], [f"{name}/noise_size"]),
    ]
    return nodes, f"{name}/noise_size"


def _means_through(node: NodeProto, name: str, result: str) -> list[NodeProto]:
    """The convolution of mean magnitudes, one for each channel, with the means of its taps."""
    part = f"{name}/noise_mean"
    names = [f"{part}_{key}" for key in ("abs", "of_x", "w", "taps")]
    facts = {one.name: one.i for one in node.attribute if one.name == "group"}
    kind = "ConvTranspose" if node.op_type == "ConvTranspose" else "Conv"
    return [
        helper.make_node("Abs", [node.input[0]], [names[0]]),
        helper.make_node("GlobalAveragePool", [names[0]], [names[1]]),
        helper.make_node("Abs", [node.input[1]], [names[2]]),
        helper.make_node("GlobalAveragePool", [names[2]], [names[3]]),
        helper.make_node(kind, [names[1], names[3]], [result], **facts),
    ]


def _taps(network: Network, node: NodeProto) -> int:
    """How many cells of one channel a convolution adds up."""
    weight = network.initializers.get(node.input[1])
    return _USUAL_TAPS if weight is None else max(1, prod(weight.dims[2:]))


def _of_magnitudes(node: NodeProto, name: str, result: str) -> list[NodeProto]:
    """The same operator of the magnitudes of what it adds up."""
    added = 1 if node.op_type in _SUMS_OF_ONE else len(node.input)
    nodes, inputs = [], list(node.input)
    for position, given in enumerate(node.input[:added]):
        if not given or (node.op_type == "BatchNormalization" and position == _VARIANCE):
            continue
        inputs[position] = f"{name}/noise_of_{position}"
        nodes.append(helper.make_node("Abs", [given], [inputs[position]]))
        if node.op_type == "BatchNormalization" and position == _MEAN:  # which is taken off
            nodes.append(helper.make_node("Neg", [inputs[position]], [f"{inputs[position]}/off"]))
            inputs[position] = f"{inputs[position]}/off"
    copy = NodeProto()
    copy.CopyFrom(node)
    copy.name = ""
    copy.input[:], copy.output[:] = inputs, [result]
    return [*nodes, copy]


def _scalar(name: str, value: float, kind: int) -> NodeProto:
    return helper.make_node("Constant", [], [name], value=helper.make_tensor("", kind, [], [value]))


def _phase(kind: int) -> str:
    return f"{PHASE}/{kind}"


def _terms(network: Network, node: NodeProto) -> int:
    """Number of products that one cell of the result sums."""
    if node.op_type not in (*_FILTERS, "MatMul", "Gemm"):
        return _UNKNOWN_TERMS if node.op_type.startswith(_LONG) else 1
    weight = network.initializers.get(node.input[1])
    sizes = [] if weight is None else [int(size) for size in weight.dims]
    if len(sizes) < 2:
        return _UNKNOWN_TERMS
    if node.op_type in ("MatMul", "Gemm"):
        return max(sizes)
    return max(1, prod(sizes) // max(1, sizes[_FILTERS[node.op_type]]))


def _data(network: Network, types: Mapping[str, int]) -> set[str]:
    """Tensors that depend on the values, not only the shapes, of float or integer inputs."""
    found = set(network.fed)
    for node in network.nodes:
        if node.op_type not in _NOT_DATA and found & set(node.input):
            found |= {name for name in node.output if types.get(name, 0) in _UNIT}
            hands_on = node.op_type in ("QuantizeLinear", "Cast", *_COPIES)
            found |= {name for name in node.output if name and hands_on}
            found |= {name for name in node.output if node.op_type.startswith("QLinear")}
    return found


def _element_types(network: Network) -> dict[str, int]:
    """Element types as onnx infers them, from a copy without the values of large tensors."""
    skeleton = ModelProto(ir_version=network.model.ir_version)
    skeleton.opset_import.extend(network.model.opset_import)
    skeleton.functions.extend(network.model.functions)
    graph = skeleton.graph
    graph.name = network.model.graph.name
    graph.node.extend(network.nodes)
    graph.input.extend(network.model.graph.input)
    graph.output.extend(network.model.graph.output)
    open_negative_sizes([*graph.input, *graph.output])
    for tensor in network.model.graph.initializer:
        if len(tensor.dims) < 2 and tensor.ByteSize() < 1024:
            graph.initializer.add().CopyFrom(tensor)
        else:
            graph.input.append(
                helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
            )
    inferred = infer_shapes(skeleton).graph
    values = [*inferred.value_info, *inferred.output, *inferred.input]
    return {value.name: value.type.tensor_type.elem_type for value in values}


def _with_nodes(network: Network, nodes: list[NodeProto]) -> ModelProto:
    model = ModelProto(ir_version=network.model.ir_version)
    model.opset_import.extend(network.model.opset_import)
    graph = model.graph
    graph.name = "perturbed"
    graph.node.extend(nodes)
    graph.input.extend(network.model.graph.input)
    graph.input.append(helper.make_tensor_value_info(PHASE, TensorProto.FLOAT, []))
    graph.output.extend(network.model.graph.output)
    graph.initializer.extend(network.model.graph.initializer)
    graph.sparse_initializer.extend(network.model.graph.sparse_initializer)
    return model
