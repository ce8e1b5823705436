"""One wrong change in a model, of the kinds that a faulty rewrite makes."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
from numpy.random import Generator
from onnx import AttributeProto, helper, numpy_helper

Mutation = Callable[[onnx.ModelProto, Generator], str]


def _graphs(model: onnx.ModelProto) -> Iterator[Any]:
    """The main graph, bodies and functions: whatever holds nodes."""
    pending: list[Any] = [model.graph, *model.functions]
    while pending:
        graph = pending.pop()
        yield graph
        for node in graph.node:
            pending += [entry.g for entry in node.attribute if entry.HasField("g")]


def _nodes(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    return [node for graph in _graphs(model) for node in graph.node]


def _pick(rng: Generator, found: list[Any]) -> Any:
    return found[int(rng.integers(len(found)))] if found else None


def _lists(model: onnx.ModelProto, names: tuple[str, ...]) -> list[tuple[str, Any]]:
    return [
        (f"{node.op_type} {entry.name}", entry)
        for node in _nodes(model)
        for entry in node.attribute
        if entry.name in names and len(entry.ints)
    ]


def off_by_one(model: onnx.ModelProto, rng: Generator) -> str:
    """A number of an attribute one more or less."""
    names: tuple[str, ...] = ("pads", "strides", "dilations", "kernel_shape", "output_padding")
    names += ("output_shape", "starts", "ends", "axes", "perm")
    found = _pick(rng, _lists(model, names))
    if found is None:
        return ""
    name, entry = found
    at, step = int(rng.integers(len(entry.ints))), int(rng.choice([-1, 1]))
    entry.ints[at] = min(max(0, entry.ints[at] + step), 2**62)
    return f"{name}[{at}] {step:+}"


def swapped_sides(model: onnx.ModelProto, rng: Generator) -> str:
    """Begin and end pads change places."""
    found = _pick(rng, _lists(model, ("pads", "paddings")))
    if found is None:
        return ""
    name, entry = found
    half = len(entry.ints) // 2
    entry.ints[:] = [*entry.ints[half:], *entry.ints[:half]]
    return f"{name} swapped"


def other_flag(model: onnx.ModelProto, rng: Generator) -> str:
    """count_include_pad, ceil_mode or storage_order turned round."""
    flags = ("count_include_pad", "ceil_mode", "storage_order")
    pools = [node for node in _nodes(model) if node.op_type in ("MaxPool", "AveragePool")]
    node = _pick(rng, pools)
    if node is None:
        return ""
    name = str(rng.choice(flags[:2] if node.op_type == "AveragePool" else flags[1:]))
    for entry in node.attribute:
        if entry.name == name:
            entry.i = 1 - entry.i
            return f"{node.op_type} {name} = {entry.i}"
    node.attribute.append(helper.make_attribute(name, 1))
    return f"{node.op_type} {name} = 1"


def other_text(model: onnx.ModelProto, rng: Generator) -> str:
    """Another mode or auto_pad."""
    texts = {"mode": ["constant", "reflect", "edge"]}
    texts["auto_pad"] = ["VALID", "SAME_UPPER", "SAME_LOWER"]
    found = [
        (node, entry) for node in _nodes(model) for entry in node.attribute if entry.name in texts
    ]
    picked = _pick(rng, found)
    if picked is None:
        return ""
    node, entry = picked
    entry.s = str(rng.choice(texts[entry.name])).encode()
    return f"{node.op_type} {entry.name} = {entry.s.decode()}"


OPERATORS = {
    "Relu": ("Tanh", "Sigmoid", "Abs"),
    "MaxPool": ("AveragePool",),
    "AveragePool": ("MaxPool",),
    "Add": ("Sub",),
    "Sub": ("Add",),
    "Mul": ("Div", "Add"),
    "Div": ("Mul",),
    "Sigmoid": ("Tanh",),
    "Abs": ("Relu",),
    "Max": ("Min",),
    "Mod": ("Div",),
}


def other_operator(model: onnx.ModelProto, rng: Generator) -> str:
    """A neighbour of an operator."""
    node = _pick(rng, [node for node in _nodes(model) if node.op_type in OPERATORS])
    if node is None:
        return ""
    old, node.op_type = node.op_type, str(rng.choice(OPERATORS[node.op_type]))
    if node.op_type in ("AveragePool", "MaxPool"):
        kept = [
            one for one in node.attribute if one.name not in ("count_include_pad", "storage_order")
        ]
        del node.attribute[:]
        node.attribute.extend(kept)
    return f"{old} -> {node.op_type}"


def swapped_inputs(model: onnx.ModelProto, rng: Generator) -> str:
    """Two inputs of an operator change places."""
    node = _pick(rng, [n for n in _nodes(model) if n.op_type in ("Concat", "Sub", "Div", "Mod")])
    if node is None or len(node.input) < 2:
        return ""
    inputs = list(node.input)
    node.input[:] = inputs[::-1]
    return f"inputs of {node.op_type} reversed"


def other_constant(model: onnx.ModelProto, rng: Generator) -> str:
    """A number of a constant: one more or less, negated, or for -inf the number -3."""
    tensors = [(t.name, t) for graph in _graphs(model) for t in getattr(graph, "initializer", ())]
    tensors += [
        (node.output[0], entry.t)
        for node in _nodes(model)
        for entry in node.attribute
        if entry.type == AttributeProto.TENSOR
    ]
    picked = _pick(rng, tensors)
    if picked is None:
        return ""
    name, tensor = picked
    array = numpy_helper.to_array(tensor).copy()
    if array.size == 0 or array.dtype.kind not in "iuf":
        return ""
    flat, at = array.reshape(-1), int(rng.integers(array.size))
    old = flat[at]
    if array.dtype.kind == "f" and not np.isfinite(old):
        flat[at] = -3
    elif rng.integers(4) == 0 and array.size > 1:
        array = np.roll(array.reshape(-1), 1).reshape(array.shape)
    elif array.dtype.kind == "f" and rng.integers(2):
        flat[at] = old * 1.01 if old else 0.25
    else:
        with np.errstate(over="ignore"):
            flat[at] = old + array.dtype.type(1)
    held = tensor.name
    tensor.CopyFrom(numpy_helper.from_array(array, held))
    return f"constant {name}[{at}]"


def dropped(model: onnx.ModelProto, rng: Generator) -> str:
    """An operator of one input that is passed by."""
    kinds = ("Pad", "Slice", "Relu", "Neg", "Cast", "Abs", "Transpose", "Identity")
    found = [
        (graph, node) for graph in _graphs(model) for node in graph.node if node.op_type in kinds
    ]
    picked = _pick(rng, found)
    if picked is None:
        return ""
    _, node = picked
    old, node.op_type, node.domain = node.op_type, "Identity", ""
    del node.attribute[:]
    del node.input[1:]
    return f"{old} dropped"


def other_number(model: onnx.ModelProto, rng: Generator) -> str:
    """A number that is an attribute: a fill, a slope, a power, the axis of an operator."""
    names = ("value", "p", "alpha", "beta", "axis", "group", "to", "keepdims")
    entries = [entry for node in _nodes(model) for entry in node.attribute if entry.name in names]
    kinds = (AttributeProto.FLOAT, AttributeProto.INT)
    entry = _pick(rng, [entry for entry in entries if entry.type in kinds])
    if entry is None:
        return ""
    if entry.type == AttributeProto.INT:
        entry.i += int(rng.choice([-1, 1]))
        return f"{entry.name} = {entry.i}"
    entry.f = -3.0 if not np.isfinite(entry.f) else entry.f * 1.01 + 0.25 * (not entry.f)
    return f"{entry.name} = {entry.f:g}"


def rolled(model: onnx.ModelProto, rng: Generator) -> str:
    """A weight turned by one along one of its axes."""
    tensor = _pick(rng, [one for one in model.graph.initializer if len(one.dims) > 2])
    if tensor is None:
        return ""
    array, axis = numpy_helper.to_array(tensor), int(rng.integers(len(tensor.dims)))
    tensor.CopyFrom(numpy_helper.from_array(np.roll(array, 1, axis), tensor.name))
    return f"{tensor.name} rolled along axis {axis}"


def _freed(model: onnx.ModelProto, least: int) -> tuple[str, int]:
    """The first output, whose maker now makes `<name>/free`, and its type; ('', 0) if not possible.

    That is where it is a float, nobody else reads it, and the opset is `least` or more.
    """
    info = model.graph.output[0]
    kind = info.type.tensor_type.elem_type
    makers = [node for node in model.graph.node if info.name in node.output]
    opset = next(one.version for one in model.opset_import if not one.domain)
    is_read = any(info.name in node.input for node in _nodes(model))
    floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
    if kind not in floats or opset < least or not makers or is_read:
        return "", 0
    outputs = [f"{name}/free" if name == info.name else name for name in makers[0].output]
    makers[0].output[:] = outputs
    return info.name, kind


def limited(model: onnx.ModelProto, rng: Generator) -> str:
    """The first output never above, or never below, a number, as Relu6 is for Relu."""
    name, kind = _freed(model, 8)
    if not name:
        return ""
    op = str(rng.choice(["Min", "Max"]))
    number = float(rng.choice([6, 100, 1000])) * (1 if op == "Min" else -1)
    value = np.asarray(number, helper.tensor_dtype_to_np_dtype(kind))
    model.graph.initializer.append(numpy_helper.from_array(value, f"{name}/limit"))
    model.graph.node.append(helper.make_node(op, [f"{name}/free", f"{name}/limit"], [name]))
    return f"{op} with {number:g} behind {name}"


def swapped_outputs(model: onnx.ModelProto, rng: Generator) -> str:
    """The first two outputs change names."""
    del rng
    names = [info.name for info in model.graph.output[:2]]
    if len(names) < 2:
        return ""
    turned = {names[0]: names[1], names[1]: names[0]}
    for node in _nodes(model):
        node.input[:] = [turned.get(name, name) for name in node.input]
        node.output[:] = [turned.get(name, name) for name in node.output]
    return f"{names[0]} and {names[1]} change places"


def at_one_size(model: onnx.ModelProto, axis: int, size: int) -> onnx.ModelProto:
    """A copy whose first output is one more where an axis of the input has this size alone.

    For opsets from 13 on and outputs of floats; the same model elsewhere.
    """
    other = copy.deepcopy(model)
    name, kind = _freed(other, 13)
    if not name:
        return other
    numbers = {"axis": np.asarray(axis), "size": np.asarray(size)}
    for held, number in numbers.items():
        other.graph.initializer.append(numpy_helper.from_array(number, f"gate/{held}"))
    other.graph.node.extend(
        [
            helper.make_node("Shape", [model.graph.input[0].name], ["gate/shape"]),
            helper.make_node("Gather", ["gate/shape", "gate/axis"], ["gate/here"]),
            helper.make_node("Equal", ["gate/here", "gate/size"], ["gate/equal"]),
            helper.make_node("Cast", ["gate/equal"], ["gate/one"], to=kind),
            helper.make_node("Add", [f"{name}/free", "gate/one"], [name]),
        ]
    )
    return other


MUTATIONS: tuple[Mutation, ...] = (
    off_by_one,
    off_by_one,
    swapped_sides,
    other_flag,
    other_text,
    other_operator,
    swapped_inputs,
    other_constant,
    other_constant,
    other_number,
    rolled,
    limited,
    swapped_outputs,
    dropped,
)


def mutant(model: onnx.ModelProto, rng: Generator) -> tuple[onnx.ModelProto, str]:
    """A copy with one change, and what it is; the text is empty where there was nothing to do."""
    other = copy.deepcopy(model)
    for _ in range(12):
        said = MUTATIONS[int(rng.integers(len(MUTATIONS)))](other, rng)
        if said:
            break
    if other.SerializeToString() == model.SerializeToString():
        said = ""
    return other, said
