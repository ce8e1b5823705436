"""A few small models whose treatment by every runtime is known, with float64 references."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from onnxpad.runtimes.running.runner import Array
from tests.oracle import operators as oracle
from tests.runtimes.live.running import Case


def single(
    op: str,
    x: Array,
    constants: Sequence[Array],
    outputs: Mapping[str, Array],
    **attributes: Any,
) -> onnx.ModelProto:
    """A model of one node at opset 17, with shapes as `outputs`, which hold the references."""
    make = onnx.helper
    names = [f"c{number}" for number in range(len(constants))]

    def described(name: str, array: Array, kind: int) -> onnx.ValueInfoProto:
        return make.make_tensor_value_info(name, kind, array.shape)

    types = {"i": onnx.TensorProto.INT64, "f": onnx.TensorProto.FLOAT}
    graph = make.make_graph(
        [make.make_node(op, ["x", *names], list(outputs), "node", **attributes)],
        "single",
        [described("x", x, onnx.TensorProto.FLOAT)],
        [described(name, array, types[array.dtype.kind]) for name, array in outputs.items()],
        [onnx.numpy_helper.from_array(*pair) for pair in zip(constants, names, strict=True)],
    )
    imports = [make.make_opsetid("", 17)]
    return make.make_model(graph, ir_version=8, opset_imports=imports)


def pair(shape: Sequence[int]) -> onnx.ModelProto:
    """Two inputs and two outputs, neither of which may be taken for the other."""
    kind = f"float[{','.join(map(str, shape))}]"
    model: onnx.ModelProto = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 17]> pair ({kind} x, {kind} y) '
        f"=> ({kind} less, {kind} more) "
        "{ less = Sub (x, y) more = Add (x, y) }"
    )
    return model


def sample(folder: Path) -> dict[str, Case]:
    """The models, written into `folder`."""
    draw = np.random.default_rng(5)

    def normal(*shape: int) -> Array:
        return draw.standard_normal(shape).astype(np.float32)

    x, w, line = normal(1, 4, 8, 10), normal(6, 4, 3, 3), normal(1, 4, 12)
    cases = {}

    def add(name: str, model: onnx.ModelProto, inputs: Any, references: Any) -> None:
        path = folder / f"{name}.onnx"
        onnx.save(model, path)
        cases[name] = Case(path, inputs, references)

    def one(
        name: str, op: str, data: Array, constants: Any, result: Any, **attributes: Any
    ) -> None:
        outputs = result if isinstance(result, dict) else {"out": result}
        add(name, single(op, data, constants, outputs, **attributes), {"x": data}, outputs)

    stride: dict[str, Any] = {"strides": [2, 2]}
    end: dict[str, Any] = {"pads": [0, 0, 1, 1], **stride}
    one("conv asymmetric", "Conv", x, [w], oracle.conv(x, w, **end), **end)
    for auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        same: dict[str, Any] = {"auto_pad": auto_pad, **stride}
        one(f"conv {auto_pad}", "Conv", x, [w], oracle.conv(x, w, **same), **same)
    row = normal(6, 4, 3)
    causal: dict[str, Any] = {"pads": [2, 0]}
    one("conv 1-D causal", "Conv", line, [row], oracle.conv(line, row, **causal), **causal)
    turned = normal(4, 6, 3, 3)
    result = oracle.conv_transpose(x, turned, **end)
    one("transposed asymmetric", "ConvTranspose", x, [turned], result, **end)
    negative = -np.abs(x) - 1
    mixed: dict[str, Any] = {"pads": [1, 0, 0, 1], **stride}
    best, places = oracle.pool_max(negative, [3, 3], **mixed)
    one("max asymmetric", "MaxPool", negative, [], best, kernel_shape=[3, 3], **mixed)
    both = {"out": best, "indices": places}
    one("max with Indices", "MaxPool", negative, [], both, kernel_shape=[3, 3], **mixed)
    counted: dict[str, Any] = {"pads": [1, 1, 1, 1], "count_include_pad": 1}
    mean = oracle.pool_average(x, [3, 3], **counted)
    one("average without strides", "AveragePool", x, [], mean, kernel_shape=[3, 3], **counted)
    pads = [0, 0, 2, 1, 0, 0, 1, 2]
    mirrored = oracle.pad(x, pads, mode="reflect")
    one("pad reflect", "Pad", x, [np.array(pads)], mirrored, mode="reflect")
    more = normal(*x.shape)
    add("two of each", pair(x.shape), {"x": x, "y": more}, {"less": x - more, "more": x + more})
    return cases
