"""Arrays in .npy and .npz files and in test_data_set_* folders, as ONNX's own tests keep them.

What an archive promises is checked before it costs; of an array numpy takes no more memory than
its cells fill.
"""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from onnxpad.errors import RequestError
from onnxpad.model.files.contents import Refused, contents

Array = NDArray[Any]
LARGEST = 2**31 - 1
"""Bytes that data may have where it comes from a pipe."""
UNPACKED = 512 * 2**20
"""Bytes that the members of an archive may have together, or `RATIO` times the archive."""
RATIO = 4
_TENSOR_FILE = re.compile(r"(input|output)_(\d+)\.pb")


def array_from_npy(path: str | Path) -> Array:
    """The array in an .npy file; RequestError where there is none that can be read."""
    try:
        with _opened(path) as stream:
            found: Array = np.lib.format.read_array(stream, allow_pickle=False)
            return found
    except Exception as error:  # numpy raises many kinds for headers that are none
        raise RequestError(
            f"{path}: is not a readable .npy file: {str(error) or type(error).__name__}"
        ) from error


def arrays_in(path: str | Path, example: str) -> dict[str, Array]:
    """All arrays of an .npz file; RequestError, with `example` as a name, where it is none."""
    name = str(path) if str(path).endswith(".npz") else "data.npz"
    cure = f"save it with np.savez({name!r}, {example}=array)"
    try:
        with _opened(path) as stream:
            return _members(stream)
    except Exception as error:  # zipfile, the decompressors and numpy raise many kinds
        raise RequestError(
            f"{path}: is not a readable .npz file: {str(error) or type(error).__name__}; {cure}"
        ) from error


def _members(stream: BinaryIO) -> dict[str, Array]:
    is_npy = stream.read(len(np.lib.format.MAGIC_PREFIX)) == np.lib.format.MAGIC_PREFIX
    if not zipfile.is_zipfile(stream):
        kind = "one array (.npy) without a name" if is_npy else "no archive, or only a part of one"
        raise Refused(f"it is {kind}")
    stream.seek(0)
    archive = np.load(stream, allow_pickle=False)
    packed = stream.seek(0, 2)
    unpacked = sum(info.file_size for info in archive.zip.infolist())
    if unpacked > max(UNPACKED, RATIO * packed):
        raise Refused(f"its {packed} bytes unpack to {unpacked}: save it without compression")
    return {one: archive[one] for one in archive.files}


def _opened(path: str | Path) -> BinaryIO:
    """The file; what is no regular file is read whole, within bounds."""
    found = Path(path)
    return BytesIO(contents(path, LARGEST)) if found.is_fifo() else found.open("rb")


def folders_in(path: Path) -> list[Path]:
    """The folder itself where it holds tensors, else the test_data_set_* in it, by number."""
    if any(_TENSOR_FILE.fullmatch(item.name) for item in path.iterdir()):
        return [path]
    found = [item for item in path.glob("test_data_set_*") if item.is_dir()]
    return sorted(found, key=lambda item: (len(item.name), item.name))


def tensors_in(folder: Path) -> dict[str, list[tuple[str, Array]]]:
    """Names and values under 'input' and 'output', in the order of their numbers.

    Raises RequestError for files that hold no tensor.
    """
    found: dict[str, dict[int, tuple[str, Array]]] = {"input": {}, "output": {}}
    for item in folder.iterdir():
        if match := _TENSOR_FILE.fullmatch(item.name):
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
