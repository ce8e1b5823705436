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
    arrays = _arrays(path, example=next(iter(names), "x"))
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


def pair_from_npz(
    path: str | Path, fed: Sequence[str], tensors: Sequence[str]
) -> tuple[dict[str, list[Array]], dict[str, list[Array]]]:
    """Inputs and outputs in one .npz file: by name, as 's0_in0' and 's0_ref0', or by position.

    A name may carry a sample, as in 's1_features'. Without any names (arr_0, arr_1, ... of
    np.savez) the inputs come first. Raises RequestError as `samples_from_npz` does, and where
    the file has inputs alone or outputs alone.
    """
    arrays = _arrays(path, example=next(iter(fed), "x"))
    if arrays and all(re.fullmatch(r"arr_\d+", key) for key in arrays):
        return _by_position(path, list(arrays.values()), fed, tensors)
    inputs = _by_key(arrays, fed, ("in",))
    outputs = _by_key(arrays, tensors, OUTPUTS)
    for side, kind, names in ((inputs, "input", fed), (outputs, "output", tensors)):
        if not side:
            raise RequestError(
                f"{path}: has {quoted(list(arrays)[:6])}, and no {kind}: expected "
                f"{quoted(names[:6])}, or keys such as 's0_in0' and 's0_ref0'"
            )
    return inputs, outputs


def array_from_npy(path: str | Path) -> Array:
    """The array in an .npy file; RequestError where there is none that can be read."""
    try:
        value = np.load(path, allow_pickle=False)
    except _UNREADABLE as error:
        raise RequestError(f"{path}: is not a readable .npy file: {error}") from error
    return _array(path, "", value)


def _by_position(
    path: str | Path, values: Sequence[Array], fed: Sequence[str], tensors: Sequence[str]
) -> tuple[dict[str, list[Array]], dict[str, list[Array]]]:
    more = len(values) - len(fed)
    if not 0 < more <= len(tensors):
        raise RequestError(
            f"{path}: has {len(values)} arrays without names, the model has {len(fed)} inputs: "
            "save them by name, np.savez(path, input=..., output=...)"
        )
    inputs = {name: [value] for name, value in zip(fed, values, strict=False)}
    outputs = {n: [v] for n, v in zip(tensors, values[len(fed) :], strict=False)}
    return inputs, outputs


def _by_key(
    arrays: dict[str, Array], names: Sequence[str], kinds: Sequence[str]
) -> dict[str, list[Array]]:
    """Arrays under names, under samples and names, or under samples and places."""
    plain = {name: [arrays[name]] for name in names if name in arrays}
    if plain:
        return plain
    known = set(names)
    found: dict[str, dict[int, Array]] = {}
    for key, value in arrays.items():
        match = re.fullmatch(r"s(\d+)_(.+)", key)
        if match is None:
            continue
        place = re.fullmatch(rf"({'|'.join(kinds)})(\d+)", match[2])
        name = match[2] if match[2] in known else ""
        if not name and place and int(place[2]) < len(names):
            name = names[int(place[2])]
        if name:
            found.setdefault(name, {})[int(match[1])] = value
    return {name: [rows[i] for i in sorted(rows)] for name, rows in found.items()}


def _arrays(path: str | Path, example: str) -> dict[str, Array]:
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
