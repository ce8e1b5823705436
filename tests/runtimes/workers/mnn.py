"""MNN on the CPU with precision high, after its own converter."""

import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
from MNN import expr, nn

Array = np.ndarray[Any, Any]

TYPES = {"float32": expr.float, "int32": expr.int, "int64": expr.int, "uint8": expr.uint8}


def run(model: str, inputs: dict[str, Array], outputs: list[str]) -> dict[str, Array]:
    with tempfile.TemporaryDirectory() as folder:
        converted = f"{folder}/model.mnn"
        _convert(model, converted)
        runtime = nn.create_runtime_manager(({"backend": "CPU", "precision": "high"},))
        network = nn.load_module_from_file(
            converted, list(inputs), outputs, runtime_manager=runtime
        )
    results = network.onForward([_variable(array) for array in inputs.values()])
    return {
        name: np.array(expr.convert(result, expr.NCHW).read())
        for name, result in zip(outputs, results, strict=False)
    }


def _convert(model: str, converted: str) -> None:
    arguments = ["-f", "ONNX", "--modelFile", model, "--MNNModel", converted, "--bizCode", "x"]
    finished = subprocess.run(
        [sys.executable, "-m", "MNN.tools.mnnconvert", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if finished.returncode or "Converted Success" not in finished.stdout:
        raise RuntimeError(f"mnnconvert ({finished.returncode}): {finished.stdout[-400:]}")


def _variable(array: Array) -> Any:
    kind = TYPES.get(str(array.dtype))
    if kind is None:
        raise TypeError(f"MNN has no placeholder of {array.dtype}")
    variable = expr.placeholder(list(array.shape), expr.NCHW, kind)
    variable.write(array.astype(np.int32) if kind == expr.int else array)
    return variable
