"""Runs of many models, steered towards the pairs of passes that are still rare."""

import multiprocessing
import pickle
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.random import Generator

from tests.random_models.checking import check, opened
from tests.random_models.coverage import Coverage
from tests.random_models.drawing import draw
from tests.random_models.judging import by_onnxruntime
from tests.random_models.kinds import KINDS
from tests.random_models.spec import Spec

PART = 500
SEEDS = 1 << 31
ENDS = "onnxruntime ends its process on the original"
SPAWN = multiprocessing.get_context("spawn")
# Kinds in which passes find little to do are drawn less often.
RARE = {"AveragePool double": 0.5, "Col2Im": 0.5, "DeformConv": 0.5, "Pad int32": 0.5}
WEIGHTS = np.asarray([RARE.get(kind, 1.0) for kind in KINDS])


def run_part(
    seed: int,
    count: int,
    wanted: int,
    before: Coverage | None = None,
    watched: Path | None = None,
    ending: Collection[Spec] = (),
) -> Coverage:
    """Check `count` models, and more like those with rare pairs until each has `wanted`.

    `before` is what earlier parts covered; only this part's counts are returned. The spec that
    is being checked stands in the file `watched`, for the case that the process dies; those that
    are `ending` it are passed over.
    """
    rng = np.random.default_rng(seed)
    found, steering = Coverage(), Coverage()
    if before is not None:
        steering.merge(before)
    for number in range(2 * count):
        thin = bool(steering.thin(wanted))
        if number >= count and not thin:
            break
        like = thin and (number >= count or rng.integers(2) == 0)
        spec = _like_a_rare_one(rng, steering, wanted) if like else _fresh(rng)
        if watched is not None:
            watched.write_bytes(pickle.dumps(spec))
        if spec in ending:
            found.excluded[ENDS] += 1
            continue
        checked = check(spec, steering.second)
        found.add(spec, checked)
        steering.add(spec, checked)
    return found


def _fresh(rng: Generator) -> Spec:
    kind = str(rng.choice(list(KINDS), p=WEIGHTS / WEIGHTS.sum()))
    return draw(kind, int(rng.integers(SEEDS)))


def _like_a_rare_one(rng: Generator, coverage: Coverage, wanted: int) -> Spec:
    """A model that a rare order applied to, with other numbers and perhaps a larger input."""
    orders = coverage.thin(wanted)[:8]
    examples = coverage.examples[orders[int(rng.integers(len(orders)))]]
    spec = examples[int(rng.integers(len(examples)))]
    seed = spec.seed + 2 * int(rng.integers(1, SEEDS))
    more = spec.strides if rng.integers(2) and not spec.output_shape else (0,) * spec.rank
    spatial = tuple(size + step for size, step in zip(spec.spatial, more, strict=True))
    return replace(spec, seed=seed, spatial=spatial)


def run(
    count: int, seed: int, processes: int, wanted: int, progress: Callable[[Coverage], None]
) -> Coverage:
    """Check `count` models in parts; equal arguments give equal models.

    Raises RuntimeError with the specs in hand where a process dies that the original model alone
    leaves alive: releases of onnxruntime up to 1.31 crash where they would say that they refuse a
    model in a Loop.
    """
    total = Coverage()
    ending: list[Spec] = []
    for sizes in _rounds(count, processes):
        first = seed * 1_000_003 + total.models.total()
        parts = None
        while parts is None:
            parts = _parts(sizes, first, wanted, total, ending)
        for part in parts:
            total.merge(part)
        progress(total)
    return total


def _rounds(count: int, processes: int) -> Iterator[list[int]]:
    while count > 0:
        sizes = [min(PART, max(0, count - PART * n)) for n in range(processes)]
        yield [size for size in sizes if size]
        count -= sum(sizes)


def _parts(
    sizes: list[int], first: int, wanted: int, total: Coverage, ending: list[Spec]
) -> list[Coverage] | None:
    """The parts of a round; None where it has to be run again without what is `ending` now."""
    with TemporaryDirectory() as folder, ProcessPoolExecutor(len(sizes), SPAWN) as pool:
        files = [Path(folder) / str(number) for number in range(len(sizes))]
        jobs = [
            pool.submit(run_part, first + number, size, wanted, total, files[number], ending)
            for number, size in enumerate(sizes)
        ]
        try:
            return [job.result() for job in jobs]
        except BrokenProcessPool as error:
            held = [pickle.loads(file.read_bytes()) for file in files if file.exists()]  # noqa: S301
            found = [spec for spec in held if spec not in ending and _original_ends(spec)]
            if not found:
                said = "\n".join(map(repr, held))
                raise RuntimeError(f"a process died while it checked one of\n{said}") from error
            ending += found
    return None


def _original_ends(spec: Spec) -> bool:
    process = SPAWN.Process(target=_run_original, args=(spec,))
    process.start()
    process.join()
    return (process.exitcode or 0) < 0


def _run_original(spec: Spec) -> None:
    original = opened(spec)
    by_onnxruntime(original.model, original.feeds, optimised=True)
