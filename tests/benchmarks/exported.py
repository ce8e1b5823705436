"""Networks at full size through `rewrite --target`: CPU time, signs of life, and what comes out.

    python -m tests.benchmarks.exported FOLDER                all networks, all targets
    python -m tests.benchmarks.exported FOLDER --networks keras-Xception --targets ncnn

FOLDER holds what exporting.py wrote. A row says what the rewrite takes beyond the same command on
a model of one node, against reading and writing the model with onnx; whether a terminal saw that
it works; whether onnxruntime computes the same of what was written; and what the runtime itself
makes of the model before and after, where it can be installed.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime
from onnx import parser

from tests.benchmarks.processes import median, whole_process
from tests.runtimes.live import RELEASES, RUNTIMES
from tests.runtimes.live.environments import Unavailable
from tests.runtimes.live.running import Case, outcomes
from tests.runtimes.targets.corpus import sizes

Array = np.ndarray[Any, Any]
TARGETS = ("ncnn", "opencv", "openvino@2024.6", "webgpu")
ROUND_TRIP = "import onnx; onnx.save(onnx.load({path!r}), {out!r})"
TIMES, SECONDS = 10.0, 1.0
"""The limit: so many times reading and writing, or so many seconds of CPU time, the larger."""
SILENT = 3.0
"""Seconds after which a terminal has to show that something is being done."""
TO_RUN = 300.0
ONE_NODE = """<ir_version: 8, opset_import: ["" : 17]>
one (float[1,2,8,8] x) => (float[1,2,8,8] y) { y = Relu(x) }"""


class Asked(NamedTuple):
    """One run of the command: CPU and wall seconds, its report, and the longest silence."""

    cpu: float
    wall: float
    silence: float
    report: Mapping[str, Any]


def ask(model: Path, target: str, out: Path, *more: str) -> Asked:
    """`onnxpad rewrite --target` with a terminal as its standard error."""
    ours, theirs = pty.openpty()
    report = out.with_suffix(".json")
    arguments = ["rewrite", str(model), "--target", target, "-o", str(out), "--json", *more]
    said = [time.monotonic()]

    def listen() -> None:
        with suppress(OSError):
            while os.read(ours, 4096):
                said.append(time.monotonic())

    with report.open("wb") as stdout:
        process = subprocess.Popen(
            [sys.executable, "-m", "onnxpad", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=theirs,
            env=os.environ | {"TERM": "xterm"},
        )
    os.close(theirs)
    listener = threading.Thread(target=listen)
    listener.start()
    _, _, used = os.wait4(process.pid, 0)
    said.append(time.monotonic())
    listener.join()
    os.close(ours)
    silence = max(later - sooner for sooner, later in pairwise(said))
    text = report.read_text("utf-8")
    return Asked(
        used.ru_utime + used.ru_stime, said[-1] - said[0], silence, json.loads(text or "{}")
    )


@dataclass
class Row:
    """One network for one target."""

    network: str
    target: str
    nodes: int
    load_save: float
    cpu: float
    wall: float
    silence: float
    state: str
    changes: int
    onnxruntime: str = ""
    before: str = ""
    after: str = ""
    reasons: str = ""

    @property
    def is_slow(self) -> bool:
        return self.cpu > max(TIMES * self.load_save, SECONDS)

    @property
    def is_wrong(self) -> bool:
        """Whether what was written computes something else, or fails where it should run."""
        wrote = self.state in ("written", "fits")
        return self.onnxruntime == "differs" or (wrote and self.after in ("wrong", "crash"))

    def __str__(self) -> str:
        marks = ["SLOW"] * self.is_slow + ["WRONG"] * self.is_wrong
        marks += ["SILENT"] * (self.silence > SILENT)
        ratio = self.cpu / self.load_save
        return (
            f"{self.network:34} {self.target:16} {self.nodes:5} {self.load_save:7.2f}"
            f" {self.cpu:6.2f} {ratio:6.1f} {self.wall:6.1f} {self.silence:5.1f}"
            f" {self.state:8} {self.changes:4} {self.onnxruntime:8}"
            f" {self.before:>9} -> {self.after:9} {' '.join(marks)} {self.reasons}".rstrip()
        )


HEADER = (
    f"{'network':34} {'target':16} {'nodes':>5} {'ld+sv s':>7} {'CPU s':>6} {'ratio':>6}"
    f" {'wall s':>6} {'quiet':>5} {'state':8} {'chg':>4} {'ort':8} {'runtime':>9}"
)


@cache
def to_start(target: str) -> float:
    """CPU seconds of the command on a model of one node."""
    with tempfile.TemporaryDirectory() as given:
        model = Path(given) / "one.onnx"
        onnx.save(parser.parse_model(ONE_NODE), model)
        return min(ask(model, target, Path(given) / "out.onnx").cpu for _ in range(2))


def load_and_save(model: Path, folder: Path) -> float:
    """CPU seconds that onnx takes, imports left out."""
    script = ROUND_TRIP.format(path=str(model), out=str(folder / "copy.onnx"))
    timed = ["-m", "tests.benchmarks.timed", script]
    return median([whole_process(timed) for _ in range(3)]).cpu


def run(model: Path, inputs: Mapping[str, Array], *, optimised: bool) -> list[Array]:
    """What onnxruntime computes on the CPU."""
    options = onnxruntime.SessionOptions()
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return [np.asarray(one) for one in session.run(None, dict(inputs))]


def near(found: list[Array], wanted: list[Array]) -> bool:
    """Whether every output is within a thousandth of the largest number that was wanted."""
    return all(
        a.shape == b.shape and bool(np.abs(a - b).max(initial=0) <= 1e-3 * np.abs(b).max(initial=0))
        for a, b in zip(found, wanted, strict=True)
    )


def live(target: str, model: Path, case: Case) -> str:
    """What the runtime makes of a file; "-" where it cannot be installed."""
    try:
        done = outcomes(
            (RUNTIMES | RELEASES)[target], {"": case._replace(model=model)}, seconds=TO_RUN
        )
    except Unavailable:
        return "-"
    if done[""].verdict in ("wrong", "refused", "crash"):
        sys.stdout.write(f"    {target}: {' '.join(done[''].message.split())[:300]}\n")
    return done[""].verdict


def reasons(report: Mapping[str, Any]) -> str:
    """Operators and reasons of what no way helps, each once."""
    found = {f"{one['op']}: {one['reason']}" for one in report["target"]["no_way"]}
    return "; ".join(sorted(found))[:200]


def measure(name: str, path: Path, targets: list[str], started: list[str]) -> Iterator[Row]:
    """The rows of one network."""
    inputs = dict(np.load(path.with_suffix(".npz")))
    case = Case(path, inputs, {})
    dims = [f"--dim={name}={size}" for name, size in sizes(case).items()]
    graph = onnx.load(path, load_external_data=False).graph
    wanted = run(path, inputs, optimised=False)
    references = {value.name: one for value, one in zip(graph.output, wanted, strict=True)}
    case = Case(path, inputs, references)
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        own = load_and_save(path, folder)
        for target in targets:
            start = to_start(target)
            out = folder / "out.onnx"
            out.unlink(missing_ok=True)
            asked = ask(path, target, out, *dims)
            if not asked.report:
                yield Row(name, target, len(graph.node), own, 0, 0, 0, "FAILED", 0)
                continue
            changed = bool(asked.report["changed"])
            state = "no way" if asked.report["refused"] else "written" if changed else "fits"
            row = Row(
                name,
                target,
                len(graph.node),
                own,
                max(0.0, asked.cpu - start),
                asked.wall,
                asked.silence,
                state,
                len(asked.report["changes"]),
            )
            row.reasons = reasons(asked.report) if state == "no way" else ""
            if out.exists():
                same = all(near(run(out, inputs, optimised=o), wanted) for o in (False, True))
                row.onnxruntime = "same" if same else "differs"
            if target in started:
                row.before = live(target, path, case)
                row.after = live(target, out, case) if out.exists() else ""
            yield row


def main(arguments: list[str]) -> int:
    """Print the table; 1 where a row is over the limit, silent or wrong."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--networks", help="names, with commas (default: all of the folder)")
    options.add_argument("--targets", default=",".join(TARGETS), help="names, with commas")
    options.add_argument("--live", default=",".join(TARGETS), help="the runtimes to start")
    given = options.parse_args(arguments)
    names = given.networks.split(",") if given.networks else None
    sys.stdout.write(HEADER + "\n")
    bad = 0
    for path in sorted(given.folder.glob("*.onnx")):
        if (names and path.stem not in names) or not path.with_suffix(".npz").exists():
            continue
        for row in measure(path.stem, path, given.targets.split(","), given.live.split(",")):
            sys.stdout.write(f"{row}\n")
            sys.stdout.flush()
            bad += row.is_slow or row.is_wrong or row.silence > SILENT
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
