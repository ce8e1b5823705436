"""Where onnxruntime is known not to compute what the ONNX text says, or what it refuses.

A model with a deviation is judged by the tests' interpreter; how often is counted by name.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import onnx

from tests.oracle.operator_call import plain

POOLS = ("MaxPool", "AveragePool", "LpPool", "QLinearAveragePool")
CONVOLUTIONS = ("Conv", "ConvInteger", "QLinearConv")
Attributes = Mapping[str, Any]


class Deviation(NamedTuple):
    """`applies` sees an operator and its attributes; `said` is in the message of a refusal."""

    name: str
    source: str
    applies: Callable[[str, Attributes], bool] = lambda _op, _written: False
    said: str = ""


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


_MEASURED = "measured with onnxruntime 1.31.1 on the CPU"
DEVIATIONS = (
    Deviation(
        "SAME with dilation",
        f"{_MEASURED}: convolutions refuse it, pools take the size of the kernel without dilation",
        _dilated,
    ),
    Deviation(
        "SAME with a kernel below the stride",
        f"{_MEASURED}: the total is not clamped at 0, so that shifted cells are read",
        _short_kernel,
    ),
    Deviation(
        "QLinearAveragePool with ceil_mode and count_include_pad",
        f"{_MEASURED}: an overhanging window is divided by the whole kernel",
        _counted_overhang,
    ),
    Deviation(
        "buffer of another shape",
        f"{_MEASURED}: inference before opset 22 rounds pools otherwise than the kernel, and what "
        "com.microsoft operators make of it is refused",
        said="Shape mismatch attempting to re-use buffer",
    ),
    Deviation(
        "buffer of another shape in a Scan",
        f"{_MEASURED}: the same rounding; once sizes in the body of a Scan are known, its buffers "
        "have the inferred number of windows and the kernel writes another",
        said="but the computed output shape for this run is",
    ),
    Deviation(
        "buffer of another shape in a Scan over several steps",
        f"{_MEASURED}: the same; the buffer of all steps is compared with what the first one wrote",
        said="Mismatch between expected shape and shape from first output",
    ),
    Deviation(
        "QLinearConv with a zero point per channel",
        f"{_MEASURED}: its optimiser makes one of DequantizeLinear with several zero points and "
        "Conv, and then refuses to run it, also where no Pad ever was",
        said="input zero point must be a scalar",
    ),
    Deviation(
        "MaxPool behind DequantizeLinear of uint8 from opset 21 on",
        f"{_MEASURED}: its optimiser writes a QuantizeLinear of int8 with a zero point of uint8, "
        "also where no Pad ever was",
        said="output_dtype INT8 does not match y_zero_point type UINT8",
    ),
    Deviation(
        "Scan behind com.microsoft.Pad with constant pads",
        f"{_MEASURED}: it refuses a body whose outputs have no shape there, as it does not behind "
        "computed pads or an ONNX Pad",
        said="Subgraph must have the shape set for all outputs",
    ),
)


def deviations(model: onnx.ModelProto, kernel: tuple[int, ...]) -> list[str]:
    """Names of the deviations in a model; `kernel` is that of nodes that do not write theirs."""
    found = {
        deviation.name
        for node in every_node(model)
        for written in _written(node, model)
        for deviation in DEVIATIONS
        if deviation.applies(node.op_type, {"kernel_shape": kernel, **written})
    }
    return sorted(found)


def of_refusal(reason: str) -> list[str]:
    """Names of the deviations that a message of onnxruntime tells of."""
    return [one.name for one in DEVIATIONS if one.said and one.said in reason]


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
