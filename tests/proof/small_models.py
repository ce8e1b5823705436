"""Models of a few nodes, written as text."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper, parser

Array = NDArray[Any]


def text(body: str, opset: int = 18, ir: int = 8) -> onnx.ModelProto:
    """A model from the text of its graph, such as `g (float[N] x) => (float[N] y) { ... }`."""
    header = f'<ir_version: {ir}, opset_import: ["" : {opset}, "com.microsoft" : 1]>'
    return parser.parse_model(f"{header}\n{body}")


def one_node(
    op: str,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    opset: int = 18,
    outputs: int = 1,
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """An operator whose first input is the model's and the others are constants, and its data."""
    names = [f"i{at}" for at in range(len(inputs))]
    node = helper.make_node(op, names, [f"o{at}" for at in range(outputs)], **attributes)
    kind = helper.np_dtype_to_tensor_dtype(inputs[0].dtype)
    given = helper.make_tensor_value_info(names[0], kind, inputs[0].shape)
    made = [onnx.ValueInfoProto(name=name) for name in node.output]
    rest = zip(names[1:], inputs[1:], strict=True)
    constants = [numpy_helper.from_array(array, name) for name, array in rest]
    graph = helper.make_graph([node], "one", [given], made, constants)
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, ir_version=8, opset_imports=imports), {names[0]: inputs[0]}


def signed(*shape: int, seed: int = 0) -> Array:
    """Small whole numbers of both signs as float32."""
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(np.float32)
