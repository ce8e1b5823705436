"""Checking what the caller gives: inputs, reference outputs, and models that do not match."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import RequestError
from onnxpad.geometry.size import show
from onnxpad.graph.comparison.cutting import renamed
from onnxpad.graph.comparison.networks import Network
from onnxpad.graph.reading.types import Type
from onnxpad.validation.bench import Bench

Array = NDArray[Any]
Given = Mapping[str, "Array | Sequence[Array]"]


def samples_of(given: Given, types: Mapping[str, Type]) -> list[dict[str, Array]]:
    """One dict of inputs for each sample.

    Raises RequestError for unknown or missing names, unequal numbers of samples, and values of
    the wrong rank or kind. Floats and integers of another width are converted.
    """
    lists = listed(given, tuple(types), "input")
    missing = [name for name in types if name not in lists]
    if missing:
        raise RequestError(f"inputs lack {_names(missing)}; the model needs {_names(types)}")
    count = same_count(lists)
    return [
        {name: _fitted(name, lists[name][i], type_) for name, type_ in types.items()}
        for i in range(count)
    ]


def listed(given: Given, known: Sequence[str], kind: str) -> dict[str, list[Array]]:
    """Every value as a list of samples; raises RequestError for names that are not known."""
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"there is {_names(known[:8])}"
            raise RequestError(f"the model has no {kind} '{name}': {hint}")
    return {
        name: [np.asarray(item) for item in value]
        if isinstance(value, list | tuple)
        else [np.asarray(value)]
        for name, value in given.items()
    }


def same_count(lists: Mapping[str, Sequence[object]]) -> int:
    """The number of samples; raises RequestError where names have different numbers."""
    counts = {name: len(items) for name, items in lists.items()}
    if len(set(counts.values())) > 1:
        raise RequestError(f"the number of samples differs: {counts}")
    return next(iter(counts.values()), 1)


def samples_from_npz(
    path: str | Path, names: Sequence[str], kinds: Sequence[str] = ("in",)
) -> dict[str, list[Array]]:
    """Samples in an .npz file: keys are tensor names, or 's0_in1' for sample 0 and place 1.

    `kinds` are the words tried between sample and place, such as 'in', or 'ref' and 'src' for
    outputs. Raises RequestError where the file cannot be read or has no key that fits.
    """
    try:
        with np.load(path, allow_pickle=False) as content:
            arrays = {key: content[key] for key in content.files}
    except (OSError, ValueError, AttributeError) as error:
        raise RequestError(f"{path}: is not a readable .npz file: {error}") from error
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
        f"{path}: has {_names(list(arrays)[:6])}; expected {_names(names[:6])}, or keys such as "
        f"'s0_{kinds[0]}0'"
    )


def matched(bench: Bench, before: Network, after: Network) -> Network:
    """The second model under the first one's names of inputs and outputs.

    Where names differ but the numbers agree, they are matched by position, with a warning. Raises
    RequestError where the numbers differ.
    """
    mapping: dict[str, str] = {}
    for kind, ours, theirs in (
        ("inputs", before.fed, after.fed),
        ("outputs", before.outputs, after.outputs),
    ):
        if set(ours) == set(theirs):
            continue
        if len(ours) != len(theirs):
            raise RequestError(
                f"the models cannot be compared: {kind} {_names(ours)} against {_names(theirs)}"
            )
        bench.warn(f"{kind} have other names and are matched by position: {_names(theirs)}")
        mapping |= dict(zip(theirs, ours, strict=True))
    return renamed(after, mapping) if mapping else after


def joint_types(before: Mapping[str, Type], after: Mapping[str, Type]) -> dict[str, Type]:
    """Types that fit both models: a size that one of them fixes holds for both.

    Raises RequestError where element types, ranks or fixed sizes contradict each other.
    """
    joint = {}
    for name, first in before.items():
        second = after[name]
        if first.dtype != second.dtype:
            raise RequestError(
                f"input '{name}' is {first.dtype or 'unknown'} in the first model and "
                f"{second.dtype or 'unknown'} in the second"
            )
        dims = second.dims if first.dims is None else first.dims
        if first.dims is not None and second.dims is not None:
            pairs = list(zip(first.dims, second.dims, strict=False))
            fixed = [(a, b) for a, b in pairs if isinstance(a, int) and isinstance(b, int)]
            if len(first.dims) != len(second.dims) or any(a != b for a, b in fixed):
                raise RequestError(
                    f"input '{name}' is {_sizes(first)} in the first model and "
                    f"{_sizes(second)} in the second"
                )
            dims = tuple(b if isinstance(b, int) else a for a, b in pairs)
        joint[name] = Type(first.dtype, dims)
    return joint


def _sizes(type_: Type) -> str:
    return f"[{', '.join(show(size) for size in type_.dims or ())}]"


def _fitted(name: str, value: Array, type_: Type) -> Array:
    dims = type_.dims
    if dims is not None and value.ndim != len(dims):
        raise RequestError(f"input '{name}' has rank {value.ndim}, the model takes {len(dims)}")
    wrong = [
        (axis, size)
        for axis, size in enumerate(dims or ())
        if isinstance(size, int) and value.shape[axis] != size
    ]
    if wrong:
        axis, size = wrong[0]
        raise RequestError(
            f"input '{name}' has shape {list(value.shape)}, the model takes {size} at axis {axis}"
        )
    if type_.dtype in ("", "string"):
        return value
    dtype = np.dtype(type_.dtype)
    if value.dtype != dtype and (value.dtype.kind not in "iu") != (dtype.kind not in "iu"):
        raise RequestError(f"input '{name}' has {value.dtype}, the model takes {dtype}")
    return value.astype(dtype, copy=False)


def _names(names: Sequence[str] | Mapping[str, object]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"
