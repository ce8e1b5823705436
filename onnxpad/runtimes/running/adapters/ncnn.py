"""ncnn in float32, after pnnx has converted the model."""

import subprocess
import tempfile
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ncnn
import numpy as np

Array = np.ndarray[Any, Any]

TYPES = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "int64": "i64",
    "int32": "i32",
    "uint8": "u8",
    "int8": "i8",
}


@lru_cache(maxsize=1)
def _network(model: str, shapes: str) -> Any:
    network = ncnn.Net()
    network.opt.use_fp16_packed = False
    network.opt.use_fp16_storage = False
    network.opt.use_fp16_arithmetic = False
    network.opt.use_bf16_storage = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _convert(Path(model), folder, shapes)
        if network.load_param(str(folder / "model.ncnn.param")):
            text = (folder / "model.ncnn.param").read_text()
            raise RuntimeError(f"ncnn load_param failed: {' '.join(text.split())[:300]}")
        if network.load_model(str(folder / "model.ncnn.bin")):
            raise RuntimeError("ncnn load_model failed")
    return network


def _convert(model: Path, folder: Path, shapes: str) -> None:
    package = find_spec("pnnx")
    if package is None or package.submodule_search_locations is None:
        raise ImportError("pnnx is not installed")
    copy = folder / "model.onnx"
    copy.write_bytes(model.read_bytes())
    program = Path(package.submodule_search_locations[0]) / "pnnx"
    finished = subprocess.run(
        [program, copy, "fp16=0", f"inputshape={shapes}"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if finished.returncode or not (folder / "model.ncnn.param").exists():
        raise RuntimeError(f"pnnx ({finished.returncode}): {finished.stdout[-300:]}")


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    shapes = (f"{list(x.shape)}{TYPES[str(x.dtype)]}".replace(" ", "") for x in inputs.values())
    extractor = _network(model, ",".join(shapes)).create_extractor()
    # ncnn has no integer tensors; a Mat only borrows the array, and layers want channels that are
    # aligned, as those of a clone are.
    arrays = [np.ascontiguousarray(_sample(array), np.float32) for array in inputs.values()]
    mats = [ncnn.Mat(array).clone() for array in arrays]
    for index, mat in enumerate(mats):
        extractor.input(f"in{index}", mat)
    results = {}
    for index, (output, rank) in enumerate(outputs.items()):
        status, result = extractor.extract(f"out{index}")
        if status:
            raise RuntimeError(f"ncnn extract failed: {status}")
        found = np.array(result)
        results[output] = found if found.ndim == rank else found[None]
    return results


def _sample(array: Array) -> Array:
    """Without a batch axis of one, which ncnn does not have."""
    return array[0] if len(array) == 1 else array
