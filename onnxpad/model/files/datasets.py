"""Folders test_data_set_*: inputs and outputs of one run, as ONNX's own tests keep them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from onnxpad.errors import RequestError
from onnxpad.model.files.arrays import LARGEST
from onnxpad.model.files.contents import contents

Array = NDArray[Any]
_FILE = re.compile(r"(input|output)_(\d+)\.pb")


def folders_in(path: Path) -> list[Path]:
    """The folder itself where it holds tensors, else the test_data_set_* in it, by number."""
    if any(_FILE.fullmatch(item.name) for item in path.iterdir()):
        return [path]
    found = [item for item in path.glob("test_data_set_*") if item.is_dir()]
    return sorted(found, key=lambda item: (len(item.name), item.name))


def tensors_in(folder: Path) -> dict[str, list[tuple[str, Array]]]:
    """Names and values under 'input' and 'output', in the order of their numbers.

    Raises RequestError for files that hold no tensor.
    """
    found: dict[str, dict[int, tuple[str, Array]]] = {"input": {}, "output": {}}
    for item in folder.iterdir():
        match = _FILE.fullmatch(item.name)
        if match:
            found[match[1]][int(match[2])] = _tensor(item)
    return {kind: [rows[number] for number in sorted(rows)] for kind, rows in found.items()}


def _tensor(path: Path) -> tuple[str, Array]:
    tensor = TensorProto()
    try:
        tensor.ParseFromString(contents(path, LARGEST))
        if tensor.data_location != TensorProto.EXTERNAL:
            return tensor.name, numpy_helper.to_array(tensor)
    except Exception as error:  # protobuf's DecodeError has no stubs; numpy raises many kinds
        raise RequestError(f"{path}: holds no tensor that can be read: {error}") from error
    raise RequestError(f"{path}: has its values in another file, which is not read")
