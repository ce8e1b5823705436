"""What is promised about the code as a whole: import directions, rooms, names, what is tracked."""

import ast
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple

import grimp
import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_no_module_imports_itself_over_others() -> None:
    graph = grimp.build_graph("onnxpad", cache_dir=None)
    TopologicalSorter(
        {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    ).prepare()


EMPTY_WORDS = {"base", "common", "helper", "helpers", "manager", "util", "utils"}


def is_empty(name: str) -> bool:
    return not EMPTY_WORDS.isdisjoint(map(str.lower, re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)))


def binds_an_empty_name(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return is_empty(name)
        case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
            return is_empty(name)
    return False


def is_a_long_function(node: ast.AST) -> bool:
    """Whether more than 60 lines stand behind the docstring."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    told = ast.get_docstring(node) is not None
    return len(node.body) > told and (node.end_lineno or 0) - node.body[told].lineno >= 60


def gives_padding_past_its_one_way(node: ast.AST) -> bool:
    """Without `Chain.with_padding` a node that says auto_pad and pads would keep both."""
    match node:
        case ast.Call(func=ast.Name(id="replace"), keywords=keywords):
            return any(one.arg == "padding" for one in keywords)
    return False


def prints_or_exits(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="exit" | "print" | "quit")):
            return True
        case ast.Raise(exc=ast.Name(id="SystemExit") | ast.Call(func=ast.Name(id="SystemExit"))):
            return True
        case ast.Attribute(value=ast.Name(id="sys"), attr="exit"):
            return True
        case ast.Attribute(value=ast.Name(id="os"), attr="_exit"):
            return True
    return False


class Rule(NamedTuple):
    """What no file below `places` has but those that `allowed` matches; each `sample` has it."""

    breaks: Callable[[ast.AST], bool]
    places: tuple[str, ...]
    allowed: str
    samples: tuple[str, ...]


RULES = [
    Rule(
        binds_an_empty_name,
        ("onnxpad", "tests"),
        "$^",
        ("def pad_helper(): ...", "class PadManager: ...", "BASE_PADS = 1", "lambda utils: 1"),
    ),
    Rule(
        is_a_long_function,
        ("onnxpad",),
        "$^",
        ("def long():\n" + 61 * "    pass\n", "async def long():\n" + 61 * "    pass\n"),
    ),
    Rule(
        gives_padding_past_its_one_way,
        ("onnxpad/rewriting", "onnxpad/retargeting", "onnxpad/diagnosis"),
        "$^",
        ("replace(chain, padding=pads)",),
    ),
    Rule(
        prints_or_exits,
        ("onnxpad",),
        # `serving` is a program of its own, in the runtime's Python.
        "onnxpad/(__main__|cli/.*|.*/serving).py",
        ("print(1)", "sys.exit(2)", "raise SystemExit", "raise SystemExit(2)", "os._exit(3)"),
    ),
]


@pytest.mark.part(2)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.breaks.__name__)
def test_rules_of_the_house(rule: Rule) -> None:
    for text in rule.samples:
        assert any(map(rule.breaks, ast.walk(ast.parse(text)))), text
    for path in (path for place in rule.places for path in (ROOT / place).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not re.search(rule.allowed, name):
            nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            assert [getattr(node, "lineno", 0) for node in nodes if rule.breaks(node)] == [], name
            assert not any(map(is_empty, Path(name).with_suffix("").parts)), name


MACHINE_PATH = rb"(?<![\w.])/(?:tmp|home|root|Users|work|opt|src)/[a-z]|[A-Z]:\\+Users\\"
REGISTRY_HOST = rb"pypi\.org|pythonhosted\.org|registry\.npmjs\.|deb\.debian\.org"
FOREIGN = re.compile(MACHINE_PATH + rb"|" + REGISTRY_HOST)


def test_no_machine_path_or_registry_host_is_tracked() -> None:
    for parts in (("see /", "home/a/model.onnx"), ("https://pypi", ".org/simple")):
        assert FOREIGN.search("".join(parts).encode())
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
    for path in (ROOT / name for name in listing.stdout.split("\0") if name):
        assert not path.is_file() or FOREIGN.findall(path.read_bytes()) == [], path


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
    """And none overwrites the one that is there, where nobody asks for it."""
    assert not [one for one in PROJECT["project"]["dependencies"] if "onnxruntime" in one]
    environment = {"sys_platform": system, "platform_machine": machine}
    requirements = map(Requirement, PROJECT["project"]["optional-dependencies"]["gpu"])
    chosen = [
        requirement.name
        for requirement in requirements
        if requirement.name.startswith("onnxruntime")
        and (requirement.marker is None or requirement.marker.evaluate(environment))
    ]
    assert chosen == [expected]
