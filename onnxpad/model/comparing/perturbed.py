"""A model that adds random rounding to what its nodes compute."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod, sqrt

from onnx import ModelProto, NodeProto, TensorProto, helper

from onnxpad.errors import OnnxpadError
from onnxpad.model.comparing.networks import Network
from onnxpad.model.graph.nodes import bodies
from onnxpad.model.graph.types import dtype_code, is_named
from onnxpad.model.reading.survey import Survey
from onnxpad.model.small_models import copied
from onnxpad.padding.plain_operators import MOVES

_UNIT: dict[int, float] = {
    TensorProto.FLOAT: 2.0**-24,
    TensorProto.FLOAT16: 2.0**-11,
    TensorProto.DOUBLE: 2.0**-53,
}
_FILTERS = {"Conv": 0, "FusedConv": 0, "ConvTranspose": 1}  # axis of w that is not summed over
_UNKNOWN_TERMS = 1024
_ROUNDED_ONCE = ("Add", "Sub", "Mul", "Div", "Sqrt", "Cast", "DequantizeLinear", "PRelu")
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
            scale, kind = node.input[at], types.get(node.input[at], TensorProto.FLOAT)
            kinds.add(kind)
            copy.input[at] = f"{node.output[0]}/noise_scale"
            level = _level(kind, roundings, _UNKNOWN_TERMS)
            nodes[-1:] = [*_noise("Mul", scale, copy.input[at], level, kind), copy]
        for position, name in enumerate(node.output):
            kind = types.get(name, 0)
            if name in data and kind in _UNIT:
                kinds.add(kind)
                clean = copy.output[position] = f"{name}/without_noise"
                level = _level(kind, roundings, _terms(network, node))
                nodes.extend(_noise(node.op_type, clean, name, level, kind))
    if not kinds:
        return None
    phases = [helper.make_node("Cast", [PHASE], [_phase(kind)], to=kind) for kind in sorted(kinds)]
    return network.like(_with_nodes(network, [*phases, *nodes]))


def jumps(network: Network) -> bool:
    """Whether a value that moves by a rounding may move others by a whole step."""
    return any(node.op_type in _STEPS or "Quant" in node.op_type for node in network.nodes) or any(
        node.op_type.startswith("QLinear") or bodies(node) for node in network.nodes
    )


def only_copies(network: Network) -> bool:
    """Whether every node hands values on: nothing can round."""
    return all(node.op_type in _COPIES for node in network.nodes)


def _level(kind: int, roundings: float, terms: int) -> float:
    """How far a sum of so many products may be off, in its size."""
    return _UNIT[kind] + (3 + roundings * sqrt(terms)) * min(_UNIT[kind], 2.0**-24)


def _noise(op_type: str, clean: str, name: str, level: float, kind: int) -> list[NodeProto]:
    """name = clean + level * size(clean) * sin(1000 clean + phase).

    A single operation rounds by its result, anything else by the largest of its results. The sine
    spreads like random numbers; onnxruntime has RandomUniformLike for few opsets only.
    """
    part = {key: f"{name}/noise_{key}" for key in ("angle", "moved", "wave", "abs", "size", "unit")}
    factor = 1.0 if kind == TensorProto.FLOAT16 else 1000.0
    largest = helper.make_node("ReduceMax", [part["abs"]], [part["size"]], keepdims=1)
    is_single = op_type in _ROUNDED_ONCE
    return [
        _scalar(f"{name}/noise_factor", factor, kind),
        _scalar(f"{name}/noise_level", level, kind),
        helper.make_node("Mul", [clean, f"{name}/noise_factor"], [part["angle"]]),
        helper.make_node("Add", [part["angle"], _phase(kind)], [part["moved"]]),
        helper.make_node("Sin", [part["moved"]], [part["wave"]]),
        helper.make_node("Abs", [clean], [part["size" if is_single else "abs"]]),
        *(() if is_single else (largest,)),
        helper.make_node("Mul", [part["size"], f"{name}/noise_level"], [part["unit"]]),
        helper.make_node("Mul", [part["wave"], part["unit"]], [f"{name}/noise"]),
        helper.make_node("Add", [clean, f"{name}/noise"], [name]),
    ]


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
    """Element types as far as they are known; none of a model that cannot be read."""
    try:
        main = Survey(network.model, folder=network.folder).contexts[0]
    except OnnxpadError:
        return {}
    return {name: dtype_code(found.dtype) for name, found in main.types.items() if is_named(found)}


def _with_nodes(network: Network, nodes: list[NodeProto]) -> ModelProto:
    model = copied(network.model)
    graph = model.graph
    del graph.node[:], graph.value_info[:]
    graph.node.extend(nodes)
    graph.input.append(helper.make_tensor_value_info(PHASE, TensorProto.FLOAT, []))
    return model
