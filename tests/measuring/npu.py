"""An accelerator of one's own, which pads little: numpy loops, and no word of onnxpad.

It takes symmetric pads of at most 3, no Pad node, no ceil_mode and no dilations with SAME. What
cannot pad is onnx's own numpy. As a program it reads and writes .npz files:
`python npu.py MODEL INPUTS OUTPUTS`.
"""

import sys
from itertools import product
from typing import Any, Literal

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, Any]
MOST, WIDEST = 3, 99
PADDED = ("Conv", "ConvInteger", "ConvTranspose", "QLinearConv", "Pad")
POOLS = ("AveragePool", "LpPool", "MaxPool")


class Unsupported(Exception):
    """What the accelerator refuses."""


def run(model: str, inputs: dict[str, Array]) -> dict[str, Array]:
    read = onnx.load(model)
    return run_graph(read.graph, inputs, {one.domain: one.version for one in read.opset_import})


def run_graph(graph: Any, tensors: dict[str, Array], opsets: dict[str, int]) -> dict[str, Array]:
    tensors = {one.name: numpy_helper.to_array(one) for one in graph.initializer} | tensors
    for node in graph.node:
        reads = [tensors[name] if name else None for name in node.input]
        given = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
        if node.op_type == "If":
            chosen = given["then_branch" if reads[0] else "else_branch"]
            results = tuple(run_graph(chosen, tensors, opsets).values())
        elif node.op_type in (*PADDED, *POOLS):
            results = computed(node.op_type, reads, given)
        else:
            feeds = {name: tensors[name] for name in node.input if name}
            found: Any = ReferenceEvaluator(alone(node, opsets)).run(None, feeds)
            results = tuple(found)
        tensors |= dict(zip(node.output, results, strict=False))
    return {one.name: tensors[one.name] for one in graph.output}


def alone(node: Any, opsets: dict[str, int]) -> Any:
    """A model of one node, which onnx reads by its opset."""
    reads = [onnx.ValueInfoProto(name=name) for name in node.input if name]
    writes = [onnx.ValueInfoProto(name=name) for name in node.output]
    graph = onnx.helper.make_graph([node], "g", reads, writes)
    imports = [onnx.helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    if node.op_type in ("DequantizeLinear", "QuantizeLinear", "BatchNormalization"):
        imports = [onnx.helper.make_opsetid("", 19)]  # onnx has no right numpy of older ones
    return onnx.helper.make_model(graph, opset_imports=imports)


def computed(operator: str, reads: list[Any], given: dict[str, Any]) -> tuple[Array, ...]:
    x = reads[0]
    rank = x.ndim - 2
    if operator == "QLinearConv":
        return (quantised(reads, given),)
    if operator == "ConvInteger":
        zero, weight_zero = ([*reads[2:], None, None])[:2]
        x = x.astype(np.int32) - (0 if zero is None else zero.astype(np.int32))
        weight = reads[1].astype(np.int32)
        weight = weight - (0 if weight_zero is None else weight_zero.astype(np.int32))
        return (convolved(x, weight, given).astype(np.int32),)
    if operator == "Conv":
        bias = 0 if len(reads) < 3 else reads[2].reshape(1, -1, *[1] * rank)
        return ((convolved(x, reads[1], given) + bias).astype(x.dtype),)
    if operator == "ConvTranspose":
        bias = 0 if len(reads) < 3 else reads[2].reshape(1, -1, *[1] * rank)
        return ((spread(x, reads[1], given) + bias).astype(x.dtype),)
    if operator in POOLS:
        return pooled(operator, x, given)
    raise Unsupported(f"no operator {operator}")


def _behind(place: Any) -> Any:
    return (..., *place)


class Window:
    """Kernel, strides, dilations and pads of a node, refused where the accelerator has none."""

    def __init__(self, shape: Any, kernel: Any, given: dict[str, Any]) -> None:
        rank = len(kernel)
        self.kernel = narrow(kernel)
        self.strides = list(given.get("strides", [1] * rank))
        self.dilations = list(given.get("dilations", [1] * rank))
        self.spans = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]
        auto_pad = given.get("auto_pad", b"NOTSET").decode()
        pads = list(given.get("pads", [0] * rank * 2)) if auto_pad == "NOTSET" else [0] * rank * 2
        if auto_pad.startswith("SAME"):
            if max(self.dilations) > 1:
                raise Unsupported("dilations with SAME")
            outputs = [-(-size // s) for size, s in zip(shape, self.strides, strict=True)]
            for axis, (size, out) in enumerate(zip(shape, outputs, strict=True)):
                total = max((out - 1) * self.strides[axis] + self.spans[axis] - size, 0)
                less = total // 2
                begin = less if auto_pad == "SAME_UPPER" else total - less
                pads[axis], pads[axis + rank] = begin, total - begin
        refuse(pads)
        if given.get("ceil_mode"):
            raise Unsupported("ceil_mode")
        self.pads = list(zip(pads[:rank], pads[rank:], strict=True))
        self.sizes = [
            (size + sum(pad) - span) // stride + 1
            for size, pad, span, stride in zip(
                shape, self.pads, self.spans, self.strides, strict=True
            )
        ]

    def parts(self, x: Array) -> Any:
        """Each place of the kernel, with the cells that every window reads there."""
        for place in product(*map(range, self.kernel)):
            at: Any = (..., *self.slices(place))
            yield place, x[at]

    def slices(self, place: Any) -> list[slice]:
        return [
            slice(at * d, at * d + (size - 1) * s + 1, s)
            for at, d, size, s in zip(place, self.dilations, self.sizes, self.strides, strict=True)
        ]

    def padded(self, x: Array, value: float) -> Array:
        return np.pad(x, [(0, 0), (0, 0), *self.pads], constant_values=value)


def narrow(kernel: Any) -> list[int]:
    if max(kernel) > WIDEST:
        raise Unsupported(f"kernels above {WIDEST}")
    return list(kernel)


def refuse(pads: list[int]) -> None:
    half = len(pads) // 2
    if pads[:half] != pads[half:]:
        raise Unsupported("asymmetric pads")
    if max(pads) > MOST:
        raise Unsupported(f"pads above {MOST}")


def convolved(x: Array, weight: Array, given: dict[str, Any], zero: float = 0) -> Array:
    window = Window(x.shape[2:], weight.shape[2:], given)
    group = given.get("group", 1)
    x = window.padded(x, zero).astype(np.float64)
    n, channels = x.shape[:2]
    x = x.reshape(n, group, channels // group, *x.shape[2:])
    weight = weight.reshape(group, -1, *weight.shape[1:]).astype(np.float64)
    result = sum(
        np.einsum("goc,ngc...->ngo...", weight[_behind(place)], part)
        for place, part in window.parts(x)
    )
    return np.asarray(result).reshape(n, -1, *window.sizes)


def spread(x: Array, weight: Array, given: dict[str, Any]) -> Array:
    rank, group = x.ndim - 2, given.get("group", 1)
    strides = list(given.get("strides", [1] * rank))
    dilations = list(given.get("dilations", [1] * rank))
    more = list(given.get("output_padding", [0] * rank))
    spans = [(k - 1) * d + 1 for k, d in zip(weight.shape[2:], dilations, strict=True)]
    axes = list(zip(x.shape[2:], strides, spans, more, strict=True))
    whole = [(size - 1) * stride + span + extra for size, stride, span, extra in axes]
    auto_pad = given.get("auto_pad", b"NOTSET").decode()
    pads = list(given.get("pads", [0] * rank * 2)) if auto_pad == "NOTSET" else [0] * rank * 2
    asked = given.get("output_shape")
    if auto_pad.startswith("SAME") and max(dilations) > 1:
        raise Unsupported("dilations with SAME")
    if asked or auto_pad.startswith("SAME"):
        sizes = list(asked or [size * stride for size, stride, *_ in axes])
        for axis, (size, total) in enumerate(zip(sizes, whole, strict=True)):
            cropped = max(total - size, 0)
            less = cropped // 2
            begin = less if auto_pad != "SAME_LOWER" else cropped - less
            pads[axis], pads[axis + rank] = begin, cropped - begin
    refuse(pads)
    n, channels = x.shape[:2]
    x = x.reshape(n, group, channels // group, *x.shape[2:]).astype(np.float64)
    kernel = narrow(weight.shape[2:])
    weight = weight.reshape(group, -1, *weight.shape[1:]).astype(np.float64)
    result = np.zeros((n, group, weight.shape[2], *whole))
    for place in product(*map(range, kernel)):
        slices: Any = [
            slice(at * d, at * d + (size - 1) * s + 1, s)
            for at, d, size, s in zip(place, dilations, x.shape[3:], strides, strict=True)
        ]
        result[(..., *slices)] += np.einsum("gco,ngc...->ngo...", weight[_behind(place)], x)
    result = result.reshape(n, -1, *whole)
    crops: Any = [
        slice(b, size - e) for b, e, size in zip(pads[:rank], pads[rank:], whole, strict=True)
    ]
    return np.asarray(result[(..., *crops)])


def pooled(operator: str, x: Array, given: dict[str, Any]) -> tuple[Array, ...]:
    window = Window(x.shape[2:], given["kernel_shape"], given)
    if operator == "MaxPool":
        return best(window, x, column_first=bool(given.get("storage_order")))
    cells = [part for _, part in window.parts(window.padded(x, 0).astype(np.float64))]
    if operator == "LpPool":
        p = given.get("p", 2)
        return ((np.sum([abs(one) ** p for one in cells], axis=0) ** (1 / p)).astype(x.dtype),)
    ones = window.padded(np.ones_like(x), 1 if given.get("count_include_pad") else 0)
    counts = np.sum([part for _, part in window.parts(ones)], axis=0)
    return ((np.sum(cells, axis=0) / np.maximum(counts, 1)).astype(x.dtype),)


def best(window: Window, x: Array, *, column_first: bool) -> tuple[Array, ...]:
    lowest = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf
    spatial = x.shape[2:]
    order: Literal["C", "F"] = "F" if column_first else "C"
    cells = np.prod(spatial)
    flat = np.arange(cells).reshape(spatial, order=order)
    starts = np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *[1] * len(spatial)) * cells
    places = window.padded(flat + starts, -1)
    values = np.stack([part for _, part in window.parts(window.padded(x, lowest))])
    where = np.stack([part for _, part in window.parts(places)])
    first = values.argmax(axis=0)[None]
    return (
        np.take_along_axis(values, first, 0)[0],
        np.take_along_axis(where, first, 0)[0],
    )


def quantised(reads: list[Any], given: dict[str, Any]) -> Array:
    x, x_scale, x_zero, weight, w_scale, w_zero, y_scale, y_zero, *bias = reads
    rank = x.ndim - 2

    def each(value: Array, behind: int) -> Array:
        return value.astype(np.float64).reshape(-1, *[1] * behind)

    weight = weight.astype(np.float64) - each(w_zero, weight.ndim - 1)
    result = convolved(x.astype(np.float64) - float(x_zero), weight, given)
    if bias and bias[0] is not None:
        result = result + each(bias[0], rank)
    result = result * float(x_scale) * each(w_scale, rank) / float(y_scale)
    limits = np.iinfo(y_zero.dtype)
    whole = np.rint(result.astype(np.float32)) + float(y_zero)
    return np.clip(whole, limits.min, limits.max).astype(y_zero.dtype)


def main() -> None:
    model, inputs, outputs = sys.argv[1:4]
    with np.load(inputs) as given:
        results: dict[str, Any] = run(model, dict(given))
    np.savez(outputs, **results)


if __name__ == "__main__":
    main()
