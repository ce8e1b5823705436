"""What the caller gives, checked: inputs, reference outputs, layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import RequestError, few, nearest
from onnxpad.geometry.size import Size
from onnxpad.model.comparing.channels import input_channels
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
from onnxpad.validation.fixed_axes import decided_by

Array = NDArray[Any]
GivenArrays = Mapping[str, "Array | Sequence[Array]"]
Dims = Sequence[Size | None]
Channels = tuple[int, int, int]
_TURNED = "'{}' of shape {} is read as {}: the model has {}"
_LAYOUTS = (("channels last (NHWC)", -1, 1), ("channels first (NCHW)", 1, -1))


def samples_of(
    given: GivenArrays, types: Mapping[str, Type], warn: Callable[[str], None]
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


def listed(given: GivenArrays, known: Sequence[str], kind: str) -> dict[str, list[Array]]:
    """Every value as a list of samples; raises RequestError for names that are not known."""
    if not isinstance(given, Mapping):
        raise RequestError(f"{kind}s are given by name, as a dict; got {type(given).__name__}")
    for name in given:
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean '{near[0]}'?" if near else f"there is {quoted(known[:8])}"
            raise RequestError(f"the model has no {kind} '{name}': {hint}")
    return {
        name: [_array(kind, name, item) for item in value]
        if isinstance(value, list | tuple)
        else [_array(kind, name, value)]
        for name, value in given.items()
    }


def _array(kind: str, name: str, value: object) -> Array:
    try:
        return np.asarray(value)
    except ValueError as error:
        raise RequestError(f"{kind} '{name}' is no array: {error}; give numpy arrays") from error


def same_count(lists: Mapping[str, Sequence[object]]) -> int:
    """The number of samples; raises RequestError where names have different numbers."""
    counts = {name: len(items) for name, items in lists.items()}
    if len(set(counts.values())) > 1:
        raise RequestError(f"the number of samples differs: {counts}")
    return next(iter(counts.values()), 1)


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


def with_recorded(
    warn: Callable[[str], None],
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
    recorded = joined_facts(own, {name: theirs[name] for name in theirs if name in open_names})
    if not recorded:
        return told
    found = joined_facts(recorded, told or {})
    if found != told:
        where = facts_text(tuple(recorded.items()))
        warn(f"compared with {where}, as a model itself says in its metadata ({HOLDS_WHERE})")
    return found


def checked_inputs(
    network: Network, types: Mapping[str, Type], inputs: GivenArrays, warn: Callable[[str], None]
) -> list[dict[str, Array]]:
    """One dict of inputs for each sample, in the model's layout, to compare a reference with.

    Raises RequestError as `turned_inputs`, and for values that are NaN or empty.
    """
    for name, values in listed(inputs, network.fed, "input").items():
        for index, value in enumerate(values):
            if types[name].dtype != "string":
                _refuse_useless("input", name, index, value)
    samples = turned_inputs(network, types, inputs, warn)
    _warn_of_flat(samples, warn)
    return samples


def _warn_of_flat(samples: Sequence[Mapping[str, Array]], warn: Callable[[str], None]) -> None:
    """Say which samples hold the same everywhere: their padding can hardly be told from them."""
    flat = {}
    for index, feeds in enumerate(samples):
        images = {name: v for name, v in feeds.items() if v.ndim > 2 and prod(v.shape[2:]) > 1}
        if images and all(_is_flat(value) for value in images.values()):
            flat[index] = next(iter(images))
    if not flat:
        return
    name, which = next(iter(flat.values())), few([str(index) for index in flat], 8)
    zero = all(not samples[index][one].any() for index, one in flat.items())
    noun = "sample" if len(flat) == 1 else "samples"
    what = "0 in every cell" if zero else "the same number in every cell of a channel"
    warn(
        f"'{name}' holds {what} in {noun} {which}, which tells {'nothing' if zero else 'little'} "
        "about the padding that its first layers have: give a sample whose cells differ, such as "
        "a photograph or random numbers, and what the framework makes of it"
    )


def _is_flat(value: Array) -> bool:
    cells = value.reshape(*value.shape[:2], -1)
    return bool((cells == cells[..., :1]).all())


def turned_inputs(
    network: Network, types: Mapping[str, Type], inputs: GivenArrays, warn: Callable[[str], None]
) -> list[dict[str, Array]]:
    """One dict of inputs for each sample, in the model's layout.

    Images with channels last become channels first where only that fits the model, with a
    warning. Raises RequestError for names, shapes, types and numbers of samples that do not fit.
    """
    lists = listed(inputs, network.fed, "input")
    channels = input_channels(network)
    types = with_channels(network, types)
    turned = {
        name: [_turned_input(name, value, types[name].dims, warn) for value in values]
        for name, values in lists.items()
    }
    for name, known in channels.items():
        for index, value in enumerate(turned.get(name, [])):
            _refuse_channels(f"input '{name}' of sample {index}", value, types[name].dims, known)
    return samples_of(turned, types, warn)


def _refuse_channels(where: str, value: Array, dims: Dims | None, known: Channels) -> None:
    axis, count, rank = known
    if dims is None or len(dims) != rank or value.ndim != rank:
        return
    if dims[axis] != count or value.shape[axis] == count:
        return
    raise RequestError(
        f"{where} has shape {list(value.shape)}, with {value.shape[axis]} at axis {axis}: the "
        f"model takes {count} channels there, {_shown(dims)}, and the other layout does not "
        "fit either; give images as they are after preprocessing"
    )


def with_channels(network: Network, types: Mapping[str, Type]) -> dict[str, Type]:
    """Types with the number of channels that convolutions take, where they state none."""
    channels = input_channels(network)
    return {name: _with_channels(type_, channels.get(name)) for name, type_ in types.items()}


def _with_channels(type_: Type, known: Channels | None) -> Type:
    """The type with the number of channels that convolutions take, where it states none."""
    if known is None:
        return type_
    axis, count, rank = known
    dims: list[Size | None] = [None] * rank if type_.dims is None else list(type_.dims)
    if len(dims) != rank or isinstance(dims[axis], int):
        return type_
    dims[axis] = count
    return Type(type_.dtype, tuple(dims))


def checked_outputs(
    network: Network,
    outputs: GivenArrays,
    count: int,
    warn: Callable[[str], None],
) -> dict[str, list[Array]]:
    """Reference values by tensor, in the order of the model.

    `count` is the number of samples. Raises RequestError for names that the model does not have
    and for values that are no numbers, NaN or empty.
    """
    expected = listed(outputs, [*network.outputs, *network.producers], "tensor")
    if not expected:
        raise RequestError("there is no reference output: give at least one tensor of the model")
    if same_count(expected) != count:
        raise RequestError(
            f"the number of samples differs: {same_count(expected)} of outputs, {count} of inputs"
        )
    if not count:
        raise RequestError("there is no sample: give inputs and outputs of at least one run")
    found = {}
    for name in sorted(expected, key=lambda name: network.producers.get(name, -1)):
        if name not in network.producers:
            warn(f"reference '{name}' is left out: no node of the model computes it")
            continue
        for index, value in enumerate(expected[name]):
            _refuse_useless("reference", name, index, value)
        if expected[name][0].dtype == np.float16:
            warn(f"reference '{name}' is float16: it is compared no closer than that rounds")
        found[name] = expected[name]
    if not found:
        raise RequestError("no node of the model computes any of the reference outputs")
    return found


def _refuse_useless(kind: str, name: str, sample: int, value: Array) -> None:
    where = f"{kind} '{name}' of sample {sample}"
    if value.dtype.kind in "cOSU":
        raise RequestError(f"{where} has elements of type {value.dtype}: give numbers")
    if value.size == 0:
        raise RequestError(f"{where} is empty: its shape is {list(value.shape)}")
    if value.dtype.kind == "f" and (missing := int(np.isnan(value).sum())):
        raise RequestError(
            f"{where} holds NaN in {missing} of {value.size} elements: nothing can be compared "
            "with those; save it again from a run without NaN"
        )
    if value.dtype.kind == "f" and not np.isfinite(value).any():
        raise RequestError(f"{where} holds no finite number")


def in_layout(
    bench: Bench,
    network: Network,
    samples: Sequence[Mapping[str, Array]],
    expected: Mapping[str, Sequence[Array]],
) -> dict[str, list[Array]]:
    """Reference values in the layout of the model, by what it gives or says that it gives.

    Raises RequestError for values that cannot be of the tensor.
    """
    ran = bench.run(network, samples[0], tuple(expected))
    stated = network.stated_types()
    batches = {value.shape[0] for value in samples[0].values() if value.ndim > 1}
    batch = batches.pop() if len(batches) == 1 else None
    found = {}
    for name, values in expected.items():
        dims = stated[name].dims if name in stated else None
        if not isinstance(ran, RunFailure):
            _refuse_other(name, values[0], ran[name], batch)
            dims = ran[name].shape
        turned = [v if dims is None else _turned_output(name, v, dims, bench.warn) for v in values]
        if not isinstance(ran, RunFailure):
            _refuse_other_sizes(network, name, turned[0].shape, ran[name].shape)
        found[name] = turned
    return found


def _refuse_other(name: str, right: Array, got: Array, batch: int | None) -> None:
    """Refuse a reference that cannot be of the tensor that the model computes.

    It holds integers and the model computes floats, or it holds another number of images than the
    inputs (`batch`), which no padding changes.
    """
    if got.dtype.kind == "f" and right.dtype.kind in "iub":
        raise RequestError(
            f"reference '{name}' holds {right.dtype}, the model computes {got.dtype}: save the "
            "framework's own floats, before any rounding or quantisation"
        )
    if right.ndim == got.ndim > 1 and right.shape[0] != got.shape[0] == batch:
        raise RequestError(
            f"reference '{name}' has shape {list(right.shape)}, the model gives "
            f"{list(got.shape)}: the inputs hold {batch} images, and padding does not change that"
        )


def _refuse_other_sizes(
    network: Network, name: str, right: tuple[int, ...], got: tuple[int, ...]
) -> None:
    """Refuse a reference with another size where weights decide it, which no padding changes."""
    for axis, (wanted, own) in enumerate(zip(right, got, strict=True)):
        if wanted != own and (node := decided_by(network, name, axis, len(got))):
            raise RequestError(
                f"reference '{name}' has shape {list(right)}, the model gives {list(got)}: {node} "
                f"makes axis {axis}, and no padding changes that; is it the reference of this "
                "model, and of this output?"
            )


def _turned_input(name: str, value: Array, dims: Dims | None, warn: Callable[[str], None]) -> Array:
    """Channels moved to where the model says them, if only that fits what it says."""
    if dims is None or value.ndim != len(dims) or value.ndim < 3 or fits(value.shape, dims):
        return value
    for layout, source, target in _LAYOUTS:
        moved = np.moveaxis(value, source, target)
        if fits(moved.shape, dims):
            warn(_TURNED.format(name, list(value.shape), layout, _shown(dims)))
            return np.ascontiguousarray(moved)
    return value


def fits(shape: Sequence[int], dims: Dims) -> bool:
    """Whether an array of this rank has the sizes that are known."""
    pairs = zip(shape, dims, strict=True)
    return all(own == size for own, size in pairs if isinstance(size, int))


def _turned_output(name: str, value: Array, dims: Dims, warn: Callable[[str], None]) -> Array:
    """Channels moved to where the model has them, as far as sizes tell.

    Wrong padding may change the other sizes. Raises RequestError for another rank.
    """
    if value.ndim != len(dims):
        raise RequestError(
            f"reference '{name}' has shape {list(value.shape)}, the model gives {_shown(dims)}: "
            "another rank"
        )
    shape = value.shape
    if value.ndim < 3 or shape == tuple(dims):
        return value
    for layout, source, target in _LAYOUTS:
        moved, apart = np.moveaxis(value, source, target), shape[1] != dims[1]
        tells = apart and shape[-1] != dims[-1] and shape[source] == dims[target]
        if tells or moved.shape == tuple(dims):
            warn(_TURNED.format(name, list(shape), layout, _shown(dims)))
            return np.ascontiguousarray(moved)
    return value


def _shown(dims: Dims) -> str:
    return "[" + ", ".join(str(size) if isinstance(size, int) else "?" for size in dims) + "]"
