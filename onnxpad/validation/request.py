"""Checking what the caller gives: inputs, reference outputs, and models that do not match."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import RequestError
from onnxpad.geometry.size import show
from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.pieces import renamed
from onnxpad.model.shapes.types import Type
from onnxpad.validation.bench import Bench

Array = NDArray[Any]
Given = Mapping[str, "Array | Sequence[Array]"]


def samples_of(
    given: Given, types: Mapping[str, Type], warn: Callable[[str], None]
) -> list[dict[str, Array]]:
    """One dict of inputs for each sample.

    Raises RequestError for unknown or missing names, unequal numbers of samples, and values of
    the wrong rank or kind, or that the model's type cannot hold. Floats and integers of another
    width are converted, with `warn` where floats lose digits.
    """
    lists = listed(given, tuple(types), "input")
    missing = [name for name in types if name not in lists]
    if missing:
        raise RequestError(f"inputs lack {quoted(missing)}; the model needs {quoted(types)}")
    count = same_count(lists)
    return [
        {name: _fitted(name, lists[name][i], type_, warn) for name, type_ in types.items()}
        for i in range(count)
    ]


def listed(given: Given, known: Sequence[str], kind: str) -> dict[str, list[Array]]:
    """Every value as a list of samples; raises RequestError for names that are not known."""
    if not isinstance(given, Mapping):
        raise RequestError(f"{kind}s are given by name, as a dict; got {type(given).__name__}")
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"there is {quoted(known[:8])}"
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
                f"the models cannot be compared: {kind} {quoted(ours)} against {quoted(theirs)}"
            )
        bench.warn(f"{kind} have other names and are matched by position: {quoted(theirs)}")
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


def _fitted(name: str, value: Array, type_: Type, warn: Callable[[str], None]) -> Array:
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
        several = (axis, size) == (0, 1) and len(wrong) == 1 and value.ndim > 1
        hint = "; give single samples, in a file as s0_in0, s1_in0 and s0_ref0, s1_ref0"
        raise RequestError(
            f"input '{name}' has shape {list(value.shape)}, the model takes {size} at axis {axis}"
            f"{hint if several else ''}"
        )
    return value if type_.dtype in ("", "string") else _typed(name, value, type_.dtype, warn)


def _typed(name: str, value: Array, wanted: str, warn: Callable[[str], None]) -> Array:
    """The value in the model's element type; numbers that it cannot hold are an error."""
    dtype = np.dtype(wanted)
    if value.dtype == dtype:
        return value
    if _kind(value.dtype) != _kind(dtype):
        raise RequestError(f"input '{name}' has {value.dtype}, the model takes {dtype}")
    with np.errstate(over="ignore", invalid="ignore"):
        cast = value.astype(dtype)
    if _kind(dtype) == "integer":
        lost = not np.array_equal(cast, value)
    else:
        lost = not np.array_equal(np.isfinite(cast), np.isfinite(value))
    if lost:
        raise RequestError(
            f"input '{name}' has {value.dtype} with values beyond {dtype}, which the model takes"
        )
    if _kind(dtype) != "integer" and not np.can_cast(value.dtype, dtype):
        warn(f"input '{name}' has {value.dtype} and is rounded to {dtype}, which the model takes")
    return cast


def _kind(dtype: np.dtype[Any]) -> str:
    """What a dtype holds; types that numpy does not know itself (bfloat16) are floats here."""
    kinds = {"i": "integer", "u": "integer", "f": "float", "V": "float"}
    return kinds.get(dtype.kind, dtype.kind)


def quoted(names: Sequence[str] | Mapping[str, object]) -> str:
    """Names in a sentence."""
    return ", ".join(f"'{name}'" for name in names) or "none"
