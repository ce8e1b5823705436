"""Every reason to leave a node alone is asserted by a test of this folder, or one above it."""

import ast
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grimp
import pytest

from onnxpad.rewriting import passes

TESTS = Path(__file__).resolve().parents[2]


def modules_that_skip() -> Iterator[Path]:
    """Passes, and what they import that gives reasons to skip."""
    graph = grimp.build_graph("onnxpad", cache_dir=None)
    below = graph.find_upstream_modules(passes.__name__, as_package=True)
    for name in sorted({*graph.find_descendants(passes.__name__), *below}):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin and reasons(Path(spec.origin).read_text("utf-8")):
            yield Path(spec.origin)


FEWEST_LETTERS = 10
"""A shorter text in a test says too little to be taken for a reason."""


def skips(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """First arguments of Skip in a function; names are replaced by what they were given."""
    given = {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "Skip"
        ):
            moot = any(keyword.arg == "moot" for keyword in node.keywords)
            if not moot and node.args:
                first = node.args[0]
                yield given.get(first.id, first) if isinstance(first, ast.Name) else first


def fixed_part(reason: ast.expr) -> str:
    """The longest piece of the text that is always the same; empty where another module made it."""
    pieces = [one.value for one in ast.walk(reason) if isinstance(one, ast.Constant)]
    return max((piece.strip() for piece in pieces if isinstance(piece, str)), key=len, default="")


def reasons(source: str) -> list[str]:
    functions = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.FunctionDef)]
    found = [fixed_part(reason) for function in functions for reason in skips(function)]
    return sorted({part for part in found if part})


@cache
def texts_of_tests() -> tuple[frozenset[str], ...]:
    """All texts of each test file but this one."""
    found = []
    for path in TESTS.rglob("test_*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        texts = (node.value for node in nodes if isinstance(node, ast.Constant))
        if path != Path(__file__):
            found.append(frozenset(text for text in texts if isinstance(text, str)))
    return tuple(found)


def said_about(source: Path) -> frozenset[str]:
    """The texts of the tests that name the pass; of all tests where the file is no pass."""
    name = source.stem.replace("_", "-")
    about = [texts for texts in texts_of_tests() if name in texts or source.parent.name != "passes"]
    return frozenset[str]().union(*about)


def asserted(reason: str, texts: frozenset[str]) -> bool:
    """Whether a text holds the reason, or enough of it with what stands before or behind it."""
    least = min(FEWEST_LETTERS, len(reason))
    return any(reason in text or _shares(reason, text.strip(), least) for text in texts)


def _shares(reason: str, text: str, least: int) -> bool:
    if len(text) < least:
        return False
    if text in reason:
        return True
    lengths = range(least, len(text))
    return any(reason.startswith(text[-n:]) or reason.endswith(text[:n]) for n in lengths)


@pytest.mark.parametrize("source", list(modules_that_skip()), ids=lambda path: path.stem)
def test_every_reason_is_asserted(source: Path) -> None:
    found = reasons(source.read_text())
    missing = [reason for reason in found if not asserted(reason, said_about(source))]
    assert not missing, f"no test asserts these reasons of {source.name}: {missing}"


MADE_UP = """
def rewrite(chain):
    if chain.pad:
        return Skip("nothing to do", moot=True)
    why = f"{chain} is too large to be moved"
    return Skip(why) if chain else Skip(f"{chain} holds what is never said by {chain} at all")
"""


def test_a_reason_that_no_test_asserts_is_seen() -> None:
    found = reasons(MADE_UP)
    assert found == ["holds what is never said by", "is too large to be moved"]
    assert asserted(found[1], frozenset({"axis 2 is too large to be moved"}))
    assert asserted(found[1], frozenset({"too large to"}))
    assert asserted(found[1], frozenset({"the axis [2, 0] is too large to be"}))
    assert not asserted(found[1], frozenset({"too large", "it is large, to be moved elsewhere"}))
