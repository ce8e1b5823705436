"""Records what onnxpad answers, and compares two records: did anything change for its users?

    python -m tools.benchmarks.answers record FILE [--tree CHECKOUT] [--every N] [--draws N]
    python -m tools.benchmarks.answers compare FILE_A FILE_B [--examples N]

`record` types each line of LINES for the models of `models/`, of ../shared (ONNXPAD_SHARED) and for
random models; --tree asks another checkout. A record is JSON Lines, a
command line and its answer a line: exit code, report, messages and the hash of the model that was
written. `compare` prints each kind of difference once and exits 1 where there is one.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

from tests.random_models.building import build
from tests.random_models.drawing import draw
from tests.random_models.kinds import KINDS

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("ONNXPAD_SHARED", ROOT.parent / "shared")).resolve()
FOLDERS = (ROOT / "models", *(SHARED / name for name in ("corpus", "probes", "public_cases")))
LINES = (
    "inspect {} --json",
    "inspect {} --target onnxruntime --target opencv --target ncnn --target tensorrt --json",
    "inspect {}",
    *(
        f"rewrite {{}} --pass {name} --json -o {{out}}"
        for name in ("explicit-pads", "split-pads", "absorb-pad", "symmetric-pads", "floor-pool")
    ),
    *(
        f"rewrite {{}} --target {name} --json -o {{out}}"
        for name in ("portable", "opencv", "openvino", "ncnn", "tflite", "webgpu", "tensorrt")
    ),
    "retarget {} --to tensorflow --json -o {out}",
    "retarget {} --to pytorch --json -o {out}",
    "retarget {} --to caffe --json -o {out}",
)
ALONE = (
    "explain --json",
    "explain SAME_UPPER",
    "resolve tensorflow conv --input 1,3,9,9 --kernel 3 --padding SAME --json",
    "resolve pytorch conv_transpose --input 1,3,9,9 --kernel 3 --stride 2 --json",
)


def models(draws: int, folder: Path) -> Iterator[Path]:
    """The stored models, and `draws` random ones of each operator written to `folder`."""
    for place in FOLDERS:
        yield from sorted(place.rglob("*.onnx"))
    for kind, seed in product(KINDS, range(draws)):
        path = folder / f"{kind.replace(' ', '-')}-{seed}.onnx"
        path.write_bytes(build(draw(kind, seed)).model.SerializeToString(deterministic=True))
        yield path


def answer(line: str, out: Path) -> dict[str, Any]:
    """What a command line prints, how it ends and what it writes."""
    entry = importlib.import_module("onnxpad.cli")
    stdout, stderr, before = StringIO(), StringIO(), sys.argv
    sys.argv = ["onnxpad", *line.split()]
    code: object = 0
    out.unlink(missing_ok=True)
    try:
        with redirect_stdout(stdout), redirect_stderr(stderr):
            entry.main()
    except SystemExit as leaving:
        code = leaving.code
    finally:
        sys.argv = before
    text = stdout.getvalue()
    report = json.loads(text) if "--json" in line and text.count("\n") == 1 else text.splitlines()
    written = hashlib.sha256(out.read_bytes()).hexdigest()[:24] if out.exists() else None
    return {
        "exit": code,
        "report": report,
        "messages": stderr.getvalue().splitlines(),
        "written": written,
    }


def record(file: Path, every: int, draws: int) -> None:
    """Type every line for every `every`-th model."""
    timed = re.compile(r'\bin \d+(\.\d+)? (s|ms|min)\b|"seconds": [\d.e-]+')
    with tempfile.TemporaryDirectory() as given, file.open("w", encoding="utf-8") as record_:
        folder = Path(given)
        out = folder / "written.onnx"
        places = {str(folder): "TEMP", str(SHARED): "SHARED", str(ROOT): "TREE"}
        lines = [*ALONE]
        for model in list(models(draws, folder))[::every]:
            lines += [line.format(model, out=out) for line in LINES]
        for line in lines:
            text = json.dumps({"line": line, "answer": answer(line, out)})
            for place, name in places.items():
                text = text.replace(place, name)
            record_.write(timed.sub("#", text) + "\n")


def differences(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Paths at which two answers differ, without indices, and what stands there."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            yield from differences(f"{path}.{name}", old.get(name), new.get(name))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for left, right in zip(old, new, strict=True):
            yield from differences(f"{path}[]", left, right)
    elif old != new:
        yield path, old, new


def compare(before: Path, after: Path, examples: int) -> int:
    """Print the differences by verb and place; 1 where there is one."""
    old, new = (
        {row["line"]: row["answer"] for row in map(json.loads, file.open(encoding="utf-8"))}
        for file in (before, after)
    )
    kinds: dict[str, list[tuple[str, Any, Any]]] = defaultdict(list)
    for line in old.keys() & new.keys():
        for path, left, right in differences(line.split()[0], old[line], new[line]):
            kinds[path].append((line, left, right))
    for path, cases in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"{path}: {len(cases)}")
        for line, left, right in cases[:examples]:
            print(f"    {line}\n      - {str(left)[:400]}\n      + {str(right)[:400]}")
    print(f"{len(old)} and {len(new)} answers, {len(kinds)} kinds of difference")
    return 1 if kinds or old.keys() != new.keys() else 0


def main() -> int:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks.answers")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("file", type=Path)
    recording.add_argument("--tree", type=Path, default=ROOT, help="the checkout that is asked")
    recording.add_argument("--every", type=int, default=1, help="take each N-th model")
    recording.add_argument("--draws", type=int, default=4, help="random models of each operator")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--examples", type=int, default=2, help="of each kind of difference")
    given = parser.parse_args()
    if given.command == "compare":
        return compare(given.before, given.after, given.examples)
    sys.path.insert(0, str(given.tree.resolve()))
    record(given.file, given.every, given.draws)
    return 0


if __name__ == "__main__":
    sys.exit(main())
