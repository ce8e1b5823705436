"""Measures the performance goals as ratios of CPU time within one run.

    python tests/benchmarks/measure.py            all goals
    python tests/benchmarks/measure.py G3 G8      some of them

Each ratio is the median of interleaved runs of both sides. Nothing here passes or fails: the
figures depend on the machine, their ratios much less. G9 needs onnxscript and is left out
without it.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

from tests.benchmarks import networks
from tests.benchmarks.processes import Cost, interleaved, median, whole_process

PASSES = """
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.rewriting.passes import absorb_pad, explicit_pads, split_pads
"""
LOAD = "import onnx; onnx.load({path!r})"
ROUND_TRIP = "import onnx; onnx.save(onnx.load({path!r}), {out!r})"
REWRITE = PASSES + "rewrite({path!r}).save({out!r})"
SPLIT = PASSES + "rewrite({path!r}, passes=['split-pads']).save({out!r})"
ABSORB = PASSES + "rewrite({path!r}, passes=['absorb-pad']).save({out!r})"
INSPECT = "from onnxpad.inspection import inspect; inspect({path!r})"
PEER = """
import onnx, onnx_ir
from onnx_ir.passes.common import ShapeInferencePass
from onnxscript.rewriter import rewrite
from onnxscript.rewriter.rules.common import _fuse_pad_into_conv as rules
model = onnx_ir.load({path!r})
ShapeInferencePass()(model)
model = rewrite(model, pattern_rewrite_rules=rules.rules)
onnx_ir.save(model, {out!r})
"""


def g1(_: Path) -> None:
    """--help, --version and usage errors against an empty Python."""
    for arguments in (["--help"], ["--version"], ["rewrite", "--no-such-option"]):
        ours, empty = interleaved(
            partial(whole_process, ["-m", "onnxpad", *arguments], may_fail=True),
            partial(whole_process, ["-c", "pass"]),
            7,
        )
        report("G1", f"onnxpad {' '.join(arguments)} / python -c pass", ours, empty, "<= 6")


def g2(_: Path) -> None:
    """inspect against loading, on a model of the onnx wheel whose shapes are declared."""
    path = light_model()
    for arguments, goal in ((["--json"], "<= 1.3"), ([], "<= 1.6")):
        ours, load = interleaved(
            partial(whole_process, ["-m", "onnxpad", "inspect", path, *arguments]),
            partial(whole_process, ["-c", LOAD.format(path=path)]),
            7,
        )
        report("G2", f"inspect {' '.join(arguments) or '(table)'} / onnx.load", ours, load, goal)


def g3(folder: Path) -> None:
    """explicit-pads against onnx.load + onnx.save, the operation alone and as a process."""
    for name, goal in (("resnet50", "<= 1.2"), ("mobilenetv2", "<= 1.5")):
        path = written(folder, name)
        ours, trip = interleaved(partial(timed, REWRITE, path), partial(timed, ROUND_TRIP, path), 9)
        report("G3", f"rewrite {name} / load+save", ours, trip, goal)
        script = {"path": path, "out": f"{path}.out"}
        ours, trip = interleaved(
            partial(whole_process, ["-c", REWRITE.format(**script)]),
            partial(whole_process, ["-c", ROUND_TRIP.format(**script)]),
            7,
        )
        report("G3", f"rewrite {name} / load+save, whole process", ours, trip, "<= 1.1")


def g5(folder: Path) -> None:
    """External data beside the model: no byte of it is read."""
    empty = median([timed(REWRITE, written(folder, "chain", 30)) for _ in range(5)])
    for size in (3, 10):
        path = folder / f"external{size}.onnx"
        networks.external(path, size)
        cost = median([timed(REWRITE, str(path)) for _ in range(5)])
        print(
            f"G5  rewrite of {size} GB external: {cost.cpu:.3f} s CPU (goal <= 0.1), "
            f"{cost.peak_mb - empty.peak_mb:+.0f} MB against a tiny model (goal <= 20)"
        )


def g7(folder: Path) -> None:
    """Growth from 1k to 100k nodes; the exponent of CPU time between neighbours."""
    for title, script in (
        ("inspect", INSPECT),
        ("explicit-pads", REWRITE),
        ("split-pads", SPLIT),
        ("absorb-pad", ABSORB),
    ):
        costs = []
        for count in (1_000, 10_000, 100_000):
            path = written(folder, "chain", count)
            if title == "absorb-pad":
                timed(SPLIT, path)
                path = f"{path}.out"
            costs.append(median([timed(script, path) for _ in range(3)]).cpu)
        steps = [math.log10(b / a) for a, b in pairwise(costs)]
        shown = ", ".join(f"{cost:.3f} s" for cost in costs)
        exponents = ", ".join(f"{step:.2f}" for step in steps)
        print(f"G7  {title} at 1k, 10k, 100k nodes: {shown}; exponents {exponents} (goal <= 1.2)")


def g8(folder: Path) -> None:
    """The chain of 100k nodes against load + save, and memory per node."""
    path = written(folder, "chain", 100_000)
    ours, trip = interleaved(partial(timed, REWRITE, path), partial(timed, ROUND_TRIP, path), 3)
    report("G8", "rewrite of 100k nodes / load+save", ours, trip, "<= 5")
    tiny = timed(REWRITE, written(folder, "chain", 30))
    per_node = (ours.peak_mb - tiny.peak_mb) * 1024 / 100_000
    print(f"G8  memory: {per_node:.1f} KB a node (goal <= 5)")


def g9(folder: Path) -> None:
    """Against onnxscript's pad rules, imports excluded."""
    if importlib.util.find_spec("onnxscript") is None:
        print("G9  left out: onnxscript is not installed")
        return
    rows = (("resnet50", 0, "<= 1"), ("mobilenetv2", 0, "<= 0.67"), ("chain", 10_000, "<= 0.1"))
    for name, count, goal in rows:
        path = written(folder, name, count)
        ours, peer = interleaved(partial(timed, REWRITE, path), partial(timed, PEER, path), 5)
        report("G9", f"rewrite {name} / onnxscript", ours, peer, goal)
        print(f"G9  peak memory: {ours.peak_mb:.0f} MB against {peer.peak_mb:.0f} MB")


GOALS: dict[str, Callable[[Path], None]] = {
    "G1": g1,
    "G2": g2,
    "G3": g3,
    "G5": g5,
    "G7": g7,
    "G8": g8,
    "G9": g9,
}


def written(folder: Path, name: str, count: int = 0) -> str:
    """The path of a generated model, made at its first use."""
    path = folder / f"{name}{count or ''}.onnx"
    if not path.exists():
        build = f"networks.{name}({count or ''})"
        script = "from pathlib import Path; from tests.benchmarks import networks\n"
        script += f"Path({str(path)!r}).write_bytes({build}.SerializeToString())"
        whole_process(["-c", script])
    return str(path)


def light_model() -> str:
    """ResNet-50 without weights from the onnx wheel."""
    spec = importlib.util.find_spec("onnx")
    folder = Path(str(spec.origin)).parent if spec else Path()
    return str(folder / "backend" / "test" / "data" / "light" / "light_resnet50.onnx")


def timed(script: str, path: str) -> Cost:
    """CPU time of a script without its imports, in a process of its own."""
    text = script.format(path=path, out=f"{path}.out")
    return whole_process(["-m", "tests.benchmarks.timed", text])


def report(goal: str, title: str, ours: Cost, theirs: Cost, wanted: str) -> None:
    """One line with both medians and their ratio."""
    print(
        f"{goal}  {title}: {ours.cpu:.3f} s / {theirs.cpu:.3f} s = "
        f"{ours.cpu / theirs.cpu:.2f} (goal {wanted})"
    )


def main() -> None:
    """Measure the goals named on the command line, or all."""
    wanted = sys.argv[1:] or list(GOALS)
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            GOALS[name](Path(folder))


if __name__ == "__main__":
    main()
