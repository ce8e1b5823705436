"""Measures the performance goals as ratios of CPU time within one run.

    python -m tools.benchmarks.measure            all goals
    python -m tools.benchmarks.measure G3 P1      some of them

Each ratio is the median of interleaved runs of both sides. Nothing here passes or fails: the
figures depend on the machine, their ratios much less. G9 needs onnxscript, P4 and P5
onnxruntime; each is left out without it.
"""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

from tools.benchmarks import networks
from tools.benchmarks.processes import (
    ROOT,
    Cost,
    interleaved,
    median,
    whole_process,
    whole_tree,
)

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
LOADED = "from tools.benchmarks.loaded import inspect, rewrite; "
INSPECT_LOADED = LOADED + "inspect({path!r})"
INSPECT_NCNN = LOADED + "inspect({path!r}, target='ncnn')"
REWRITE_PORTABLE = LOADED + (
    "rewrite({path!r}, target='portable').save({out!r}, although_unfit=True)"
)
REWRITE_LOADED = LOADED + "rewrite({path!r}).save({out!r})"
SPLIT_THEN_ABSORB = LOADED + (
    "rewrite({path!r}, passes=['split-pads']).save({out!r}); "
    "rewrite({out!r}, passes=['absorb-pad']).save({out!r} + '2')"
)
SESSIONS = """
import numpy as np, onnxruntime
models = [onnxruntime.InferenceSession(path) for path in ({path!r}, {out!r})]
for seed in range(3):
    x = np.random.default_rng(seed).standard_normal((1, 3, 224, 224), np.float32)
    [model.run(None, {{"x": x}}) for model in models]
"""
VALIDATE = "from onnxpad import validate; assert validate({path!r}, {out!r}, device='cpu').ok"
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
    for arguments, goal in ((["--json"], "<= 1.3"), ([], "<= 1.5")):
        ours, load = interleaved(
            partial(whole_process, ["-m", "onnxpad", "inspect", path, *arguments]),
            partial(whole_process, ["-c", LOAD.format(path=path)]),
            7,
        )
        report("G2", f"inspect {' '.join(arguments) or '(table)'} / onnx.load", ours, load, goal)


def g3(folder: Path) -> None:
    """explicit-pads against onnx.load + onnx.save, the operation alone and as a command."""
    for name, goal, whole in (
        ("resnet50", "<= 0.3", "<= 0.9"),
        ("mobilenetv2", "<= 0.6", "<= 1.1"),
    ):
        path = written(folder, name)
        ours, trip = interleaved(
            partial(timed, REWRITE_LOADED, path), partial(timed, ROUND_TRIP, path), 9
        )
        report("G3", f"rewrite {name} / load+save", ours, trip, goal)
        out = f"{path}.out"
        ours, trip = interleaved(
            partial(whole_process, ["-m", "onnxpad", "rewrite", path, "-o", out]),
            partial(whole_process, ["-c", ROUND_TRIP.format(path=path, out=out)]),
            7,
        )
        report("G3", f"onnxpad rewrite {name} / load+save, whole process", ours, trip, whole)


def g5(folder: Path) -> None:
    """External data beside the model: no byte of it is read."""
    empty = median([timed(REWRITE, written(folder, "chain", 30)) for _ in range(5)])
    for size in (3, 10):
        path = folder / f"external{size}.onnx"
        networks.external(path, size)
        cost = median([timed(REWRITE, str(path)) for _ in range(5)])
        tell("G5", f"rewrite of {size} GB external, s CPU", f"{cost.cpu:.3f}", "<= 0.1")
        more = f"{cost.peak_mb - empty.peak_mb:+.0f}"
        tell("G5", f"rewrite of {size} GB external, MB above a tiny model", more, "<= 20")


def g7(folder: Path) -> None:
    """Growth with the nodes, by factors of ten; the exponent of CPU time between neighbours.

    In a chain up to 100k nodes; up to 10k with one weight for all, with as many inputs of the
    graph, and with as many Ifs.
    """
    for name, counts in (
        ("chain", (1_000, 10_000, 100_000)),
        ("shared", (1_000, 10_000)),
        ("inputs", (1_000, 10_000)),
        ("ifs", (1_000, 10_000)),
    ):
        for title, script in (
            ("inspect", INSPECT),
            ("explicit-pads", REWRITE),
            ("split-pads", SPLIT),
            ("absorb-pad", ABSORB),
        ):
            costs = [_growing(folder, name, count, script).cpu for count in counts]
            steps = [math.log10(b / a) for a, b in pairwise(costs)]
            shown = ", ".join(f"{cost:.3f} s" for cost in costs)
            exponents = ", ".join(f"{step:.2f}" for step in steps)
            tell("G7", f"{title}, {name} of 1k, 10k ... nodes ({shown})", exponents, "<= 1.2")


def _growing(folder: Path, name: str, count: int, script: str) -> Cost:
    path = written(folder, name, count)
    if script is ABSORB:
        timed(SPLIT, path)
        path = f"{path}.out"
    return median([timed(script, path) for _ in range(3)])


def g8(folder: Path) -> None:
    """The chain of 100k nodes against load + save, and memory per node."""
    path = written(folder, "chain", 100_000)
    ours, trip = interleaved(partial(timed, REWRITE, path), partial(timed, ROUND_TRIP, path), 3)
    report("G8", "rewrite of 100k nodes / load+save", ours, trip, "<= 5")
    tiny = timed(REWRITE, written(folder, "chain", 30))
    per_node = (ours.peak_mb - tiny.peak_mb) * 1024 / 100_000
    tell("G8", "memory, KB a node", f"{per_node:.1f}", "<= 5")


def g9(folder: Path) -> None:
    """Against onnxscript's pad rules, imports excluded."""
    if importlib.util.find_spec("onnxscript") is None:
        print("G9  left out: onnxscript is not installed")
        return
    rows = (("resnet50", 0, "<= 0.25"), ("mobilenetv2", 0, "<= 0.33"), ("chain", 10_000, "<= 0.1"))
    for name, count, goal in rows:
        path = written(folder, name, count)
        ours, peer = interleaved(
            partial(timed, REWRITE_LOADED, path), partial(timed, PEER, path), 5
        )
        report("G9", f"rewrite {name} / onnxscript", ours, peer, goal)
        memory = f"{ours.peak_mb / peer.peak_mb:.2f}"
        tell("G9", f"rewrite {name} / onnxscript, peak memory", memory, "<= 1")


def p1(folder: Path) -> None:
    """A target that says the same of every node, against inspect without one."""
    path = written(folder, "resnet34")
    ours, plain = interleaved(
        partial(timed, INSPECT_NCNN, path), partial(timed, INSPECT_LOADED, path), 7
    )
    report("P1", "inspect --target ncnn / inspect, ResNet-34 of open batch", ours, plain, "<= 3")


def p2(folder: Path) -> None:
    """A search for a target, sizes fixed and open, against load + save."""
    for name in ("squeezenet", "open_squeezenet"):
        path = written(folder, name)
        ours, trip = interleaved(
            partial(timed, REWRITE_PORTABLE, path), partial(timed, ROUND_TRIP, path), 5
        )
        report("P2", f"rewrite --target portable {name} / load+save", ours, trip, "<= 20 or 0.5 s")


def p3(folder: Path) -> None:
    """A network whose pads the graph computes, against load + save."""
    path = written(folder, "computed_pads")
    for title, script, goal in (
        ("inspect", INSPECT_LOADED, "<= 3"),
        ("split-pads, then absorb-pad", SPLIT_THEN_ABSORB, "<= 8"),
    ):
        ours, trip = interleaved(partial(timed, script, path), partial(timed, ROUND_TRIP, path), 5)
        report("P3", f"{title} of 81 computed Pads / load+save", ours, trip, goal)


def p4(folder: Path) -> None:
    """validate of a rewritten ResNet-50 against two sessions of onnxruntime with three samples."""
    if importlib.util.find_spec("onnxruntime") is None:
        print("P4  left out: onnxruntime is not installed")
        return
    path = written(folder, "resnet50")
    timed(REWRITE, path)
    scripts = [text.format(path=path, out=f"{path}.out") for text in (VALIDATE, SESSIONS)]
    validate, sessions = (partial(whole_tree, ["-c", script]) for script in scripts)
    ours, theirs = interleaved(validate, sessions, 3)
    report("P4", "validate of ResNet-50 / two sessions", ours, theirs, "<= 4")
    memory = f"{ours.peak_mb / theirs.peak_mb:.2f}"
    told = f"{ours.peak_mb:.0f} MB / {theirs.peak_mb:.0f} MB"
    tell("P4", f"validate of ResNet-50 / two sessions, peak memory ({told})", memory, "<= 1.5")


def p5(folder: Path) -> None:
    """Latency of what passes write for SAME, against explicit pads."""
    if importlib.util.find_spec("onnxruntime") is None:
        print("P5  left out: onnxruntime is not installed")
        return
    path = written(folder, "resnet50")
    for rule in ("split-pads", "symmetric-pads", "symmetric-pads-by-slice"):
        tell("P5", f"latency of {rule} / explicit-pads", latency(path, rule), "<= 1.05")
    rule = "symmetric-pads-by-kernel"
    tell("P5", f"latency of {rule} / explicit-pads", latency(path, rule), "<= 1.2")


def latency(path: str, rule: str) -> str:
    """The ratio that a process of its own finds."""
    command = [sys.executable, "-m", "tools.benchmarks.latency", path, rule]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return f"{float(found.stdout.split()[-1]):.3f}"


GOALS: dict[str, Callable[[Path], None]] = {
    "G1": g1,
    "G2": g2,
    "G3": g3,
    "G5": g5,
    "G7": g7,
    "G8": g8,
    "G9": g9,
    "P1": p1,
    "P2": p2,
    "P3": p3,
    "P4": p4,
    "P5": p5,
}


def written(folder: Path, name: str, count: int = 0) -> str:
    """The path of a generated model, made at its first use."""
    path = folder / f"{name}{count or ''}.onnx"
    if not path.exists():
        build = f"networks.{name}({count or ''})"
        script = "from pathlib import Path; from tools.benchmarks import networks\n"
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
    return whole_process(["-m", "tools.benchmarks.timed", text])


def report(goal: str, title: str, ours: Cost, theirs: Cost, wanted: str) -> None:
    """One row with both medians and their ratio."""
    told = f"{title} ({ours.cpu:.3f} s / {theirs.cpu:.3f} s)"
    tell(goal, told, f"{ours.cpu / theirs.cpu:.2f}", wanted)


def tell(goal: str, title: str, measured: str, wanted: str) -> None:
    """One row of the table."""
    print(f"| {goal} | {title} | {measured} | {wanted} |", flush=True)


def main() -> None:
    """Measure the goals named on the command line, or all."""
    wanted = sys.argv[1:] or list(GOALS)
    print("| goal | what | measured | wanted |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            GOALS[name](Path(folder))


if __name__ == "__main__":
    main()
