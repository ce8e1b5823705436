"""What a changed part is fed beside what the samples showed it: values where parts may differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network, Operation
from onnxpad.model.comparing.regions import Region
from onnxpad.validation.ranges import Range

Array = NDArray[Any]
_SMOOTH = {
    *("Conv", "ConvTranspose", "FusedConv", "AveragePool", "GlobalAveragePool", "Pad", "Slice"),
    *("Add", "Sub", "Mul", "Div", "Neg", "Sum", "Mean", "MatMul", "Gemm", "BatchNormalization"),
    *("Identity", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Concat", "Split"),
    *("Expand", "Tile", "DepthToSpace", "SpaceToDepth", "ReduceMean", "ReduceSum", "Constant"),
    *("Sigmoid", "Tanh", "Exp", "Softmax", "Sqrt", "Erf", "Gelu", "Softplus", "LpPool", "Pow"),
    *("Shape", "ConstantOfShape", "Range", "Cast", "LayerNormalization", "Dropout", "Swish"),
    *("InstanceNormalization", "GroupNormalization", "ReduceL2", "Reciprocal", "Log", "ReduceProd"),
}
"""Operators without corners: two of them that agree on random numbers agree everywhere."""
_MAGNITUDES = (-2.0, 3.5)
_HALF_MAGNITUDES = (-2.0, 2.0)
_FEW = 64
_MOST_IDS = 1 << 20


def has_corners(networks: tuple[Network, Network], region: Region) -> bool:
    """Whether what the parts give may change where a value passes a limit, another, or a row."""
    return any(
        network.nodes[index].op_type not in _SMOOTH or network.nodes[index].domain != ""
        for network, indices in zip(networks, (region.before, region.after), strict=True)
        for index in indices
    )


def probes(
    networks: tuple[Network, Network],
    region: Region,
    seen: Mapping[str, Array],
    ranges: Mapping[str, Range],
) -> Iterator[dict[str, Array]]:
    """Inputs of a part, of the shapes in `seen`; only those in `ranges` get other values.

    Numbers of all magnitudes from 0.01 to 3000 and both signs; the same all negative; ties of small
    integers, and numbers at and around constants that the nodes read. Ids go over all rows of the
    tables that they select from.
    """
    random = np.random.default_rng([len(region.before), *map(len, seen)])
    limits = _constants(networks, region)
    drawn = {name for name in ranges if seen[name].dtype.kind in "fiub" and seen[name].size}
    tables = _tables(networks, region, drawn)
    floats = [name for name in drawn if seen[name].dtype.kind == "f"]
    exact = [name for name in drawn if seen[name].dtype.itemsize == 1 and name not in tables]
    if floats or exact:
        for way in (_spread, _negative, _ties):
            values = {
                name: _inside(way(random, seen[name], limits), ranges[name], seen[name].dtype)
                for name in floats
            }
            yield {**seen, **values, **{n: _any_integer(random, seen[n]) for n in exact}}
    if tables:
        yield {**seen, **{name: _ids(seen[name], rows) for name, rows in tables.items()}}


def _spread(random: np.random.Generator, like: Array, _: Array) -> Array:
    reach = _HALF_MAGNITUDES if like.dtype == np.float16 else _MAGNITUDES
    scale = 10.0 ** random.uniform(*reach, like.shape)
    return np.asarray(random.standard_normal(like.shape) * scale)


def _negative(random: np.random.Generator, like: Array, _: Array) -> Array:
    """Each channel of one magnitude, so that whole windows lie far below zero."""
    channels = like.shape[1] if like.ndim > 1 else 1
    reach = _HALF_MAGNITUDES if like.dtype == np.float16 else (0.5, 5.0)
    scales = np.logspace(reach[1], reach[0], channels)
    shape = [1, channels, *[1] * (like.ndim - 2)] if like.ndim > 1 else []
    values = 0.5 + np.abs(random.standard_normal(like.shape))
    return np.asarray(-values * scales.reshape(shape))


def _ties(random: np.random.Generator, like: Array, limits: Array) -> Array:
    """A constant, or one unit or a little beside it; or an integer from -2 to 2."""
    centres = np.unique(np.concatenate([np.arange(-2.0, 3.0), limits]))
    beside = np.array([0.0, 0.0, 0.0, 1.0, -1.0, 1e-3, -1e-3])
    moved = random.choice(beside, like.shape)
    return np.asarray(random.choice(centres, like.shape) + moved)


def _inside(values: Array, allowed: Range, dtype: np.dtype[Any]) -> Array:
    """The values mirrored into what the tensor may hold."""
    if np.isfinite(allowed.low):
        values = allowed.low + np.abs(values - allowed.low)
        if np.isfinite(allowed.high):
            width = allowed.high - allowed.low
            values = allowed.low + (
                np.mod(values - allowed.low, width) if width > 0 else 0 * values
            )
    elif np.isfinite(allowed.high):
        values = allowed.high - np.abs(values - allowed.high)
    return np.asarray(values).astype(dtype)


def _any_integer(random: np.random.Generator, like: Array) -> Array:
    if like.dtype.kind == "b":
        return random.integers(0, 2, like.shape).astype(bool)
    info = np.iinfo(like.dtype)
    return random.integers(info.min, int(info.max) + 1, like.shape).astype(like.dtype)


def _ids(like: Array, rows: int) -> Array:
    """Every row once, with more along the first axis where the shape has too few cells."""
    shape = list(like.shape)
    if shape and like.size < rows <= _MOST_IDS:
        shape[0] *= -(-rows // like.size)
    count = int(np.prod(shape))
    return (np.arange(count) % rows).astype(like.dtype).reshape(shape)


def _constants(networks: tuple[Network, Network], region: Region) -> Array:
    """Numbers that nodes with corners read or hold: limits, thresholds, fills."""
    found: list[float] = []
    for network, indices in zip(networks, (region.before, region.after), strict=True):
        for index in indices:
            node = network.nodes[index]
            found += _held(network.operation(index))
            for name in node.input:
                value = network.constant(name) if _is_small(network, name) else None
                if value is not None and value.dtype.kind in "fiu":
                    found += np.asarray(value, np.float64).reshape(-1).tolist()
    numbers = np.asarray(found, np.float64)
    return np.unique(numbers[np.isfinite(numbers) & (np.abs(numbers) < 1e6)])[:_FEW]


def _is_small(network: Network, name: str) -> bool:
    tensor = network.initializers.get(name)
    return tensor is not None and int(np.prod(tensor.dims)) <= _FEW


def _held(operation: Operation) -> list[float]:
    names = ("min", "max", "alpha", "lambd", "threshold", "value")
    numbers = [operation.attributes.get(name) for name in names]
    return [one for one in numbers if isinstance(one, float)]


def _tables(networks: tuple[Network, Network], region: Region, drawn: set[str]) -> dict[str, int]:
    """How many rows there are to select for inputs that are ids."""
    found: dict[str, int] = {}
    for network, indices in zip(networks, (region.before, region.after), strict=True):
        for index in indices:
            operation = network.operation(index)
            if operation.op_type != "Gather" or drawn.isdisjoint(operation.inputs[1:2]):
                continue
            table = network.initializers.get(operation.inputs[0])
            if table is not None and table.dims:
                rows = int(table.dims[int(operation.attributes.get("axis", 0))])
                found[operation.inputs[1]] = min(rows, found.get(operation.inputs[1], rows))
    return found
