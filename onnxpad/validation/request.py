"""What the caller gives, checked and in the layout of the model: inputs and reference outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import RequestError, nearest
from onnxpad.geometry.size import Size
from onnxpad.model.comparing.networks import Network
from onnxpad.model.graph.types import Type
from onnxpad.model.shapes.input_shapes import facts_of_shapes, input_sizes
from onnxpad.model.shapes.recorded_facts import (
    HOLDS_WHERE,
    joined_facts,
    recorded_dimensions,
    recorded_facts,
)
from onnxpad.padding.effective_pads import facts_text
from onnxpad.sessions import RunFailure
from onnxpad.validation.bench import Bench

Array = NDArray[Any]
GivenArrays = Mapping[str, "Array | Sequence[Array]"]
Dims = Sequence[Size | None]
Warn = Callable[[str], None]
_LAYOUTS = (("channels last (NHWC)", -1, 1), ("channels first (NCHW)", 1, -1))


def with_recorded(
    warn: Warn,
    first: Network,
    second: Network | None,
    dims: Mapping[str, int | str] | None,
    input_shapes: Mapping[str, Sequence[int]] | None,
) -> Mapping[str, int | str] | None:
    """What is told of dimensions, with the facts under which alone a model says it is right.

    Raises RequestError where they contradict each other.
    """
    told = dims
    if input_shapes:
        told = facts_of_shapes(input_sizes(first.model), input_shapes, dims)
    own = recorded_facts(first.model)
    theirs = recorded_facts(second.model) if second else {}
    open_names = set(recorded_dimensions(first.model))
    facts = joined_facts(own, {name: theirs[name] for name in theirs if name in open_names})
    joined = joined_facts(facts, told or {}) if facts else told
    if joined != told:
        where = facts_text(tuple(facts.items()))
        warn(f"compared with {where}, as a model itself says in its metadata ({HOLDS_WHERE})")
    return joined


def quoted(names: Sequence[str] | Mapping[str, object]) -> str:
    """Names in a sentence."""
    return ", ".join(f"'{name}'" for name in names) or "none"


# Inputs.


def turned_inputs(
    network: Network, types: Mapping[str, Type], inputs: GivenArrays, warn: Warn
) -> list[dict[str, Array]]:
    """One dict of inputs for each sample, in the layout and the element types of the model.

    Images with channels last become channels first where only that fits the model, with a
    warning; floats and integers of another width are converted, with one where floats lose digits.
    Raises RequestError for unknown or missing names, unequal numbers of samples, and values of
    the wrong rank, size or kind, or that the model's type cannot hold.
    """
    lists = _listed(inputs, network.fed, "input")
    if missing := [name for name in types if name not in lists]:
        raise RequestError(f"inputs lack {quoted(missing)}; the model needs {quoted(types)}")
    count = _count_of(lists)
    return [
        {name: _fitted(name, lists[name][index], type_, warn) for name, type_ in types.items()}
        for index in range(count)
    ]


def checked_inputs(
    network: Network, types: Mapping[str, Type], inputs: GivenArrays, warn: Warn
) -> list[dict[str, Array]]:
    """The same, to compare a reference with; RequestError as well for NaN and empty values."""
    for name, values in _listed(inputs, network.fed, "input").items():
        for index, value in enumerate(values):
            if types[name].dtype != "string":
                _refuse_useless("input", name, index, value)
    samples = turned_inputs(network, types, inputs, warn)
    for index, feeds in enumerate(samples):
        images = {name: value for name, value in feeds.items() if prod(value.shape[2:]) > 1}
        cells = [value.reshape(*value.shape[:2], -1) for value in images.values()]
        if cells and all((one == one[..., :1]).all() for one in cells):
            warn(
                f"'{next(iter(images))}' holds the same number in every cell of a channel in "
                f"sample {index}, which tells little about padding: give an input whose cells "
                "differ, such as a photograph or random numbers, and what the framework makes of it"
            )
    return samples


def _listed(given: GivenArrays, names: Sequence[str], kind: str) -> dict[str, list[Array]]:
    """Every value as a list of samples; raises RequestError for unknown names."""
    if not isinstance(given, Mapping):
        raise RequestError(f"{kind}s are given by name, as a dict; got {type(given).__name__}")
    lists = {}
    for name, value in given.items():
        if name not in names:
            near = nearest(name, names)
            hint = f"did you mean '{near[0]}'?" if near else f"there is {quoted(names[:8])}"
            raise RequestError(f"the model has no {kind} '{name}': {hint}")
        samples = value if isinstance(value, list | tuple) else [value]
        try:
            lists[name] = [np.asarray(one) for one in samples]
        except ValueError as error:
            raise RequestError(
                f"{kind} '{name}' is no array: {error}; give numpy arrays"
            ) from error
    return lists


def _count_of(lists: Mapping[str, Sequence[object]]) -> int:
    """The number of samples; raises RequestError where names have different numbers."""
    counts = {name: len(items) for name, items in lists.items()}
    if len(set(counts.values())) > 1:
        raise RequestError(f"the number of samples differs: {counts}")
    return next(iter(counts.values()), 1)


def _fitted(name: str, value: Array, type_: Type, warn: Warn) -> Array:
    dims = type_.dims
    if dims is not None:
        if value.ndim != len(dims):
            raise RequestError(f"input '{name}' has rank {value.ndim}, the model takes {len(dims)}")
        value = _turned(name, value, dims, warn)
        for axis, size in enumerate(dims):
            if isinstance(size, int) and value.shape[axis] != size:
                single = axis == 0 and size == 1 and value.ndim > 1
                hint = "; give single samples, in a file as s0_in0, s1_in0 and s0_ref0, s1_ref0"
                raise RequestError(
                    f"input '{name}' has shape {list(value.shape)}, the model takes {size} at axis "
                    f"{axis}{hint if single else ''}"
                )
    return value if type_.dtype in ("", "string") else _typed(name, value, type_.dtype, warn)


def _typed(name: str, value: Array, wanted: str, warn: Warn) -> Array:
    """The value in the model's element type; numbers that it cannot hold are an error."""
    dtype = np.dtype(wanted)
    if value.dtype == dtype:
        return value
    kind = _kind(dtype)
    if _kind(value.dtype) != kind:
        raise RequestError(f"input '{name}' has {value.dtype}, the model takes {dtype}")
    with np.errstate(over="ignore", invalid="ignore"):
        cast = value.astype(dtype)
    is_whole = kind == "integer"
    pairs = (cast, value) if is_whole else (np.isfinite(cast), np.isfinite(value))
    if not np.array_equal(*pairs):
        raise RequestError(
            f"input '{name}' has {value.dtype} with values beyond {dtype}, which the model takes"
        )
    if not is_whole and not np.can_cast(value.dtype, dtype):
        warn(f"input '{name}' has {value.dtype} and is rounded to {dtype}, which the model takes")
    return cast


def _kind(dtype: np.dtype[Any]) -> str:
    """What a dtype holds; types that numpy does not know itself (bfloat16) are floats here."""
    kinds = {"i": "integer", "u": "integer", "f": "float", "V": "float"}
    return kinds.get(dtype.kind, dtype.kind)


def _fits(shape: Sequence[int], dims: Dims) -> bool:
    """Whether an array has the rank and the sizes that are known."""
    return len(shape) == len(dims) and all(
        own == size for own, size in zip(shape, dims, strict=True) if isinstance(size, int)
    )


def _turned(name: str, value: Array, dims: Dims, warn: Warn, *, is_output: bool = False) -> Array:
    """The value with its channels moved to where the model has them, as far as sizes tell.

    Wrong padding may change the other sizes of an output.
    """
    shape = value.shape
    if value.ndim < 3 or _fits(shape, dims):
        return value
    apart = is_output and shape[1] != dims[1] and shape[-1] != dims[-1]
    for layout, source, target in _LAYOUTS:
        moved = np.moveaxis(value, source, target)
        if _fits(moved.shape, dims) or (apart and shape[source] == dims[target]):
            has = ", ".join(str(size) if isinstance(size, int) else "?" for size in dims)
            warn(f"'{name}' of shape {list(shape)} is read as {layout}: the model has [{has}]")
            return np.ascontiguousarray(moved)
    return value


# Reference outputs.


def checked_outputs(
    network: Network, outputs: GivenArrays, count: int, warn: Warn
) -> dict[str, list[Array]]:
    """Reference values by tensor, in the order of the model.

    `count` is the number of samples. Raises RequestError for names that the model does not have
    and for values that are no numbers, NaN or empty.
    """
    expected = _listed(outputs, [*network.outputs, *network.producers], "tensor")
    if not (expected and count):
        raise RequestError("there is no reference: give an output of at least one sample")
    if _count_of(expected) != count:
        raise RequestError(
            f"the number of samples differs: {_count_of(expected)} of outputs, {count} of inputs"
        )
    checked = {}
    for name in sorted(expected, key=lambda name: network.producers.get(name, -1)):
        if name not in network.producers:
            warn(f"reference '{name}' is left out: no node of the model computes it")
            continue
        for index, value in enumerate(expected[name]):
            _refuse_useless("reference", name, index, value)
        if expected[name][0].dtype == np.float16:
            warn(f"reference '{name}' is float16: it is compared no closer than that rounds")
        checked[name] = expected[name]
    if not checked:
        raise RequestError("no node of the model computes any of the reference outputs")
    return checked


def _refuse_useless(kind: str, name: str, sample: int, value: Array) -> None:
    fault, is_float = "", value.dtype.kind == "f"
    if value.dtype.kind in "cOSU":
        fault = f"has elements of type {value.dtype}: give numbers"
    elif value.size == 0:
        fault = f"is empty: its shape is {list(value.shape)}"
    elif is_float and (missing := int(np.isnan(value).sum())):
        fault = f"holds NaN in {missing} of {value.size} elements: save it again without NaN"
    elif is_float and not np.isfinite(value).any():
        fault = "holds no finite number"
    if fault:
        raise RequestError(f"{kind} '{name}' of sample {sample} {fault}")


def in_layout(
    bench: Bench,
    network: Network,
    samples: Sequence[Mapping[str, Array]],
    expected: Mapping[str, Sequence[Array]],
) -> dict[str, list[Array]]:
    """Reference values in the layout of the model, by what it gives or says that it gives.

    Raises RequestError for values that cannot be of the tensor, whatever the padding.
    """
    ran = bench.run(network, samples[0], tuple(expected))
    given, stated = {} if isinstance(ran, RunFailure) else ran, network.stated_types()
    batches: set[Size | None] = {fed.shape[0] for fed in samples[0].values() if fed.ndim > 1}
    turned = {}
    for name, values in expected.items():
        dims: Dims | None = stated[name].dims if name in stated else None
        if name in given:
            dims = given[name].shape
            if given[name].dtype.kind == "f" and values[0].dtype.kind in "iub":
                raise RequestError(
                    f"reference '{name}' holds {values[0].dtype}, the model computes "
                    f"{given[name].dtype}: save the framework's own floats, before any rounding"
                )
        turned[name] = list(values)
        if dims is not None:
            turned[name] = [_turned(name, v, dims, bench.warn, is_output=True) for v in values]
            shape = turned[name][0].shape
            other_images = len(shape) > 1 and shape[0] != dims[0] and batches == {dims[0]}
            if len(shape) != len(dims) or other_images:
                raise RequestError(
                    f"reference '{name}' has shape {list(shape)}, the model gives {list(dims)}, "
                    "and no padding changes that: is it the reference of this model and output?"
                )
    return turned
