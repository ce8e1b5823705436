"""Counts what one Conv passes on its way through onnxpad.

    python -m tools.benchmarks.path_of_a_conv [--tree CHECKOUT]

A room is an entry at the top of onnxpad/. The path is that of one command line, run in process
after one that warms up: files and functions (those with a name) that it enters, and how often the
room changes, at a call or at the return from one.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType

from onnx import parser, save

ROOT = Path(__file__).resolve().parents[2]
HEAD = '<ir_version: 8, opset_import: ["": 17]> net (float[1,1,8,8] x) => (float[n,c,h,w] y)'
WEIGHT = "<float[1,1,3,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}>"
SAME = 'auto_pad = "SAME_UPPER", strides = [2, 2]'
CONV = f"{HEAD} {WEIGHT} {{ [conv] y = Conv <{SAME}> (x, w) }}"
TWO = (
    f"{HEAD} {WEIGHT} {{ [conv] c = Conv <{SAME}> (x, w)"
    f" [pool] y = MaxPool <{SAME}, kernel_shape = [3, 3]> (c) }}"
)
JOURNEYS = {
    "rewrite --pass explicit-pads, Conv": (CONV, "rewrite {0} --pass explicit-pads -o {1}"),
    "inspect, Conv": (CONV, "inspect {0}"),
    "rewrite --target ncnn, Conv + MaxPool": (TWO, "rewrite {0} --target ncnn -o {1}"),
}


class Journey:
    """Follows the calls within a package: files, functions, and changes of room."""

    def __init__(self, package: Path) -> None:
        self._package = f"{package}/"
        self._room = ""
        self.files: set[str] = set()
        self.functions: set[CodeType] = set()
        self.changes = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """A profiler's event."""
        code = frame.f_code
        if event not in {"call", "return"} or not code.co_filename.startswith(self._package):
            return
        room = code.co_filename.removeprefix(self._package).split("/")[0]
        self.changes += room != self._room
        self._room = room
        self.files.add(code.co_filename)
        if not code.co_name.startswith("<"):
            self.functions.add(code)


def path_of(package: Path, journey: Callable[[], object]) -> Journey:
    """What a journey passes when it is made for the second time."""
    journey()
    path = Journey(package)
    sys.setprofile(path)
    try:
        journey()
    finally:
        sys.setprofile(None)
    return path


def command(words: Iterable[str]) -> None:
    """Run a command line in this process, without its text."""
    entry, before = importlib.import_module("onnxpad.cli"), sys.argv
    sys.argv = ["onnxpad", *words]
    try:
        with redirect_stdout(StringIO()):
            entry.main()
    except SystemExit as leaving:
        if leaving.code:
            raise
    finally:
        sys.argv = before


def print_paths(package: Path) -> None:
    """The table of the path."""
    print(f"{'':40}{'files':>8}{'functions':>11}{'changes of room':>17}")
    with tempfile.TemporaryDirectory() as folder:
        model, out = Path(folder, "model.onnx"), Path(folder, "out.onnx")
        for title, (text, line) in JOURNEYS.items():
            save(parser.parse_model(text), model)
            words = line.format(model, out).split()
            path = path_of(package, lambda words=words: command(words))  # type: ignore[misc]
            print(f"{title:40}{len(path.files):8}{len(path.functions):11}{path.changes:17,}")


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(prog="python -m tools.benchmarks.path_of_a_conv")
    arguments.add_argument("--tree", type=Path, default=ROOT, help="the checkout that is counted")
    given = arguments.parse_args()
    tree = given.tree.resolve()
    sys.path.insert(0, str(tree))
    print_paths(tree / "onnxpad")


if __name__ == "__main__":
    main()
