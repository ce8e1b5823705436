"""Samples from .npz files."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import RequestError
from onnxpad.validation.request import quoted

Array = NDArray[Any]
OUTPUTS = ("out", "ref", "src")
_NPY = b"\x93NUMPY"
# What damaged or hostile archives make zipfile and numpy raise.
_UNREADABLE = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    TypeError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


def samples_from_npz(
    path: str | Path, names: Sequence[str], kinds: Sequence[str] = ("in",)
) -> dict[str, list[Array]]:
    """Samples in an .npz file: keys are tensor names, or 's0_in1' for sample 0 and place 1.

    `kinds` are the words tried between sample and place, such as 'in', or 'ref' and 'src' for
    outputs. Raises RequestError where the file is no .npz, cannot be read, holds Python objects, or
    has no key that fits.
    """
    arrays = arrays_in(path, example=next(iter(names), "x"))
    if any(name in arrays for name in names):
        return {name: [arrays[name]] for name in names if name in arrays}
    for kind in kinds:
        found: dict[str, dict[int, Array]] = {}
        for key, value in arrays.items():
            match = re.fullmatch(rf"s(\d+)_{kind}(\d+)", key)
            if match and int(match[2]) < len(names):
                found.setdefault(names[int(match[2])], {})[int(match[1])] = value
        if found:
            return {name: [rows[i] for i in sorted(rows)] for name, rows in found.items()}
    raise RequestError(
        f"{path}: has {quoted(list(arrays)[:6])}; expected {quoted(names[:6])}, or keys such as "
        f"'s0_{kinds[0]}0'"
    )


def array_from_npy(path: str | Path) -> Array:
    """The array in an .npy file; RequestError where there is none that can be read."""
    try:
        value = np.load(path, allow_pickle=False)
    except _UNREADABLE as error:
        raise RequestError(f"{path}: is not a readable .npy file: {error}") from error
    return _array(path, "", value)


def arrays_in(path: str | Path, example: str) -> dict[str, Array]:
    """All arrays of an .npz file; RequestError, with `example` as a name, where it is none."""
    cure = f"save it with np.savez({str(path)!r}, {example}=array)"
    try:
        with Path(path).open("rb") as file:
            start = file.read(len(_NPY))
        if start == _NPY:
            raise RequestError(f"{path}: is one array (.npy) without a name, not an .npz: {cure}")
        if not zipfile.is_zipfile(path):
            raise RequestError(f"{path}: is not an .npz file, or only a part of one: {cure}")
        with np.load(path, allow_pickle=False) as content:
            return {key: _array(path, key, content[key]) for key in content.files}
    except _UNREADABLE as error:
        said = str(error) or type(error).__name__
        if "allow_pickle" in said:
            said = "it holds Python objects (pickled), which are never loaded"
        raise RequestError(f"{path}: is not a readable .npz file: {said}; {cure}") from error


def _array(path: str | Path, key: str, value: object) -> Array:
    if not isinstance(value, np.ndarray):
        raise RequestError(f"{path}: member '{key}' is no .npy array; save with np.savez")
    return value
