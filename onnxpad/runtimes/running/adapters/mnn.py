"""MNN on the CPU with precision high, after its own converter."""

import tempfile
from pathlib import Path
from typing import Any

import _tools
import numpy as np
from MNN import expr, nn

TYPES = {
    "float32": expr.float,
    "int32": expr.int,
    "int64": expr.int,
    "uint8": expr.uint8,
    "int8": expr.int8,
}


def load(model: str, inputs: Any, outputs: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        converted = f"{folder}/model.mnn"
        files = ["--modelFile", model, "--MNNModel", converted]
        _tools.mnnconvert(["mnnconvert", "-f", "ONNX", *files, "--bizCode", "x"])
        if not Path(converted).exists():
            raise RuntimeError("mnnconvert wrote no model")
        runtime = nn.create_runtime_manager(({"backend": "CPU", "precision": "high"},))
        network = nn.load_module_from_file(
            converted, list(inputs), list(outputs), runtime_manager=runtime
        )

    def run(inputs: Any) -> Any:
        # forward() would crash where onForward() gives no results.
        results = network.onForward([_variable(array) for array in inputs.values()])
        if not results:
            raise RuntimeError("MNN computed nothing")
        return [_array(*pair) for pair in zip(results, outputs.values(), strict=False)]

    return run


def _array(result: Any, rank: int) -> Any:
    array = np.array(expr.convert(result, expr.NCHW).read())
    # MNN's 1-D operators are 2-D ones of width 1, and their outputs keep that width.
    while array.ndim > rank > 0 and array.shape[-1] == 1:
        array = array[..., 0]
    return array


def _variable(array: Any) -> Any:
    kind = TYPES.get(str(array.dtype))
    if kind is None:
        raise TypeError(f"MNN has no placeholder of {array.dtype}")
    variable = expr.placeholder(list(array.shape), expr.NCHW, kind)
    variable.write(array.astype(np.int32) if kind == expr.int else array)
    return variable
