"""Where onnxruntime is known not to compute what the ONNX text says, or what it refuses.

A model with a deviation is judged by the tests' interpreter.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import onnx

from tests.oracle.operator_call import plain

POOLS = ("MaxPool", "AveragePool", "LpPool", "QLinearAveragePool")
CONVOLUTIONS = ("Conv", "ConvInteger", "QLinearConv")
Attributes = Mapping[str, Any]


def _same(written: Attributes) -> bool:
    return str(written.get("auto_pad", "")).startswith("SAME")


def _dilated(op: str, written: Attributes) -> bool:
    wide = any(dilation != 1 for dilation in written.get("dilations", ()))
    return op in (*POOLS, *CONVOLUTIONS) and _same(written) and wide


def _short_kernel(op: str, written: Attributes) -> bool:
    kernel, strides = written.get("kernel_shape", ()), written.get("strides", ())
    pairs = zip(reversed(kernel), reversed(strides), strict=False)  # lift-rank adds a first axis
    short = any(k < s for k, s in pairs)
    return op in (*POOLS, *CONVOLUTIONS) and _same(written) and short


def _counted_overhang(op: str, written: Attributes) -> bool:
    rounds = written.get("ceil_mode") and written.get("count_include_pad")
    return op == "QLinearAveragePool" and bool(rounds)


DEVIATIONS = (_dilated, _short_kernel, _counted_overhang)
"""Measured with onnxruntime 1.31.1 on the CPU: of SAME with dilation, convolutions refuse it and
pools take the size of the kernel without dilation; the total of SAME with a kernel below the stride
is not clamped at 0; an overhanging window of QLinearAveragePool is divided by the whole kernel."""
REFUSALS = (
    # Inference before opset 22 rounds pools otherwise than the kernel does.
    "Shape mismatch attempting to re-use buffer",
    "but the computed output shape for this run is",
    "Mismatch between expected shape and shape from first output",
    # Its optimiser makes a QLinearConv of Conv behind DequantizeLinear with several zero points.
    "input zero point must be a scalar",
    # Its optimiser writes a QuantizeLinear of int8 with a zero point of uint8.
    "output_dtype INT8 does not match y_zero_point type UINT8",
    # A Scan behind com.microsoft.Pad with constant pads.
    "Subgraph must have the shape set for all outputs",
)
"""Parts of messages of onnxruntime 1.31.1 about right models, also where no Pad ever was."""


def deviates(model: onnx.ModelProto, kernel: tuple[int, ...]) -> bool:
    """Whether a node does; `kernel` is that of nodes that do not write theirs."""
    return any(
        applies(node.op_type, {"kernel_shape": kernel, **written})
        for node in every_node(model)
        for written in _written(node, model)
        for applies in DEVIATIONS
    )


def is_known(refusal: str) -> bool:
    """Whether a message of onnxruntime is one of those about right models."""
    return any(part in refusal for part in REFUSALS)


def every_node(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Nodes of the graph, of the bodies in it and of the functions."""
    yield from _nodes(model.graph.node)
    for function in model.functions:
        yield from _nodes(function.node)


def _nodes(nodes: Any) -> Iterator[onnx.NodeProto]:
    for node in nodes:
        yield node
        for entry in node.attribute:
            if entry.HasField("g"):
                yield from _nodes(entry.g.node)


def _written(node: onnx.NodeProto, model: onnx.ModelProto) -> Iterator[Attributes]:
    """Attributes of a node; where some refer to a function's, once with those of each call."""
    own = {one.name: _value(one) for one in node.attribute if not one.ref_attr_name}
    referring = {one.ref_attr_name: one.name for one in node.attribute if one.ref_attr_name}
    if not referring:
        yield own
        return
    for call in model.graph.node:
        given = {one.name: _value(one) for one in call.attribute if one.name in referring}
        if given:
            yield own | {referring[name]: value for name, value in given.items()}


def _value(entry: onnx.AttributeProto) -> Any:
    return plain(onnx.helper.get_attribute_value(entry))
