"""LiteRT in float32, after onnx2tf has converted the model to channels last."""

import contextlib
import io
import os
import tempfile
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import onnx2tf
import tensorflow as tf

Array = np.ndarray[Any, Any]


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    with tempfile.TemporaryDirectory() as folder:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                onnx2tf.convert(
                    input_onnx_file_path=model,
                    output_folder_path=folder,
                    copy_onnx_input_output_names_to_tflite=False,
                    non_verbose=True,
                )
        except SystemExit as error:
            raise RuntimeError(f"onnx2tf exits with {error.code}") from error
        interpreter = tf.lite.Interpreter(str(next(Path(folder).glob("*_float32.tflite"))))
    wanted = {detail["name"]: detail["index"] for detail in interpreter.get_input_details()}
    for name, array in inputs.items():
        # A lone input may have been renamed.
        index = wanted.get(f"serving_default_{name}:0") or next(iter(wanted.values()))
        moved = np.ascontiguousarray(np.moveaxis(array, 1, -1) if array.ndim > 2 else array)
        interpreter.resize_tensor_input(index, moved.shape)
        interpreter.allocate_tensors()
        interpreter.set_tensor(index, moved)
    interpreter.invoke()
    details = sorted(interpreter.get_output_details(), key=lambda detail: detail["name"])
    results = [interpreter.get_tensor(detail["index"]) for detail in details]
    return {
        name: np.moveaxis(result, -1, 1) if result.ndim > 2 else result
        for name, result in zip(outputs, results, strict=False)
    }
