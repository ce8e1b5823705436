"""What is promised about the code as a whole: import directions, sizes, names, what is tracked."""

import ast
import os
import re
import shutil
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from tests.check import LINT_IMPORTS

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = {
    contract["id"]: contract["name"] for contract in PROJECT["tool"]["importlinter"]["contracts"]
}
PACKAGE = sorted((ROOT / "onnxpad").rglob("*.py"))
SOURCES = PACKAGE + sorted((ROOT / "tests").rglob("*.py"))

# Contract, the module that breaks it, and the files to add for that.
VIOLATIONS = [
    ("layers", "onnxpad.geometry.zz", {"geometry/zz.py": "import onnxpad.padding.forms"}),
    (
        "layers",
        "onnxpad.validation.evaluator.zz",
        {"evaluation/zz.py": "import onnxpad.rewriting.passes"},
    ),
    ("layers", "onnxpad.zz", {"zz.py": ""}),
    ("pure-core", "onnxpad.rewriting.passes.zz", {"passes/zz.py": "import onnx"}),
    ("pure-core", "onnxpad.geometry.zz", {"geometry/zz.py": "import numpy as np"}),
    (
        "pure-core",
        "onnxpad.frameworks.conventions.zz",
        {"conventions/zz.py": "import onnxpad.model"},
    ),
    (
        "onnx-in-graph",
        "onnxpad.validation.evaluator.zz",
        {"evaluation/zz.py": "import onnx_graphsurgeon"},
    ),
    (
        "onnxruntime-in-runtime",
        "onnxpad.model.zz",
        {"graph/zz.py": "def load() -> None:\n    import onnxruntime"},
    ),
    (
        "passes-apart",
        "onnxpad.rewriting.passes.zz",
        {"passes/zz.py": "import onnxpad.rewriting.passes.yy", "passes/yy.py": ""},
    ),
    (
        "conventions-apart",
        "onnxpad.frameworks.conventions.zz",
        {"conventions/zz.py": "import onnxpad.frameworks.conventions.yy", "conventions/yy.py": ""},
    ),
    (
        "targets-apart",
        "onnxpad.runtimes.targets.zz",
        {"targets/zz.py": "import onnxpad.runtimes.targets.yy", "targets/yy.py": ""},
    ),
    (
        "passes-and-targets",
        "onnxpad.rewriting.passes.zz",
        {"passes/zz.py": "import onnxpad.runtimes.targets.ncnn"},
    ),
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


@pytest.mark.parametrize(("contract", "culprit", "files"), VIOLATIONS)
def test_contract_can_fail(
    tmp_path: Path, contract: str, culprit: str, files: dict[str, str]
) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    package = shutil.copytree(ROOT / "onnxpad", tmp_path / "onnxpad")
    for name, text in files.items():
        (package / name).write_text(text, encoding="utf-8")
    result = lint_imports(tmp_path, "--contract", contract)
    assert result.returncode == 1
    assert f"{CONTRACTS[contract]} BROKEN" in result.stdout, result.stdout + result.stderr
    assert culprit in result.stdout


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
        "    if not module.name.endswith('.__main__'):\n"
        "        importlib.import_module(module.name)"
    )
    assert not loads_onnxruntime(walk)


def lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_files_are_short() -> None:
    sizes = {str(path.relative_to(ROOT)): lines(path) for path in PACKAGE}
    assert {name: size for name, size in sizes.items() if size > 300} == {}
    assert statistics.median(sizes.values()) <= 100


def test_functions_are_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}"
        for path in PACKAGE
        for function in functions(path)
        if (function.end_lineno or 0) - function.lineno + 1 > 40
    ]
    assert long == []


EMPTY_WORDS = {"base", "common", "helper", "helpers", "manager", "util", "utils"}


def words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}


def names(path: Path) -> Iterator[str]:
    """The names that a file makes: its own, its folder's, and all that are bound in it."""
    yield from path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name


def test_names_say_something() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        for name in names(path)
        if words(name) & EMPTY_WORDS
    ]
    assert found == []


@pytest.mark.parametrize("name", ["utils", "pad_helper", "PadManager", "BASE_PADS"])
def test_a_name_that_says_nothing_is_noticed(name: str) -> None:
    assert words(name) & EMPTY_WORDS


def test_nothing_below_the_command_line_prints_or_exits() -> None:
    ending = {"exit", "print", "quit"}
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in PACKAGE
        if path.relative_to(ROOT / "onnxpad").parts[0] not in {"__main__.py", "cli.py", "cli"}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Name) and node.id in {*ending, "SystemExit"})
        or (isinstance(node, ast.Attribute) and ast.unparse(node) in {"sys.exit", "os._exit"})
    ]
    assert found == []


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
    requirements = map(Requirement, PROJECT["project"]["dependencies"])
    chosen = [
        requirement.name
        for requirement in requirements
        if requirement.name.startswith("onnxruntime")
        and (requirement.marker is None or requirement.marker.evaluate(environment))
    ]
    assert chosen == [expected]
