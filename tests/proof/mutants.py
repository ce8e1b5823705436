"""python -m tests.proof.mutants: what the kernel and validate say of wrong models.

Every mutant is a rewritten random model with one more change. Its label comes from the tests'
interpreter in float64, which looks for inputs and sizes at which the result is another one than
that of the original: signed whole numbers, magnitudes from 0.01 to 3000, one sign, six sizes.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

import numpy as np
import onnx
from numpy.random import Generator

import onnxpad
from onnxpad.errors import OnnxpadError
from onnxpad.proof import Limits, prove
from tests.oracle.interpreter import run_model
from tests.proof.law import random_spec, rewrites
from tests.proof.mutations import at_one_size, mutant
from tests.random_models.building import Built, build
from tests.random_models.feeding import Feed, data, feeds, sizes_of, stated
from tests.random_models.spec import Spec

CLAIMS = ("proved", "identical", "rounding")
"""Verdicts of validate that call two models the same."""


@dataclass(frozen=True)
class Judged:
    """A mutant: whether it can be observed, and what was said of it.

    `said` and `told` are validate's verdict and sentence, `warned` are its warnings.
    """

    number: int
    name: str
    change: str
    label: str
    proof: str
    reason: str
    readings: tuple[str, ...]
    said: str
    told: str
    warned: tuple[str, ...] = ()

    @property
    def is_claimed(self) -> bool:
        """Whether it was called proved, or the same."""
        return self.proof == "proved" or self.said in CLAIMS

    @property
    def is_wrong(self) -> bool:
        """Whether it broke validate, or can be observed and was claimed, and nothing was said."""
        silent = self.is_claimed and not self.readings + self.warned
        return self.said == "broken" or (self.label == "observable" and silent)


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
    if not axes or spec.operator.family == "col2im":
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


def judge(number: int, seed: int, each: int = 3, *, run: bool = True) -> list[Judged]:
    """All mutants of one model."""
    found = []
    for spec, built, name, change, other, fed in mutants(number, seed, each):
        facts = stated(spec)
        proof = prove(built.model, other, dims=facts, limits=Limits(seconds=20))
        kind = label(built.model, other, fed)
        told = validated(built.model, other, facts) if run else ("", "", ())
        ways = proof.verdict, proof.reason, proof.readings
        found.append(Judged(number, name, change, kind, *ways, *told))
    return found


def validated(
    before: onnx.ModelProto, after: onnx.ModelProto, facts: dict[str, int | str]
) -> tuple[str, str, tuple[str, ...]]:
    """validate's verdict, sentence and warnings; a refusal is "refused", a defect "broken"."""
    try:
        done = onnxpad.validate(before, after, dims=facts)
    except OnnxpadError as error:
        return "refused", str(error), ()
    except Exception:  # noqa: BLE001 - the others are judged all the same
        return "broken", traceback.format_exc()[-600:], ()
    return str(done.verdict.value), done.reason, done.warnings


def table(rows: list[Judged]) -> str:
    """Labels against verdicts."""
    lines = []
    for what in ("proof", "said"):
        counts = Counter((row.label, getattr(row, what)) for row in rows)
        names = sorted({name for _, name in counts})
        lines.append(f"{what:<12}" + "".join(f"{name or '-':>12}" for name in names))
        lines += [
            f"{kind:<12}" + "".join(f"{counts[kind, name]:>12}" for name in names)
            for kind in ("observable", "same", "no result")
        ]
    seen = [row for row in rows if row.label == "observable"]
    caught = sum(row.said == "different" or row.proof == "refuted" for row in seen)
    lines.append(f"observable: {caught} of {len(seen)} are different by proof and run together")
    claimed = [row for row in seen if row.is_claimed]
    wrong = sum(row.is_wrong for row in claimed)
    lines.append(f"observable and called the same: {len(claimed)}, {wrong} without a warning")
    return "\n".join(lines)


def main() -> None:
    """Parse the command line, judge, print; exit with 1 where a mutant was called the same."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="mutants to judge")
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--each", type=int, default=3, help="mutants of every rewrite")
    parser.add_argument("--proof-only", action="store_true", help="do not run validate")
    options = parser.parse_args()
    job = partial(judge, seed=options.seed, each=options.each, run=not options.proof_only)
    start, rows = time.monotonic(), list[Judged]()
    with ProcessPoolExecutor(options.processes) as pool:
        for first in count(step=4 * options.processes):
            if len(rows) >= options.count:
                break
            for found in pool.map(job, range(first, first + 4 * options.processes)):
                rows += found
                sys.stdout.writelines(f"WRONG {row}\n" for row in found if row.is_wrong)
            sys.stdout.write(f"{len(rows)} mutants, {time.monotonic() - start:.0f} s\n")
            sys.stdout.flush()
    sys.stdout.write(table(rows) + "\n")
    sys.exit(1 if any(row.is_wrong for row in rows) else 0)


if __name__ == "__main__":
    main()
