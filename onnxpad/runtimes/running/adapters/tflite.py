"""LiteRT in float32, after onnx2tf has converted the model to channels last."""

import contextlib
import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import onnx
import onnx2tf
import tensorflow as tf


def image() -> Any:
    """Stands for the photographs that onnx2tf downloads for inputs of three channels."""
    return np.random.default_rng(0).uniform(0, 1, (20, 128, 128, 3)).astype(np.float32)


class WrittenError(Exception):
    """The file in float32 is there, which is all that is run."""


def once(model: Any) -> Any:
    """A converter that stops after the float32 file: less than half the time of all files."""
    converter = from_model(model)
    convert = converter.convert
    files: list[Any] = []

    def converted() -> Any:
        if files:
            raise WrittenError
        files.append(convert())
        return files[0]

    converter.convert = converted
    return converter


from_model = tf.lite.TFLiteConverter.from_keras_model
tf.lite.TFLiteConverter.from_keras_model = once
tf.saved_model.save = lambda *_, **__: None
onnx2tf.onnx2tf.download_test_image_data = image


def load(model: str, inputs: Any, outputs: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        # onnx2tf writes what it simplified over the file that it is given.
        copy = shutil.copy(model, folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(WrittenError):
                onnx2tf.convert(
                    input_onnx_file_path=copy,
                    output_folder_path=folder,
                    copy_onnx_input_output_names_to_tflite=False,
                    non_verbose=True,
                )
        except SystemExit as error:
            raise RuntimeError(f"onnx2tf exits with {error.code}") from error
        interpreter = tf.lite.Interpreter(str(next(Path(folder).glob("*_float32.tflite"))))
    inferred = onnx.shape_inference.infer_shapes(onnx.load(model)).graph
    shapes = {one.name: one.type.tensor_type.shape.dim for one in inferred.output}

    def run(inputs: Any) -> Any:
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
        sizes = [[dim.dim_value for dim in shapes[name]] for name in outputs]
        return [_in_order(*pair) for pair in zip(results, sizes, strict=False)]

    return run


def _in_order(result: Any, wanted: list[int]) -> Any:
    """The result in ONNX's order of axes: onnx2tf leaves some results in it, and says nowhere so.

    Where the sizes do not tell them apart it is taken for channels last.
    """
    if result.ndim < 3:
        return result
    moved = np.moveaxis(result, -1, 1)
    return result if list(result.shape) == wanted != list(moved.shape) else moved
