"""Measures what the limits of time and memory cost, as ratios of CPU time within one run.

    python -m tests.benchmarks.limits [--runs 9]

The verbs on every file of models/ where no child process is needed, against the same without any
bound being looked for; and the start of each child against the bare import of what it needs. Each
ratio is the median of interleaved runs of both sides.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

from onnxpad.processes import Child
from tests.benchmarks.measure import report
from tests.benchmarks.processes import ROOT, Cost, interleaved, whole_process

IMPORTS = """
from onnxpad import processes
from onnxpad.model.shapes import native_inference
from tests.benchmarks.loaded import inspect, rewrite
"""
UNBOUNDED = """
native_inference.is_bounded = lambda *_: True
"""
EACH = """
for path in {paths!r}:
    {verb}
"""
TOLD = """
    if not processes._CHILDREN:
        print(path)
    for child in list(processes._CHILDREN):
        child.end()
"""
VERBS = {
    "inspect": "inspect(path)",
    "rewrite": "rewrite(path)",
    "rewrite --target portable": "rewrite(path, target='portable')",
}
CHILDREN = {
    "onnx's shape inference": ("onnxpad.model.shapes.native_inference", "import onnx"),
    "onnxruntime": ("onnxpad.sessions.served", "import numpy, onnxruntime"),
}


def without_children(verb: str) -> list[str]:
    """The models for which a verb needs no child process."""
    paths = sorted(map(str, (ROOT / "models").glob("*.onnx")))
    script = IMPORTS + EACH.format(paths=paths, verb=verb) + TOLD
    command = [sys.executable, "-c", script]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return found.stdout.splitlines()


def on_each(paths: list[str], verb: str, before: str) -> Cost:
    """A verb on models, in a process of its own, without its imports."""
    script = IMPORTS + before + EACH.format(paths=paths, verb=verb)
    return whole_process(["-m", "tests.benchmarks.timed", script])


def started(module: str) -> Cost:
    """What a child has taken when it is ready for its first call, as Linux counts it."""
    child = Child(module)
    fields = Path(f"/proc/{child.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    child.end()
    return Cost(sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK"), 0.0)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    print("| item | what | measured | wanted |")
    print("|---|---|---|---|")
    for name, verb in VERBS.items():
        paths = without_children(verb)
        ours, other = (partial(on_each, paths, verb, before) for before in ("", UNBOUNDED))
        title = f"{name} on {len(paths)} of models/ / without bounds"
        report("bounds", title, *interleaved(ours, other, runs), "<= 1.02")
    for name, (module, needed) in CHILDREN.items():
        ours, other = partial(started, module), partial(whole_process, ["-c", needed])
        title = f"start of the child for {name} / {needed}"
        report("child", title, *interleaved(ours, other, runs), "<= 1.3")


if __name__ == "__main__":
    main()
