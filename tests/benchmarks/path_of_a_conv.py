"""Counts what one Conv passes on its way through onnxpad, and how the house is built.

    python -m tests.benchmarks.path_of_a_conv [--tree CHECKOUT]           the path
    python -m tests.benchmarks.path_of_a_conv house [--tree CHECKOUT]     the house

A room is an entry at the top of onnxpad/. The path is that of one command line, run in process
after one that warms up: files and functions (those with a name) that it enters, and how often the
room changes, at a call or at the return from one. The house is counted from its imports, those
inside functions and for annotations as well: an arrow is an import of another entry, a floor one
step of the longest chain of arrows, a circle a set of modules that import each other (not a package
and a module of its own).
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType

import grimp
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

Arrows = Mapping[str, set[str]]


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
    entry, before = importlib.import_module("onnxpad.__main__"), sys.argv
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


def circles(arrows: Arrows) -> list[set[str]]:
    """Sets of more than one name that reach each other."""

    @cache
    def reached(start: str) -> frozenset[str]:
        seen: set[str] = set()
        pending = [start]
        while pending:
            fresh = arrows.get(pending.pop(), set()) - seen
            seen |= fresh
            pending += fresh
        return frozenset(seen)

    found: list[set[str]] = []
    for name in arrows:
        if not any(name in circle for circle in found):
            circle = {other for other in reached(name) if name in reached(other)}
            found += [circle] if len(circle) > 1 else []
    return found


def floors(arrows: Arrows) -> int:
    """The longest chain of names, each an arrow away from the next; they must not go in circles."""

    @cache
    def floor(name: str) -> int:
        return 1 + max(map(floor, arrows.get(name, set())), default=0)

    return max(map(floor, arrows))


def print_house(package: Path) -> None:
    """The table of the house."""
    graph = grimp.build_graph("onnxpad", cache_dir=None)
    imports = {one: graph.find_modules_directly_imported_by(one) for one in graph.modules}
    entries = {one: one.split(".")[1] if "." in one else "" for one in imports}
    arrows: dict[str, set[str]] = {entry: set() for entry in entries.values()}
    for one, others in imports.items():
        arrows[entries[one]] |= {entries[other] for other in others} - {entries[one]}
    apart = {
        one: {other for other in others if not _nested(one, other)}
        for one, others in imports.items()
    }
    files = {path: _lines(path) for path in package.rglob("*.py")}
    importers = {one: graph.find_modules_that_directly_import(one) for one in imports}
    single = [one for one, by in importers.items() if len(by) == 1 and _file(package, one)]
    tests = {path: _lines(path) for path in (package.parent / "tests").rglob("*.py")}
    loose = list((package.parent / "tests").glob("*.py"))
    support = [path for path in loose if not path.name.startswith("test_")]
    between = circles(arrows)
    mean, median = statistics.mean(files.values()), statistics.median(files.values())
    for name, value in {
        "entries at the top": len(arrows.keys() - {"", "__main__"}),
        "floors": "none: there are circles" if between else floors(arrows),
        "arrows between entries": sum(map(len, arrows.values())),
        "circles between entries": len(between),
        "circles between modules": len(circles(apart)),
        "files": len(files),
        "lines": sum(files.values()),
        "mean and median length": f"{mean:.0f} and {median:.0f} (ratio {mean / median:.2f})",
        "modules with one importer": len(single),
        "their lines": sum(files[path] for one in single if (path := _file(package, one))),
        "lines of tests": sum(tests.values()),
        "loose files of tests": f"{len(loose)}, {len(support)} of them support",
    }.items():
        print(f"{name:28}{f'{value:,}' if isinstance(value, int) else value}")
    for circle in (*between, *circles(apart)):
        print(f"circle: {', '.join(sorted(circle))}")


def _nested(one: str, other: str) -> bool:
    return one.startswith(f"{other}.") or other.startswith(f"{one}.")


def _file(package: Path, module: str) -> Path | None:
    """The file of a module; None for packages."""
    path = package.parent / (module.replace(".", "/") + ".py")
    return path if path.exists() else None


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def main() -> None:
    """Print one of the two tables."""
    arguments = argparse.ArgumentParser(prog="python -m tests.benchmarks.path_of_a_conv")
    arguments.add_argument("table", nargs="?", choices=["path", "house"], default="path")
    arguments.add_argument("--tree", type=Path, default=ROOT, help="the checkout that is counted")
    given = arguments.parse_args()
    tree = given.tree.resolve()
    sys.path.insert(0, str(tree))
    {"path": print_paths, "house": print_house}[given.table](tree / "onnxpad")


if __name__ == "__main__":
    main()
