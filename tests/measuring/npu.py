"""An accelerator of one's own, which pads little: the tests' interpreter, and no word of onnxpad.

It takes symmetric pads of at most 3, no Pad node, no ceil_mode and no dilations with SAME. As a
program it reads and writes .npz files: `python npu.py MODEL INPUTS OUTPUTS`.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.oracle.interpreter import run_model

Array = np.ndarray[Any, Any]
MOST, WIDEST = 3, 99
WINDOWS = {"Conv", "ConvInteger", "ConvTranspose", "QLinearConv"}
POOLS = {"AveragePool", "LpPool", "MaxPool"}


class Unsupported(Exception):
    """What the accelerator refuses."""


def run(model: str, inputs: dict[str, Array]) -> dict[str, Array]:
    return computed(onnx.load(model), inputs)


def computed(read: onnx.ModelProto, inputs: dict[str, Array]) -> dict[str, Array]:
    """What the accelerator makes of a model; Unsupported for what it refuses."""
    sizes = {one.name: onnx.numpy_helper.to_array(one).shape for one in read.graph.initializer}
    sizes |= {name: value.shape for name, value in inputs.items()}
    for node in read.graph.node:
        if node.op_type in WINDOWS | POOLS:
            refuse(node, sizes)
        elif node.op_type == "Pad":
            raise Unsupported("no operator Pad")
        sizes |= dict.fromkeys(node.output, sizes.get(node.input[0]) if node.input else None)
    try:
        return dict(run_model(read, inputs))
    except NotImplementedError:  # what the interpreter has not is no padding
        evaluator = ReferenceEvaluator(read)
        values: Any = evaluator.run(None, inputs)
        return dict(zip(evaluator.output_names, values, strict=True))


def refuse(node: Any, sizes: dict[str, Any]) -> None:
    """Raise Unsupported for padding that the accelerator has not."""
    given = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    weight = node.input[3 if node.op_type == "QLinearConv" else 1] if len(node.input) > 1 else ""
    kernel = given.get("kernel_shape") or sizes[weight][2:]
    rank, auto_pad = len(kernel), given.get("auto_pad", b"NOTSET").decode()
    strides, dilations = (given.get(name, [1] * rank) for name in ("strides", "dilations"))
    pads = list(given.get("pads", [0] * 2 * rank)) if auto_pad == "NOTSET" else [0] * 2 * rank
    if max(kernel) > WIDEST:
        raise Unsupported(f"kernels above {WIDEST}")
    if given.get("ceil_mode"):
        raise Unsupported("ceil_mode")
    asked = given.get("output_shape")
    if auto_pad.startswith("SAME") and max(dilations) > 1:
        raise Unsupported("dilations with SAME")
    if auto_pad.startswith("SAME") or asked:
        for axis, size in enumerate(sizes[node.input[0]][2:]):
            span, stride = (kernel[axis] - 1) * dilations[axis] + 1, strides[axis]
            if node.op_type == "ConvTranspose":
                more = given.get("output_padding", [0] * rank)[axis]
                made = asked[axis] if asked else size * stride
                total = max((size - 1) * stride + span + more - made, 0)
            else:
                total = max((-(-size // stride) - 1) * stride + span - size, 0)
            pads[axis], pads[axis + rank] = total // 2, total - total // 2
    if pads[:rank] != pads[rank:]:
        raise Unsupported("asymmetric pads")
    if max(pads) > MOST:
        raise Unsupported(f"pads above {MOST}")


def main() -> None:
    model, inputs, outputs = sys.argv[1:4]
    with np.load(inputs) as given:
        results: dict[str, Any] = run(model, dict(given))
    np.savez(outputs, **results)


if __name__ == "__main__":
    main()
