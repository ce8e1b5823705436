"""ncnn in float32, after pnnx has converted the model."""

import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ncnn
import numpy as np

LETTERS = {"float": "f", "int": "i", "uint": "u"}


def load(model: str, inputs: Any, outputs: Any) -> Any:
    network = ncnn.Net()
    network.opt.use_fp16_packed = False
    network.opt.use_fp16_storage = False
    network.opt.use_fp16_arithmetic = False
    network.opt.use_bf16_storage = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _convert(Path(model), folder, ",".join(map(_spelled, inputs.values())))
        if network.load_param(str(folder / "model.ncnn.param")):
            text = (folder / "model.ncnn.param").read_text()
            raise RuntimeError(f"ncnn load_param failed: {' '.join(text.split())[:300]}")
        if network.load_model(str(folder / "model.ncnn.bin")):
            raise RuntimeError("ncnn load_model failed")

    def run(inputs: Any) -> Any:
        extractor = network.create_extractor()
        # ncnn has no integer tensors and no batch; a Mat only borrows the array, and layers want
        # channels that are aligned, as those of a clone are.
        samples = [array[0] if len(array) == 1 else array for array in inputs.values()]
        mats = [ncnn.Mat(np.ascontiguousarray(one, np.float32)).clone() for one in samples]
        for index, mat in enumerate(mats):
            extractor.input(f"in{index}", mat)
        return [_extracted(extractor, *place) for place in enumerate(outputs.values())]

    return run


def _spelled(array: Any) -> str:
    kind = array.dtype.name.rstrip("0123456789")
    return f"{list(array.shape)}{LETTERS[kind]}{8 * array.dtype.itemsize}".replace(" ", "")


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


def _extracted(extractor: Any, index: int, rank: int) -> Any:
    status, result = extractor.extract(f"out{index}")
    if status:
        raise RuntimeError(f"ncnn extract failed: {status}")
    found = np.array(result)
    return found if found.ndim == rank else found[None]
