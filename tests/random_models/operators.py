"""The operator itself with its operands, and what stands behind it."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from onnx import AttributeProto

from tests.oracle.windows import place_windows
from tests.random_models.fronts import quantisation, zero_point
from tests.random_models.graphs import Array, Graph
from tests.random_models.spec import Spec
from tests.random_models.stages import crossed_sizes, quantised

REFERRED = ("auto_pad", "pads", "strides")


def attributes(spec: Spec) -> dict[str, Any]:
    """What is written on the node about its windows."""
    found: dict[str, Any] = {"strides": spec.strides}
    if spec.writes_kernel or spec.operator.is_pool:
        found["kernel_shape"] = spec.kernel
    if any(dilation > 1 for dilation in spec.dilations):
        found["dilations"] = spec.dilations
    if spec.padding in ("pads", "NOTSET"):
        found["pads"] = spec.pads
    if spec.padding not in ("pads", "none"):
        found["auto_pad"] = spec.padding
    written = {
        "ceil_mode": int(spec.ceil),
        "count_include_pad": int(spec.counts),
        "output_padding": spec.output_padding,
        "output_shape": spec.output_shape,
        "group": spec.group if spec.group > 1 else 0,
        "storage_order": spec.storage_order,
        "p": spec.p if spec.operator.family == "lp" else 0,
    }
    return found | {key: value for key, value in written.items() if value}


def twin(spec: Spec) -> Spec:
    """The same operator padded otherwise."""
    shifted = tuple(min(1, kernel - 1) for kernel in spec.kernel) + (0,) * spec.rank
    padding = "none" if spec.padding == "pads" and spec.seed % 3 else "pads"
    return replace(spec, padding=padding, pads=shifted, output_shape=(), ceil=False)


def data_channels(spec: Spec) -> int:
    """Channels that the operator reads, those that Pads add included."""
    return spec.channels + sum(sum(step.outside[1::2]) for step in spec.front if step.op == "Pad")


def _weight(spec: Spec) -> Array:
    rng = np.random.default_rng(spec.seed)
    channels = data_channels(spec)
    made = spec.group * (2 if spec.group > 1 else 3)
    per_group = channels // spec.group
    shape = (made, per_group, *spec.kernel)
    if spec.operator.family == "transposed":
        shape = (channels, made // spec.group, *spec.kernel)
    w: Array = rng.integers(1, 4, shape) * rng.choice([-1, 1], shape)
    return w


def _quantised_weight(graph: Graph, spec: Spec, dtype: str) -> tuple[list[str], int]:
    """Names of weight and zero point, and how many zero points there are."""
    w = _weight(spec)
    zero = {"none": np.asarray(0), "number": np.asarray(2)}.get(spec.weight_zero)
    if zero is None:
        zero = np.arange(len(w)) % 3 + 1
    if dtype == "uint8":
        w, zero = w + 10, zero + 8
    names = [graph.constant("w", w, dtype), graph.constant("w_zero", zero, dtype)]
    return names, zero.size if zero.ndim else 0


def _operands(graph: Graph, spec: Spec, tensor: str) -> list[str]:
    match spec.operator.family:
        case "conv" if spec.kind == "Conv QDQ":
            return [tensor, _dequantised_weight(graph, spec), *_bias(graph, spec)]
        case "conv" | "transposed":
            return [tensor, graph.constant("w", _weight(spec), "float32"), *_bias(graph, spec)]
        case "integer":
            dtype = "int8" if spec.operator.dtype == "int8" or spec.bias else "uint8"
            (w, zero), _ = _quantised_weight(graph, spec, dtype)
            return [tensor, w, zero_point(graph, spec), zero]
        case "qlinear":
            return _linear_operands(graph, spec, tensor)
        case "average" if spec.operator.domain:
            scale, zero = graph.constant("x_scale", 0.5, "float32"), zero_point(graph, spec)
            return [tensor, scale, zero, scale, zero]
        case "deform":
            w = graph.constant("w", _weight(spec), "float32")
            return [tensor, w, *_offsets(graph, spec)]
    return [tensor]


def _bias(graph: Graph, spec: Spec) -> list[str]:
    made = spec.group * (2 if spec.group > 1 else 3)
    return [graph.constant("b", np.arange(made) - 1, "float32")] if spec.bias else []


def _dequantised_weight(graph: Graph, spec: Spec) -> str:
    dtype = quantised(spec)
    (w, zero), count = _quantised_weight(graph, spec, dtype)
    scale = graph.constant("w_scale", np.full(count, 0.5) if count else 0.5, "float32")
    output = f"{graph.mark}w_float"
    if any(output in node.output for node in graph.nodes):
        return output
    more = {"axis": 0} if count else {}
    return graph.node("DequantizeLinear", [w, scale, zero], "w_float", **more)


def _linear_operands(graph: Graph, spec: Spec, tensor: str) -> list[str]:
    dtype = spec.operator.dtype
    (w, w_zero), count = _quantised_weight(graph, spec, "int8" if spec.seed % 2 else dtype)
    scale = graph.constant("w_scale", np.full(count, 0.5) if count else 0.5, "float32")
    names = [
        *(tensor, graph.constant("x_scale", 0.5, "float32"), zero_point(graph, spec)),
        *(w, scale, w_zero),
        *(graph.constant("y_scale", 32.0, "float32"), graph.constant("y_zero", 3, dtype)),
    ]
    made = spec.group * (2 if spec.group > 1 else 3)
    return [*names, graph.constant("b", np.arange(made) * 40, "int32")] if spec.bias else names


def _offsets(graph: Graph, spec: Spec) -> list[str]:
    """Offsets in halves of a cell, for the windows of a DeformConv over a fixed size."""
    rng, cells = np.random.default_rng(spec.seed + 2), math.prod(spec.kernel)
    windows = place_windows(crossed_sizes(spec, spec.spatial), spec.kernel, **_geometry(spec))
    shape = (spec.batch, 2 * cells, *(window.out for window in windows))
    return [graph.constant("offset", rng.integers(-3, 4, shape) / 2, "float32")]


def _geometry(spec: Spec) -> dict[str, Any]:
    written = attributes(spec)
    return {key: written[key] for key in ("strides", "dilations", "pads") if key in written}


def add_operator(
    graph: Graph, spec: Spec, tensor: str, output: str, referred: tuple[str, ...] = ()
) -> list[str]:
    """Add the operator; its outputs. Attributes that are `referred` come from the function."""
    kind = spec.operator
    if kind.family == "pad":
        return [graph.node("Identity", [tensor], output)]
    written = {k: v for k, v in attributes(spec).items() if k not in referred}
    outputs = [graph.mark + output]
    if spec.indices:
        outputs.append(f"{graph.mark}{output}_indices")
    operands = _operands(graph, spec, tensor)
    graph.nodes_outputs(kind.op, operands, outputs, domain=kind.domain, **written)
    for name in referred:
        kind_of = AttributeProto.STRING if name == "auto_pad" else AttributeProto.INTS
        graph.nodes[-1].attribute.add(name=name, ref_attr_name=name, type=kind_of)
    return outputs


def add_behind(graph: Graph, spec: Spec, tensor: str, output: str) -> str:
    """What reads the operator's result."""
    match spec.behind:
        case "Slice":
            return graph.cut(tensor, 2, 1, output)
        case "QDQ":
            made = quantisation(graph, spec, "QuantizeLinear", tensor, f"{output}_q", None)
            return quantisation(graph, spec, "DequantizeLinear", made, output, None)
        case "":
            return graph.node("Identity", [tensor], output)
    return graph.node(spec.behind, [tensor], output)


def result_type(spec: Spec) -> str:
    return "int32" if spec.operator.op == "ConvInteger" else spec.operator.dtype
