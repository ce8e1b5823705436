"""LiteRT in float32, after onnx2tf has converted the model to channels last."""

import contextlib
import io
import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import onnx
import onnx2tf
import tensorflow as tf

Array = np.ndarray[Any, Any]


def image() -> Array:
    """Stands for the photographs that onnx2tf downloads for inputs of three channels."""
    return np.random.default_rng(0).uniform(0, 1, (20, 128, 128, 3)).astype(np.float32)


class WrittenError(Exception):
    """The file in float32 is there, which is all that is run."""


def once(model: Any) -> Any:
    """A converter of the file in float32 alone, which takes less than half as long as all files."""
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


@lru_cache(maxsize=1)
def _sizes(model: str) -> dict[str, list[int]]:
    """The shapes of the results, where they are known."""
    inferred = onnx.shape_inference.infer_shapes(onnx.load(model)).graph
    return {
        one.name: [dim.dim_value for dim in one.type.tensor_type.shape.dim]
        for one in inferred.output
    }


@lru_cache(maxsize=1)
def _interpreter(model: str) -> Any:
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
        return tf.lite.Interpreter(str(next(Path(folder).glob("*_float32.tflite"))))


def _in_order(result: Array, wanted: list[int]) -> Array:
    """The result in ONNX's order of axes: onnx2tf leaves some results in it, and says nowhere so.

    Where the sizes do not tell them apart it is taken for channels last.
    """
    if result.ndim < 3:
        return result
    moved = np.moveaxis(result, -1, 1)
    return result if list(result.shape) == wanted != list(moved.shape) else moved


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    interpreter = _interpreter(model)
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
    sizes = _sizes(model)
    return {
        name: _in_order(result, sizes[name]) for name, result in zip(outputs, results, strict=False)
    }
