"""What the caller gives, checked and in the layout of the model: inputs and reference outputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import OnnxpadError, RequestError, few, nearest
from onnxpad.geometry.size import Size, Symbol
from onnxpad.model.comparing.networks import Network
from onnxpad.model.graph.types import Type
from onnxpad.model.reading.survey import Survey
from onnxpad.model.shapes.input_shapes import facts_of_shapes, input_sizes
from onnxpad.model.shapes.recorded_facts import (
    HOLDS_WHERE,
    joined_facts,
    recorded_dimensions,
    recorded_facts,
)
from onnxpad.padding.chain import Chain
from onnxpad.padding.effective_pads import facts_text
from onnxpad.padding.operators import Kind
from onnxpad.padding.plain_operators import ARITHMETIC, CELL_BY_CELL
from onnxpad.sessions import RunFailure
from onnxpad.validation.bench import Bench

Array = NDArray[Any]
GivenArrays = Mapping[str, "Array | Sequence[Array]"]
Dims = Sequence[Size | None]
Channels = tuple[int, int, int]
Warn = Callable[[str], None]
_LEAST = 3
"""Axes of the weight of a convolution: its channels and what it reads at least one of."""
_LAYOUTS = (("channels last (NHWC)", -1, 1), ("channels first (NCHW)", 1, -1))
_SAME_SHAPE = CELL_BY_CELL | ARITHMETIC | {"Cast", "Dropout", "Softmax", "LogSoftmax"}
_WEIGHTED = {"Gemm": -1, "MatMul": -1, "Conv": 1, "ConvTranspose": 1}
"""The axis of the result whose size the weight decides."""


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


def with_channels(network: Network, types: Mapping[str, Type]) -> dict[str, Type]:
    """Types with the number of channels that convolutions take, where they state none."""
    found = dict(types)
    for name, (axis, count, rank) in input_channels(network).items():
        dims = list(types[name].dims or (None,) * rank)
        if len(dims) == rank and not isinstance(dims[axis], int):
            dims[axis] = count
            found[name] = Type(types[name].dtype, tuple(dims))
    return found


def input_channels(network: Network) -> dict[str, Channels]:
    """(axis, channels, rank) of each input that a convolution reads, and that has only one answer.

    Each axis of an input gets a name, which reaches the convolution through whatever keeps its
    size. An input without a shape is taken to have as many axes as some weight.
    """
    stated = network.input_types()
    is_open = any(found.dims is None for found in stated.values())
    ranks = {len(one.dims) for one in network.initializers.values() if len(one.dims) >= _LEAST}
    answers: dict[str, set[Channels]] = {}
    for rank in sorted(ranks) if is_open else [0]:
        types, places = dict[str, Type](), dict[Size | None, tuple[str, int, int]]()
        for name, found in stated.items():
            count = rank if found.dims is None else len(found.dims)
            sizes = tuple(Symbol(f"{name}[{axis}]") for axis in range(count))
            types[name] = Type(found.dtype, sizes)
            places |= {size: (name, axis, count) for axis, size in enumerate(sizes)}
        for size, channels in _read(network, types):
            if size in places:
                name, axis, count = places[size]
                answers.setdefault(name, set()).add((axis, channels, count))
    return {name: found.pop() for name, found in answers.items() if len(found) == 1}


def _read(network: Network, types: Mapping[str, Type]) -> Iterator[tuple[Size | None, int]]:
    """The size that each convolution reads as its channels, and how many it reads."""
    try:
        sites = Survey(network.model, folder=network.folder, types=types).sites_now()
    except OnnxpadError:  # no model that can be meant
        return
    for chain in (site.chain for site in sites):
        count = _channels(chain)
        if count is not None and chain.shape and chain.first_axis > 1:
            yield chain.shape[1], count


def _channels(chain: Chain) -> int | None:
    """How many channels a convolution reads (ONNX Operators, Conv and ConvTranspose)."""
    weight, group = chain.weight.shape, chain.attribute("group", 1)
    if not weight or len(weight) < _LEAST or not isinstance(group, int):
        return None
    transposed = chain.op.kind is Kind.TRANSPOSED
    read = weight[0] if transposed else weight[1]
    return None if not isinstance(read, int) else read if transposed else read * group


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
    lists, types = _listed(inputs, network.fed, "input"), with_channels(network, types)
    if missing := [name for name in types if name not in lists]:
        raise RequestError(f"inputs lack {quoted(missing)}; the model needs {quoted(types)}")
    found: list[dict[str, Array]] = [{} for _ in range(_count_of(lists))]
    for name, type_ in types.items():
        for feeds, value in zip(found, lists[name], strict=True):
            feeds[name] = _fitted(name, value, type_, warn)
    return found


def checked_inputs(
    network: Network, types: Mapping[str, Type], inputs: GivenArrays, warn: Warn
) -> list[dict[str, Array]]:
    """The same, to compare a reference with; RequestError as well for NaN and empty values."""
    for name, values in _listed(inputs, network.fed, "input").items():
        for index, value in enumerate(values):
            if types[name].dtype != "string":
                _refuse_useless("input", name, index, value)
    samples = turned_inputs(network, types, inputs, warn)
    flat = {}
    for index, feeds in enumerate(samples):
        images = {name: v for name, v in feeds.items() if v.ndim > 2 and prod(v.shape[2:]) > 1}
        if images and all(map(_is_flat, images.values())):
            flat[index] = next(iter(images))
    if flat:
        which = few([str(index) for index in flat], 8)
        warn(
            f"'{next(iter(flat.values()))}' holds the same number in every cell of a channel in "
            f"sample {which}, which tells little about padding: give an input whose cells differ, "
            "such as a photograph or random numbers, and what the framework makes of it"
        )
    return samples


def _is_flat(value: Array) -> bool:
    cells = value.reshape(*value.shape[:2], -1)
    return bool((cells == cells[..., :1]).all())


def _listed(given: GivenArrays, known: Sequence[str], kind: str) -> dict[str, list[Array]]:
    """Every value as a list of samples; raises RequestError for names that are not known."""
    if not isinstance(given, Mapping):
        raise RequestError(f"{kind}s are given by name, as a dict; got {type(given).__name__}")
    found = {}
    for name, value in given.items():
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean '{near[0]}'?" if near else f"there is {quoted(known[:8])}"
            raise RequestError(f"the model has no {kind} '{name}': {hint}")
        try:
            values = value if isinstance(value, list | tuple) else [value]
            found[name] = [np.asarray(item) for item in values]
        except ValueError as error:
            raise RequestError(
                f"{kind} '{name}' is no array: {error}; give numpy arrays"
            ) from error
    return found


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
        shape = list(value.shape)
        for axis, size in enumerate(dims):
            if isinstance(size, int) and shape[axis] != size:
                single = axis == 0 and size == 1 and value.ndim > 1
                hint = "; give single samples, in a file as s0_in0, s1_in0 and s0_ref0, s1_ref0"
                raise RequestError(
                    f"input '{name}' has shape {shape}, the model takes {size} at axis {axis}"
                    f"{hint if single else ''}"
                )
    return value if type_.dtype in ("", "string") else _typed(name, value, type_.dtype, warn)


def _typed(name: str, value: Array, wanted: str, warn: Warn) -> Array:
    """The value in the model's element type; numbers that it cannot hold are an error."""
    dtype = np.dtype(wanted)
    if value.dtype == dtype:
        return value
    kind, is_whole = _kind(dtype), _kind(dtype) == "integer"
    if _kind(value.dtype) != kind:
        raise RequestError(f"input '{name}' has {value.dtype}, the model takes {dtype}")
    with np.errstate(over="ignore", invalid="ignore"):
        cast = value.astype(dtype)
    kept = (cast, value) if is_whole else (np.isfinite(cast), np.isfinite(value))
    if not np.array_equal(*kept):
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


def fits(shape: Sequence[int], dims: Dims) -> bool:
    """Whether an array has the rank and the sizes that are known."""
    return len(shape) == len(dims) and all(
        own == size for own, size in zip(shape, dims, strict=True) if isinstance(size, int)
    )


def _turned(name: str, value: Array, dims: Dims, warn: Warn, *, is_output: bool = False) -> Array:
    """The value with its channels moved to where the model has them, as far as sizes tell.

    Wrong padding may change the other sizes of an output.
    """
    shape = value.shape
    if value.ndim < 3 or fits(shape, dims):
        return value
    apart = is_output and shape[1] != dims[1] and shape[-1] != dims[-1]
    for layout, source, target in _LAYOUTS:
        moved = np.moveaxis(value, source, target)
        if fits(moved.shape, dims) or (apart and shape[source] == dims[target]):
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
    batches = {value.shape[0] for value in samples[0].values() if value.ndim > 1}
    found = {}
    for name, values in expected.items():
        dims: Dims | None = stated[name].dims if name in stated else None
        if name in given:
            dims = given[name].shape
            _refuse_integers(name, values[0], given[name])
        if dims is not None and values[0].ndim != len(dims):
            raise RequestError(f"{_shapes(name, values[0].shape, dims)}: another rank")
        found[name] = list(values)
        if dims is not None:
            turned = (_turned(name, value, dims, bench.warn, is_output=True) for value in values)
            found[name] = list(turned)
        if name in given:
            _refuse_other_sizes(network, name, found[name][0].shape, given[name].shape, batches)
    return found


def _shapes(name: str, right: Sequence[int], dims: Dims) -> str:
    return f"reference '{name}' has shape {list(right)}, the model gives {list(dims)}"


def _refuse_integers(name: str, right: Array, got: Array) -> None:
    if got.dtype.kind == "f" and right.dtype.kind in "iub":
        raise RequestError(
            f"reference '{name}' holds {right.dtype}, the model computes {got.dtype}: save the "
            "framework's own floats, before any rounding or quantisation"
        )


def _refuse_other_sizes(
    network: Network, name: str, right: Sequence[int], got: Sequence[int], batches: Collection[int]
) -> None:
    """Refuse another number of images than the inputs have, and a size that weights decide."""
    if len(got) > 1 and right[0] != got[0] and list(batches) == [got[0]]:
        raise RequestError(
            f"{_shapes(name, right, got)}: the inputs hold {got[0]} images, and padding does not "
            "change that"
        )
    decided = _decided(network, name, len(got))
    if decided is not None and right[decided[1]] != got[decided[1]]:
        raise RequestError(
            f"{_shapes(name, right, got)}: {decided[0]} makes axis {decided[1]}, and no padding "
            "changes that; is it the reference of this model, and of this output?"
        )


def _decided(network: Network, tensor: str, rank: int) -> tuple[str, int] | None:
    """The node whose weight decides the size of an axis of a tensor, and the axis."""
    while (index := network.producers.get(tensor)) is not None:
        node = network.operation(index)
        made = [name for name in node.inputs if name and name not in network.initializers]
        if node.op_type in _WEIGHTED:
            axis = _WEIGHTED[node.op_type] % rank
            return (node.label, axis) if node.inputs[1] in network.initializers else None
        if node.op_type not in _SAME_SHAPE or len(made) != 1:
            return None
        tensor = made[0]
    return None
