"""The 70 tricky cases of padding have numbers; none is forgotten.

A test says its number in its name (`test_row_07_...`), in the id of a parameter (`row 7: ...`) or
in a key of a table of cases.
"""

import ast
import re
from pathlib import Path

import pytest

NUMBER = re.compile(r"(?:^|_)row[_ ](\d+)(?!\d)")


def numbers_in(source: str) -> set[int]:
    """Numbers in names of tests and in ids of their parameters."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        names = [node.name] if isinstance(node, ast.FunctionDef) else []
        keyed: list[ast.AST | None] = [*node.keys] if isinstance(node, ast.Dict) else []
        if isinstance(node, ast.keyword) and node.arg in ("id", "ids"):
            keyed = list(ast.walk(node.value))
        texts = [one.value for one in keyed if isinstance(one, ast.Constant)]
        names += [text for text in texts if isinstance(text, str)]
        found |= {int(match[1]) for name in names for match in NUMBER.finditer(name)}
    return found


@pytest.mark.sweep
def test_every_row_has_a_test() -> None:
    files = Path(__file__).parents[1].rglob("test_*.py")
    covered = set().union(*(numbers_in(path.read_text(encoding="utf-8")) for path in files))
    assert covered <= set(range(1, 71))
    assert set(range(1, 71)) - covered == set()


def test_numbers_are_read() -> None:
    source = """
def test_row_07_dilated(): "row 12"
rows = [param(1, id="row 31: dropped"), param(2, id="not row 5"), param(3, id="row 4")]
mark = parametrize("a", [8, 9], ids=["row_38", "row_39"])
"""
    assert numbers_in(source) == {4, 7, 31, 38, 39}
