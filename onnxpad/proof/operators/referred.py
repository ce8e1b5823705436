"""Operators without a rule, by onnx's own reference: for counterexamples in numbers alone."""

from math import prod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from onnxpad.proof.call import Call, Value
from onnxpad.proof.endings import Undecided
from onnxpad.proof.floats import Numeric

Array = NDArray[Any]
_MOST = 1 << 16
_ROUNDED = 2.0**-18
"""Of the largest number of a result: what an operator of many steps is off in float32."""


def referred(call: Call) -> list[Value]:
    """What the reference computes, put off by what its types round; Undecided where it fails."""
    values = [one for one in call.inputs if one is not None]
    rough = any(one.dtype.name in ("float16", "bfloat16") for one in values)
    if call.domain or rough or sum(one.cells.size for one in values) > _MOST:
        raise Undecided(f"{call.op} has no numbers here")
    try:
        model = _model(call)
        call.spend(_size(model))  # before there are so many
        made = ReferenceEvaluator(model).run(None, {})
    except Undecided:
        raise
    except Exception as error:  # noqa: BLE001 - of another library, on a file's attributes
        raise Undecided(f"{call.op} has no numbers here: {type(error).__name__}") from None
    return [_off(call, np.asarray(one)) for one in made]


def _off(call: Call, made: Array) -> Value:
    """A result with the errors of its computation."""
    cells = made.astype(np.float64)
    if made.dtype.kind == "f" and isinstance(call.d, Numeric):
        size = np.full(made.shape, np.abs(cells[np.isfinite(cells)]).max(initial=0))
        cells = call.d.off(cells, size, _ROUNDED)
    return Value(cells, made.dtype)


def _size(model: onnx.ModelProto) -> int:
    """The cells of all results; raises Undecided where their values alone would tell how many."""
    total = 0
    for value in onnx.shape_inference.infer_shapes(model).graph.output:
        found = value.type.tensor_type
        dims = [dim.dim_value for dim in found.shape.dim if dim.HasField("dim_value")]
        if not found.HasField("shape") or len(dims) < len(found.shape.dim):
            raise Undecided("the size of a result is not known before it is computed")
        total += prod(dims)
    return total


def _model(call: Call) -> onnx.ModelProto:
    """The operator alone, with its operands as constants."""
    held = [
        numpy_helper.from_array(one.numbers.astype(one.dtype), f"i{at}")
        for at, one in enumerate(call.inputs)
        if one is not None
    ]
    attributes = {
        name: numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
        for name, value in call.attributes.items()
    }
    names = [f"i{at}" if one is not None else "" for at, one in enumerate(call.inputs)]
    outputs = [f"o{at}" for at in range(call.outputs)]
    node = helper.make_node(call.op, names, outputs, **attributes)
    made = [onnx.ValueInfoProto(name=name) for name in outputs]
    graph = helper.make_graph([node], "one", [], made, held)
    imports = [helper.make_opsetid("", call.opset)]
    return helper.make_model(graph, ir_version=8, opset_imports=imports)
