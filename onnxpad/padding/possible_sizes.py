"""An operator at each size that stands for the large ones which the model leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import lcm

from onnxpad.geometry.size import Size
from onnxpad.geometry.windows import Axis, sample_sizes
from onnxpad.padding.chain import Chain


def at_possible_sizes(chain: Chain) -> Iterator[Chain]:
    """The operator at one period of its open sizes; nothing if no size is open."""
    if chain.has_fixed_sizes:
        return
    sizes = [_one_period(axis) for axis in chain.axes]
    for spatial in product(*sizes):
        pairs = zip(chain.axes, spatial, strict=True)
        axes = tuple(axis._replace(size=size) for axis, size in pairs)
        yield replace(chain, axes=axes, shape=_with_spatial(chain, spatial))


def _one_period(axis: Axis) -> Sequence[int]:
    sizes = tuple(sample_sizes(axis, 0))
    step = sizes[1] - sizes[0] if len(sizes) > 1 else 1
    return sizes[-(lcm(axis.stride, step) // step) :]


def _with_spatial(chain: Chain, sizes: Sequence[int]) -> tuple[Size | None, ...] | None:
    if chain.shape is None:
        return None
    first = chain.first_axis
    return (*chain.shape[:first], *sizes, *chain.shape[first + len(sizes) :])
