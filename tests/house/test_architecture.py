"""What is promised about the code as a whole: import directions, rooms, names, what is tracked."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple

import grimp
import pytest
from packaging.requirements import Requirement

from tests.check import LINT_IMPORTS

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = {
    contract["id"]: contract["name"] for contract in PROJECT["tool"]["importlinter"]["contracts"]
}
PACKAGE = sorted((ROOT / "onnxpad").rglob("*.py"))
SOURCES = PACKAGE + sorted((ROOT / "tests").rglob("*.py"))

# Contract, and a module that breaks it; the others are there for that.
VIOLATIONS = [
    ("floors", "onnxpad.geometry.high", "import onnxpad.padding.forms"),
    ("floors", "onnxpad.probing.high", "import onnxpad.rewriting.passes"),
    ("floors-of-reading", "onnxpad.model.graph.reader", "import onnxpad.model.shapes.dimensions"),
    ("floors-of-reading", "onnxpad.model.shapes.reader", "import onnxpad.model.reading.pads"),
    ("integrations-outside", "onnxpad.integrations.inside", "import onnxpad.padding.forms"),
    ("integrations-apart", "onnxpad.integrations.sibling", "import onnxpad.integrations.inside"),
    ("pure-core", "onnxpad.rewriting.passes.impure", "import onnx"),
    ("pure-core", "onnxpad.geometry.impure", "import numpy as np"),
    ("pure-core", "onnxpad.frameworks.conventions.impure", "import onnxpad.model"),
    ("onnx-in-model", "onnxpad.probing.surgeon", "import onnx_graphsurgeon"),
    (
        "onnxruntime-in-sessions",
        "onnxpad.model.runs",
        "def load() -> None:\n    import onnxruntime",
    ),
    ("passes-apart", "onnxpad.rewriting.passes.sibling", "import onnxpad.rewriting.passes.impure"),
    (
        "passes-and-runtimes",
        "onnxpad.rewriting.passes.aiming",
        "import onnxpad.runtimes.targets",
    ),
    ("proof-alone", "onnxpad.proof.leaning", "import onnxpad.geometry.windows"),
]


def lint_imports(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINT_IMPORTS, "--no-cache", "--no-logo", *options],
        cwd=folder,
        env=os.environ | {"COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_contracts_hold() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_contract_has_a_violation() -> None:
    assert {contract for contract, _, _ in VIOLATIONS} == CONTRACTS.keys()


def broken(folder: Path, modules: Mapping[str, str], *options: str) -> str:
    """What lint-imports says of the package with further modules in it."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(ROOT / "onnxpad", folder / "onnxpad")
    for name, text in modules.items():
        (folder / name.replace(".", "/")).with_suffix(".py").write_text(text, encoding="utf-8")
    result = lint_imports(folder, *options)
    assert result.returncode == 1
    return result.stdout + result.stderr


def test_every_contract_can_fail(tmp_path: Path) -> None:
    said = broken(tmp_path, {module: text for _, module, text in VIOLATIONS})
    for contract, culprit, _ in VIOLATIONS:
        name = CONTRACTS[contract]
        assert f"{name} BROKEN" in said, said
        assert culprit in said.partition("Broken contracts")[2].partition(f"\n{name}\n")[2], said


def test_a_module_without_a_layer_breaks_the_contract(tmp_path: Path) -> None:
    said = broken(tmp_path, {"onnxpad.loose": ""}, "--contract", "floors")
    assert f"{CONTRACTS['floors']} BROKEN" in said
    assert "onnxpad.loose" in said


def loads_onnxruntime(statement: str) -> bool:
    """Whether a fresh interpreter holds onnxruntime after `statement`."""
    code = f"import sys\n{statement}\nprint('onnxruntime' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return result.stdout.strip() == "True"


def test_loading_onnxruntime_would_be_noticed() -> None:
    assert loads_onnxruntime("import onnxruntime")


def test_public_api_does_not_load_onnxruntime() -> None:
    assert not loads_onnxruntime(
        "import onnxpad; onnxpad.inspect, onnxpad.rewrite, onnxpad.validate"
    )


def test_no_module_loads_onnxruntime() -> None:
    walk = (
        "import importlib, pkgutil, onnxpad\n"
        "for module in pkgutil.walk_packages(onnxpad.__path__, 'onnxpad.'):\n"
        "    if not module.name.endswith('.__main__') and '.integrations.' not in module.name:\n"
        "        importlib.import_module(module.name)"
    )
    assert not loads_onnxruntime(walk)


# The entries at the top of onnxpad/ (DESIGN.md section 3), the highest floor first.
FLOORS = {
    7: {"__init__", "__main__", "cli", "integrations"},
    6: {"batch", "show"},
    5: {"inspection", "explaining", "diagnosis", "guarding", "porting", "reproducing"}
    | {"measuring"},
    4: {"rewriting", "retargeting", "validation", "resolving"},
    3.5: {"probing"},
    3: {"runtimes", "frameworks", "model", "proof"},
    2: {"padding", "sessions"},
    1: {"geometry", "processes", "plugins", "reports", "verbs", "errors"},
}
FLOOR = {entry: floor for floor, entries in FLOORS.items() for entry in entries}
APART = {3, 4}
"""Floors whose rooms do not import each other."""

Arrows = Mapping[str, set[str]]


@cache
def arrows() -> Arrows:
    """Which modules each module imports, inside functions as well."""
    graph = grimp.build_graph("onnxpad", cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def entry(module: str) -> str:
    """The entry at the top of onnxpad/ that a module belongs to; the package itself is one."""
    return module.split(".")[1] if "." in module else "__init__"


def between_entries(modules: Arrows) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for module, imported in modules.items():
        found.setdefault(entry(module), set()).update(map(entry, imported))
    return {name: imported - {name} for name, imported in found.items()}


def circle(imports: Arrows) -> list[str]:
    """A way from a module over its imports back to itself; empty where there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def upward(entries: Arrows) -> list[str]:
    """Imports that do not go down."""
    return [
        f"{importer} imports {imported}"
        for importer, imports in entries.items()
        for imported in imports
        if FLOOR[imported] > FLOOR[importer]
        or (FLOOR[imported] == FLOOR[importer] and FLOOR[importer] in APART)
    ]


def test_no_circle_between_entries() -> None:
    assert circle(between_entries(arrows())) == []


def test_no_circle_between_modules() -> None:
    assert circle(arrows()) == []


def test_the_entries_are_those_of_the_house() -> None:
    """No loose module beside them, and no room that nobody planned."""
    there = {
        path.stem
        for path in (ROOT / "onnxpad").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert there - FLOOR.keys() == set()


def test_imports_go_down_the_floors() -> None:
    assert upward(between_entries(arrows())) == []


def test_circles_and_imports_upwards_are_noticed() -> None:
    modules = {"onnxpad.geometry.cuts": {"onnxpad.padding.chain"}, "onnxpad.padding.chain": set()}
    assert circle(between_entries(modules)) == []
    assert upward(between_entries(modules)) == ["geometry imports padding"]
    modules = {"onnxpad.model.files": {"onnxpad.proof.field"}, "onnxpad.proof": {"onnxpad.model.a"}}
    assert set(circle(between_entries(modules))) == {"model", "proof"}
    assert circle(modules) == []
    assert set(upward(between_entries(modules))) == {"model imports proof", "proof imports model"}
    assert upward({"__main__": {"cli"}, "reports": {"errors"}, "cli": {"padding"}}) == []


class Facts(NamedTuple):
    """What the tests ask of a file: trees of all files, if kept, would slow every collection."""

    long: list[str]
    names: frozenset[str]
    other_padding: list[int]
    endings: list[int]


@cache
def facts(path: Path) -> Facts:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    return Facts(
        list(long_functions(nodes)),
        frozenset(names(nodes)),
        list(other_padding(nodes)),
        list(endings(nodes)),
    )


def long_functions(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                told = len((ast.get_docstring(node, clean=False) or "").splitlines())
                if (node.end_lineno or 0) - node.lineno + 1 - told > 60:  # of code
                    yield f"{node.lineno} {node.name}"


@pytest.mark.sweep
def test_functions_are_short() -> None:
    long = [f"{path.relative_to(ROOT)}:{one}" for path in PACKAGE for one in facts(path).long]
    assert long == []


def test_a_long_function_is_noticed() -> None:
    line = "    pass\n"
    text = "def short():\n" + 59 * line + "async def long():\n" + 60 * line
    assert list(long_functions(ast.walk(ast.parse(text)))) == ["61 long"]


def other_padding(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Lines that give a chain other padding, or another reading, past `Chain.with_padding`."""
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="replace"), keywords=keywords):
                if {"padding", "read_as"}.intersection(one.arg or "" for one in keywords):
                    yield node.lineno


def test_new_padding_forgets_what_the_user_preferred() -> None:
    """A node that says auto_pad and pads would keep both, and runtimes read the wrong one."""
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for room in ("rewriting", "retargeting", "diagnosis")
        for path in sorted((ROOT / "onnxpad" / room).rglob("*.py"))
        for line in facts(path).other_padding
    ]
    # What a target is asked about is no rewrite: the sizes that the user knows, and it does not.
    assert [one.partition(":")[0] for one in found] == ["onnxpad/rewriting/for_target/judge.py"]


def test_padding_past_its_one_way_is_noticed() -> None:
    text = "x = replace(chain, padding=pads)\ny = replace(chain.with_padding(pads), axes=axes)"
    assert list(other_padding(ast.walk(ast.parse(text)))) == [1]


EMPTY_WORDS = {"base", "common", "helper", "helpers", "manager", "util", "utils"}


@cache
def words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name))


def names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names that are bound in a file."""
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name


@pytest.mark.sweep
def test_names_say_something() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        for name in (*path.relative_to(ROOT).with_suffix("").parts, *facts(path).names)
        if words(name) & EMPTY_WORDS
    ]
    assert found == []


@pytest.mark.parametrize("name", ["utils", "pad_helper", "PadManager", "BASE_PADS"])
def test_a_name_that_says_nothing_is_noticed(name: str) -> None:
    assert words(name) & EMPTY_WORDS


def endings(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Lines that print, or that end the process."""
    names = {"exit", "print", "quit", "SystemExit"}
    nodes = list(nodes)
    handled = {one.type for one in nodes if isinstance(one, ast.ExceptHandler) and one.type}
    caught = {name for one in handled for name in ast.walk(one)}
    for node in nodes:
        match node:
            case ast.Name(id=name) if name in names and node not in caught:
                yield node.lineno
            case ast.Attribute(attr="exit" | "_exit") if ast.unparse(node) in {
                "sys.exit",
                "os._exit",
            }:
                yield node.lineno


def test_nothing_below_the_command_line_prints_or_exits() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in PACKAGE
        if path.relative_to(ROOT / "onnxpad").parts[0] not in {"__main__.py", "cli.py", "cli"}
        and path.name != "serving.py"  # a program of its own, in the runtime's Python
        for line in facts(path).endings
    ]
    assert found == []


def test_what_prints_or_exits_is_noticed() -> None:
    text = "print(1)\nsys.exit(2)\nraise SystemExit\nprinted(sys.exit_code)\nos._exit(3)"
    handled = "\ntry:\n    print(6)\nexcept (OSError, SystemExit):\n    pass"
    assert sorted(endings(ast.walk(ast.parse(text + handled)))) == [1, 2, 3, 5, 7]


MACHINE_PATH = rb"(?<![\w.])/(?:tmp|home|root|Users|work|opt|src)/[a-z]|[A-Z]:\\+Users\\"
REGISTRY_HOST = rb"pypi\.org|pythonhosted\.org|registry\.npmjs\.|deb\.debian\.org"
FOREIGN = re.compile(MACHINE_PATH + rb"|" + REGISTRY_HOST)


def tracked() -> list[Path]:
    """The files that git tracks or would add."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so there is no list of tracked files")
    listing = subprocess.run(
        [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for name in listing.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_machine_path_or_registry_host_is_tracked() -> None:
    found = {str(path.relative_to(ROOT)): FOREIGN.findall(path.read_bytes()) for path in tracked()}
    assert {name: matches for name, matches in found.items() if matches} == {}


@pytest.mark.parametrize("parts", [("see /", "home/a/model.onnx"), ("https://pypi", ".org/simple")])
def test_a_machine_path_or_registry_host_is_noticed(parts: tuple[str, str]) -> None:
    assert FOREIGN.search("".join(parts).encode())


def test_nothing_overwrites_the_runtime_that_is_there() -> None:
    assert not [one for one in PROJECT["project"]["dependencies"] if "onnxruntime" in one]


@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [
        ("linux", "x86_64", "onnxruntime-gpu"),
        ("linux", "aarch64", "onnxruntime-gpu"),
        ("linux", "riscv64", "onnxruntime"),
        ("win32", "AMD64", "onnxruntime-gpu"),
        ("win32", "ARM64", "onnxruntime"),
        ("darwin", "arm64", "onnxruntime"),
        ("darwin", "x86_64", "onnxruntime"),
    ],
)
def test_every_platform_gets_one_onnxruntime(system: str, machine: str, expected: str) -> None:
    environment = {"sys_platform": system, "platform_machine": machine}
    requirements = map(Requirement, PROJECT["project"]["optional-dependencies"]["gpu"])
    chosen = [
        requirement.name
        for requirement in requirements
        if requirement.name.startswith("onnxruntime")
        and (requirement.marker is None or requirement.marker.evaluate(environment))
    ]
    assert chosen == [expected]
