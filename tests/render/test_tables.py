"""Tables: nothing is lost, whatever the width."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onnxpad.inspection import inspect
from onnxpad.render.inspections import inspection_text
from onnxpad.render.tables import Terminal, table

MODELS = Path(__file__).parents[2] / "models"
HEADERS = ("node", "operator")
ROWS = [("stem/conv", "Conv"), ("a" * 50, "com.microsoft.QLinearAveragePool")]
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def shown(text: str) -> list[str]:
    return STYLE.sub("", text).splitlines()


def test_files_get_aligned_columns() -> None:
    assert table(HEADERS, ROWS) == "\n".join(
        [
            f"{'node':<50}  operator",
            f"{'stem/conv':<50}  Conv",
            f"{'a' * 50}  com.microsoft.QLinearAveragePool",
        ]
    )


def test_no_rows_give_no_table() -> None:
    assert table(HEADERS, []) == ""


@pytest.mark.parametrize("width", [20, 24, 30, 41, 64, 84, 200])
def test_terminals_fold_and_lose_nothing(width: int) -> None:
    lines = shown(table(HEADERS, ROWS, Terminal(width)))
    assert max(map(len, lines)) <= width
    letters = sorted("".join("".join(row) for row in [HEADERS, *ROWS]))
    assert sorted(re.sub(r"\s", "", "".join(lines))) == letters


def test_a_terminal_too_narrow_to_fold_gets_the_plain_table() -> None:
    assert table(HEADERS, ROWS, Terminal(19)) == table(HEADERS, ROWS)


def test_a_terminal_with_room_folds_nothing() -> None:
    assert [line.split() for line in shown(table(HEADERS, ROWS, Terminal(120)))] == [
        list(HEADERS),
        *(list(row) for row in ROWS),
    ]


@pytest.mark.parametrize("width", [80, 100, 160])
def test_markup_in_names_is_text(width: int) -> None:
    rows = [("[bold]layer[0][/bold]", "Conv")]
    assert "[bold]layer[0][/bold]" in "".join(shown(table(HEADERS, rows, Terminal(width))))


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.stem)
def test_every_name_is_whole_in_a_file_and_on_a_terminal(path: Path) -> None:
    found = inspect(path)
    text = inspection_text(found)
    wide = "\n".join(shown(inspection_text(found, Terminal(400))))
    for node in found.nodes:
        assert f"\n{node.node} " in f"\n{text}"
        assert f"\n{node.node} " in f"\n{wide}"
