"""Measures what the limits of time and memory cost, as ratios of CPU time within one run.

    python -m tests.benchmarks.limits [--runs 9]

The start of each child against the bare import of what it needs. Each ratio is the median of
interleaved runs of both sides.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path

from onnxpad.processes import Child
from tests.benchmarks.measure import report
from tests.benchmarks.processes import Cost, interleaved, whole_process

CHILDREN = {
    "onnxruntime": ("onnxpad.sessions.served", "import numpy, onnxruntime"),
}


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
    for name, (module, needed) in CHILDREN.items():
        ours, other = partial(started, module), partial(whole_process, ["-c", needed])
        title = f"start of the child for {name} / {needed}"
        report("child", title, *interleaved(ours, other, runs), "<= 1.3")


if __name__ == "__main__":
    main()
