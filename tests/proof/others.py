"""python -m tests.proof.others: what the kernel and validate say of other tools' rewrites.

The traps of the tests and random models are handed to peers.py, which runs in an environment of
its own; what it changed is judged, and labelled by the tests' interpreter in float64.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import onnx
from numpy.random import Generator
from onnx import helper, shape_inference

from onnxpad.proof import Limits, prove
from tests.models.traps import TRAPS
from tests.proof.law import random_spec
from tests.proof.mutants import chosen, label, validated
from tests.random_models.building import build
from tests.random_models.feeding import Feed, stated

SIZES = (8, 7, 12)


@dataclass(frozen=True)
class Judged:
    """A rewrite of another tool; `truth` is same, observable or no result of the original."""

    model: str
    tool: str
    truth: str
    proof: str
    reason: str
    said: str
    told: str

    @property
    def runs(self) -> bool:
        """Whether onnxruntime runs what the tool wrote, where it runs what it was given."""
        return not re.search("(?<!; )onnxruntime does not (open|run) the second model", self.told)


def written(folder: Path, count: int, seed: int) -> dict[str, dict[str, int | str]]:
    """The models as files, and what is said of their sizes."""
    facts: dict[str, dict[str, int | str]] = {}
    for code, pair in TRAPS.items():
        for at, model in enumerate(pair):
            name = f"{code}-{at}"
            onnx.save(shape_inference.infer_shapes(model), folder / f"{name}.onnx")
            facts[name] = {}
    for number in range(count):
        spec = random_spec(number, seed)
        name = f"random-{number}"
        onnx.save(build(spec).model, folder / f"{name}.onnx")
        facts[name] = stated(spec)
    return facts


def fed(name: str, model: onnx.ModelProto, seed: int) -> list[Feed]:
    """Inputs at which differences hide."""
    kind, _, number = name.rpartition("-")
    rng = np.random.default_rng(seed)
    if kind == "random":
        spec = random_spec(int(number), seed)
        return list(chosen(spec, build(spec), rng))
    return list(_drawn(model, rng))


def _drawn(model: onnx.ModelProto, rng: Generator) -> Iterator[Feed]:
    defaults = {tensor.name for tensor in model.graph.initializer}
    given = [info for info in model.graph.input if info.name not in defaults]
    for size in SIZES:
        for scale in (1.0, 0.01, 3000.0):
            for sign in (0, 1, -1):
                feed = {}
                for info in given:
                    kind = info.type.tensor_type
                    shape = [one.dim_value or size for one in kind.shape.dim]
                    dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
                    feed[info.name] = _values(rng, shape, dtype, (scale, sign))
                yield feed


def _values(
    rng: Generator, shape: list[int], dtype: "np.dtype[np.generic]", how: tuple[float, int]
) -> "np.ndarray[tuple[int, ...], np.dtype[np.generic]]":
    if dtype.kind in "iub":
        least = 0 if dtype.kind == "u" or dtype.itemsize > 4 else -9
        return rng.integers(least, 2 if dtype.itemsize > 4 else 10, shape).astype(dtype)
    scale, sign = how
    values = rng.standard_normal(shape) * scale
    return (np.abs(values) * sign if sign else values).astype(dtype)


def judge(folder: Path, name: str, tool: str, facts: dict[str, int | str], seed: int) -> Judged:
    """One rewrite."""
    before = onnx.load(folder / f"{name}.onnx")
    after = onnx.load(folder / f"{name}.{tool}.onnx")
    proof = prove(before, after, dims=facts, limits=Limits(seconds=20))
    taken = {info.name for info in after.graph.input}
    defaults = {tensor.name for tensor in before.graph.initializer} - taken
    feeds = fed(name, before, seed)
    feeds = [{one: feed[one] for one in feed if one not in defaults} for feed in feeds]
    truth = label(before, after, feeds)
    said, told, _ = validated(before, after, facts)
    return Judged(name, tool, truth, proof.verdict, proof.reason, said, told)


def main() -> None:
    """Parse the command line, write, run the tools, judge, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof.others", description=__doc__)
    parser.add_argument("folder", type=Path, help="an empty folder, or one to go on with")
    parser.add_argument("--python", help="the interpreter of the tools' environment")
    parser.add_argument("--count", type=int, default=100, help="random models")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True, parents=True)
    facts = written(options.folder, options.count, options.seed)
    if options.python:
        script = Path(__file__).with_name("peers.py")
        subprocess.run([options.python, script, "optimise", options.folder], check=True)
    releases = json.loads((options.folder / "releases.json").read_text())
    rows = []
    for tool in releases:
        for path in sorted(options.folder.glob(f"*.{tool}.onnx")):
            name = path.name.removesuffix(f".{tool}.onnx")
            row = judge(options.folder, name, tool, facts[name], options.seed)
            rows.append(row)
            with (options.folder / "judged.jsonl").open("a") as file:
                file.write(json.dumps(asdict(row)) + "\n")
            claimed = row.proof == "proved" or row.said in ("proved", "identical", "rounding")
            if (row.truth == "observable") == claimed and row.truth != "no result":
                sys.stdout.write(f"WRONG {row}\n")
        sys.stdout.write(f"{tool} {releases[tool]}: {_counts(rows, tool)}\n")
        sys.stdout.flush()


def _counts(rows: list[Judged], tool: str) -> str:
    counts = Counter(
        (row.truth, row.proof, row.said if row.runs else "not run by onnxruntime")
        for row in rows
        if row.tool == tool
    )
    return "; ".join(f"{count} {' / '.join(what)}" for what, count in counts.most_common())


if __name__ == "__main__":
    main()
