"""Inputs for the model of a spec: signed whole numbers, at six sizes where sizes are open."""

import math
import re
from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from tests.random_models.building import Built, dimension
from tests.random_models.graphs import Array
from tests.random_models.spec import Spec
from tests.random_models.stages import stages

SIZES = 6
Feed = dict[str, Array]


def stated(spec: Spec) -> dict[str, int | str]:
    """What the caller of `rewrite` says of the sizes."""
    facts: dict[str, int | str] = {}
    for axis, free in enumerate(spec.free):
        name = dimension(spec, axis, free)
        if free.startswith("%"):
            facts[f"H{axis}"] = free
        elif free == "number":
            facts[str(name)] = spec.spatial[axis]
    return facts


def sizes_of(spec: Spec) -> Iterator[tuple[int, ...]]:
    """Spatial sizes to run the model at, all of which agree with what is stated."""
    if not any(spec.free):
        yield spec.spatial
        return
    for turn in range(SIZES):
        yield tuple(
            _size(size, free, turn * (axis + 1) % 7)
            for axis, (size, free) in enumerate(zip(spec.spatial, spec.free, strict=True))
        )


def _size(least: int, free: str, turn: int) -> int:
    if free in ("", "number"):
        return least
    numbers = [int(text) for text in re.findall(r"\d+", free)]
    if free.startswith("%"):
        modulus, residue = numbers
        return least + (residue - least) % modulus + modulus * turn
    if "h" in free:
        factor, more = numbers[0], numbers[1] if len(numbers) > 1 else 0
        return factor * (max(1, math.ceil((least - more) / factor)) + turn) + more
    return least + turn


def feeds(spec: Spec, built: Built) -> list[Feed]:
    """Inputs for every run of the model."""
    rng = np.random.default_rng(spec.seed + 1)
    found: list[Feed] = []
    for turn, sizes in enumerate(sizes_of(spec)):
        batch = spec.batch + turn % 2 if spec.free_batch else spec.batch
        feed = {"x": data(rng, spec, sizes, batch), **built.fed}
        if spec.place == "if":
            feed["condition"] = np.asarray(turn % 2 == 0)
        found.append(feed)
    if spec.place == "if" and len(found) == 1:
        found.append(found[0] | {"condition": np.asarray(False)})
    if built.others:
        found.append(found[0] | built.others)
    return found


def data(rng: Generator, spec: Spec, sizes: tuple[int, ...], batch: int) -> Array:
    stage = stages(spec)[0]
    lengths = {"N": batch, "C": spec.channels}
    shape = [sizes[axis] if isinstance(axis, int) else lengths[axis] for axis in stage.axes]
    if stage.dtype == "uint8":
        return rng.integers(0, 256, shape, np.uint8)
    if stage.dtype == "int8":
        return rng.integers(-128, 1 if spec.negative else 128, shape).astype(np.int8)
    low, high = (-40, 0) if spec.negative else (-20, 21)
    values: Array = rng.integers(low, high, shape).astype(stage.dtype)
    return values
