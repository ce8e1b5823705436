"""How far rounding alone may move tensors: measured by runs with random errors of its size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.perturbed import PHASE, jumps, only_copies, perturbed
from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import magnitudes
from onnxpad.validation.bench import Bench

Array = NDArray[Any]
UNITS = {"float16": 2.0**-11, "float64": 2.0**-53, "bfloat16": 2.0**-8}
_RUNS = 4
_ANY_SUM = 2.0
"""Where nothing is known of how sums are made: in one row, or of transformed tiles (Winograd)."""
_STILL = 1e-2
"""Next to nothing, against the median of the channels."""


def noise(
    bench: Bench,
    network: Network,
    feeds: Mapping[str, Array],
    clean: Mapping[str, Array],
    *,
    foreign: bool = False,
) -> dict[str, Array] | None:
    """How far rounding alone may move each tensor of `clean`, or None where it cannot be told.

    The model is run with random errors of the size of its own rounding behind every operation
    (`model.comparing.perturbed`); twice the largest movement seen in a channel is its bound.
    The arrays broadcast against the tensors. `foreign` is for another runtime, whose sums are
    not known: it may add up in one row, and a whole tensor counts as one channel.
    """
    noisy = bench.noisy.get((network, foreign))
    if noisy is None:
        if only_copies(network):
            return {name: _stored(value, apart=not foreign) for name, value in clean.items()}
        sums = {"roundings": _ANY_SUM} if foreign or bench.settings.device == "cuda" else {}
        noisy = perturbed(network, **sums, of_whole=foreign)
        if noisy is None:
            return None
        bench.noisy[network, foreign] = noisy
    moved = {name: np.zeros(()) for name in clean}
    apart = not foreign and not jumps(network)
    for phase in range(_RUNS):
        results = bench.run(noisy, {**feeds, PHASE: np.array(phase, np.float32)}, tuple(clean))
        if isinstance(results, RunFailure):
            return None
        for name, value in clean.items():
            movement = _movement(value, results[name], apart=apart)
            moved[name] = np.maximum(moved[name], movement)
    return {name: _bound(moved[name], value, apart=apart) for name, value in clean.items()}


def _movement(clean: Array, moved: Array, *, apart: bool) -> Array:
    """The largest movement in each channel (`apart`), or in the whole tensor."""
    if clean.shape != moved.shape or clean.dtype == object or clean.size == 0:
        return np.zeros(())
    with np.errstate(invalid="ignore"):
        distance = np.abs(clean.astype(np.float64) - moved.astype(np.float64))
    return _largest(np.where(np.isfinite(distance), distance, 0.0), apart=apart)


def _bound(moved: Array, clean: Array, *, apart: bool) -> Array:
    """Twice the movement, and the rounding of what is stored; broadcasts against `clean`.

    A channel of few cells may be still by chance: it moves at least as its size does in the median
    of the channels. One that holds next to nothing (behind a Relu) moves like the median one.
    """
    if clean.dtype.kind in "iubO" or clean.size == 0:
        return 2 * moved
    size = _largest(magnitudes(clean), apart=apart)
    live = size > 0
    if not live.any():
        return 2 * moved
    ratio = float(np.median(moved[live] / size[live]))
    found = 2 * np.maximum(moved, ratio * size) + _unit(clean) * size
    still = size < _STILL * np.median(size[live])
    return np.where(still, np.maximum(found, np.median(found[live])), found)


def _stored(value: Array, *, apart: bool) -> Array:
    """What storing the cells of a tensor may move them by, of each one if they are `apart`."""
    if value.dtype.kind in "iubO" or value.size == 0:
        return np.zeros(())
    wide = _unit(value) * magnitudes(value)
    return np.asarray(wide if apart else wide.max())


def _unit(value: Array) -> float:
    return 4 * UNITS.get(str(value.dtype), 2.0**-24)


def _largest(values: Array, *, apart: bool) -> Array:
    """The largest value of each channel, of all where they are not `apart`.

    Channels are axis 1; of three axes the last one may hold them as well, and the smaller counts.
    """
    if not apart:
        return np.asarray(values.max(initial=0.0))
    if values.ndim < 2:
        return values
    found = []
    for channel in (1, 2) if values.ndim == 3 else (1,):
        others = tuple(axis for axis in range(values.ndim) if axis != channel)
        found.append(values.max(axis=others, keepdims=True, initial=0.0))
    return np.asarray(np.minimum(found[0], found[-1]))
