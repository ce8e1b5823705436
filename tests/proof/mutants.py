"""What the kernel says of wrong models.

Every mutant is a rewritten random model with one more change. Its label comes from the tests'
interpreter in float64, which looks for inputs and sizes at which the result is another one than
that of the original: signed whole numbers, magnitudes from 0.01 to 3000, one sign, six sizes.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import onnx
from numpy.random import Generator

from onnxpad.proof import Limits, Proof, prove
from tests.oracle.interpreter import run_model
from tests.proof.law import random_spec, rewrites
from tests.proof.mutations import at_one_size, mutant
from tests.random_models.building import Built, build
from tests.random_models.feeding import Feed, data, feeds, sizes_of, stated
from tests.random_models.spec import Spec


class Judged(NamedTuple):
    """A mutant: its change, whether it can be observed, and the proof."""

    number: int
    name: str
    change: str
    label: str
    proof: Proof


def mutants(
    number: int, seed: int, each: int
) -> Iterator[tuple[Spec, Built, str, str, onnx.ModelProto, list[Feed]]]:
    """Spec, model, pass, change, mutant and inputs of one random model; few of each rewrite."""
    rng = np.random.default_rng([seed, number])
    spec = random_spec(number, seed)
    built = build(spec)
    found = list(rewrites(spec, built))
    seen: set[bytes] = set()
    for at in rng.permutation(len(found))[:3].tolist():
        name, after = found[at]
        for _ in range(each):
            other, change = mutant(after, rng)
            fed = list(chosen(spec, built, rng))
            gate = _gated(spec, built, rng) if not rng.integers(12) else None
            if gate is not None:
                other, change, more = gate
                fed.append(more)
            key = other.SerializeToString(deterministic=True)
            if change and key not in seen:
                seen.add(key)
                yield spec, built, name, change, other, fed


def _gated(spec: Spec, built: Built, rng: Generator) -> tuple[onnx.ModelProto, str, Feed] | None:
    """A mutant that differs at one size of an open axis, and an input of that size."""
    axes = [at for at, one in enumerate(spec.free) if one not in ("", "number")]
    if not axes:
        return None
    axis = int(rng.choice(axes))
    least = max(spec.spatial[axis], int(rng.integers(20, 70)))
    larger = tuple(least if at == axis else size for at, size in enumerate(spec.spatial))
    sizes = next(sizes_of(replace(spec, spatial=larger)))
    feed = {"x": data(rng, spec, sizes, spec.batch), **built.fed}
    place = next(
        (at for at, size in enumerate(feed["x"].shape) if at and size == sizes[axis]), None
    )
    if place is None or spec.place == "if":
        return None
    other = at_one_size(built.model, place, sizes[axis])
    if other.SerializeToString() == built.model.SerializeToString():
        return None
    return other, f"another result at size {sizes[axis]} of axis {place}", feed


def chosen(spec: Spec, built: Built, rng: Generator) -> Iterator[Feed]:
    """Inputs at which differences hide: sizes, signs, magnitudes."""
    plain = feeds(spec, built)
    yield from plain
    for feed in (plain[0], plain[-1]):
        x = feed["x"]
        if x.dtype.kind in "iu":
            info = np.iinfo(x.dtype)
            for low, high in ((info.min, info.max), (max(0, info.min), info.max), (info.min, 1)):
                whole = rng.integers(low, max(low + 1, high), x.shape, endpoint=True)
                yield {**feed, "x": whole.astype(x.dtype)}
            for end in (info.min, info.max):
                yield {**feed, "x": np.full_like(x, end)}
            continue
        for scale in (0.01, 1.0, 30.0, 3000.0):
            drawn = rng.standard_normal(x.shape) * scale
            for values in (drawn, np.abs(drawn), -np.abs(drawn)):
                yield {**feed, "x": values.astype(x.dtype)}


def label(before: onnx.ModelProto, after: onnx.ModelProto, fed: list[Feed]) -> str:
    """observable, same (nothing was found), or no result (of the original)."""
    ran = False
    for feed in fed:
        first = _run(before, feed)
        if first is None:
            continue
        ran = True
        second = _run(after, feed)
        if second is None or not _alike(first, second):
            return "observable"
    return "same" if ran else "no result"


def _run(model: onnx.ModelProto, feed: Feed) -> Feed | None:
    try:
        with np.errstate(all="ignore"):
            return run_model(model, feed)
    except (ValueError, TypeError, LookupError, ArithmeticError, NotImplementedError):
        return None


def _alike(first: Feed, second: Feed) -> bool:
    """Equal but for rounding; the lowest finite float counts as -inf, as the kernel reads it."""
    if list(first) != list(second):
        return False
    for a, b in zip(first.values(), second.values(), strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        left, right = (np.where(x <= -3.4e38, -np.inf, x.astype(np.float64)) for x in (a, b))
        finite = left[np.isfinite(left)]
        room = 1e-5 * float(np.abs(finite).max(initial=0)) if a.dtype.kind == "f" else 0.5
        with np.errstate(invalid="ignore"):
            near = (left == right) | (np.abs(left - right) <= room)
        if not (near | (np.isnan(left) & np.isnan(right))).all():
            return False
    return True


def judge(number: int, seed: int, each: int = 3) -> Iterator[Judged]:
    """All mutants of one model."""
    for spec, built, name, change, other, fed in mutants(number, seed, each):
        proof = prove(built.model, other, dims=stated(spec), limits=Limits(seconds=20))
        yield Judged(number, name, change, label(built.model, other, fed), proof)
