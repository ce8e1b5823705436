"""Arrays in .npy and .npz files and in test_data_set_* folders, as ONNX's own tests keep them.

What an archive promises is checked before it costs; of an array numpy takes no more memory than
its cells fill.
"""

from __future__ import annotations

import re
import stat
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from numpy.lib import format as npy
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
MEMBERS = 65_535
_TENSOR_FILE = re.compile(r"(input|output)_(\d+)\.pb")


def array_from_npy(path: str | Path) -> Array:
    """The array in an .npy file; RequestError where there is none that can be read."""
    try:
        stream, _ = _opened(path)
        with stream:
            return npy.read_array(stream, allow_pickle=False)
    except Exception as error:  # numpy raises many kinds for headers that are none
        raise RequestError(f"{path}: is not a readable .npy file: {_said(error)}") from error


def arrays_in(path: str | Path, example: str) -> dict[str, Array]:
    """All arrays of an .npz file; RequestError, with `example` as a name, where it is none."""
    name = str(path) if str(path).endswith(".npz") else "data.npz"
    cure = f"save it with np.savez({name!r}, {example}=array)"
    try:
        stream, size = _opened(path)
        with stream:
            return _members(stream, size, cure)
    except Refused as refused:
        raise RequestError(f"{path}: {refused}") from None
    except Exception as error:  # zipfile, the decompressors and numpy raise many kinds
        raise RequestError(
            f"{path}: is not a readable .npz file: {_said(error)}; {cure}"
        ) from error


def _opened(path: str | Path) -> tuple[BinaryIO, int]:
    """The file and its size; what is no regular file is read whole, within bounds."""
    found = Path(path).stat()
    if stat.S_ISREG(found.st_mode):
        return Path(path).open("rb"), found.st_size
    data = contents(path, LARGEST)
    return BytesIO(data), len(data)


def _members(stream: BinaryIO, size: int, cure: str) -> dict[str, Array]:
    if stream.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX:
        raise Refused(f"is one array (.npy) without a name, not an .npz: {cure}")
    if not zipfile.is_zipfile(stream):
        raise Refused(f"is not an .npz file, or only a part of one: {cure}")
    with zipfile.ZipFile(stream) as archive:
        members = archive.infolist()
        if len(members) > MEMBERS:
            raise ValueError(f"it has {len(members)} members, and {MEMBERS} are the most")
        unpacked, most = sum(info.file_size for info in members), max(UNPACKED, RATIO * size)
        if unpacked > most:
            raise ValueError(
                f"its {size} bytes unpack to {unpacked}, and {most} are the most: save it without "
                "compression"
            )
        return {one.filename.removesuffix(".npy"): _member(archive, one) for one in members}


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array:
    with archive.open(info) as stream:
        return npy.read_array(stream, allow_pickle=False)


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__


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
