"""Tables: nothing is lost, whatever the width."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onnxpad.inspection import inspect
from onnxpad.show.document import document_text
from onnxpad.show.inspections import inspection_document
from onnxpad.show.tables import Terminal, table

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


@pytest.mark.parametrize("width", [45, 50, 64, 84, 200])
def test_terminals_break_between_words_and_never_an_address(width: int) -> None:
    address = "a" * 25 + "b" * 25
    rows = [
        ("stem/conv", "Conv", "[1, 3, height, width]"),
        (address, "com.microsoft.Pad", "[1, 64, floor((height+1)/2), width]"),
    ]
    text = table((*HEADERS, "input"), rows, Terminal(width), names=("node",), whole=("operator",))
    lines = shown(text)
    assert max(len(line) for line in lines if line != address) <= width
    words = "\n".join(lines).split()
    assert {"stem/conv", "Conv", "com.microsoft.Pad", "height,", "width]", "64,"} <= set(words)
    assert address in words


def test_an_address_without_room_stands_above_its_row() -> None:
    lines = shown(table(HEADERS, ROWS, Terminal(47), names=HEADERS[:1]))
    assert lines[0] == HEADERS[0]
    assert lines[1].split() == list(HEADERS[1:])
    assert lines[2::2] == [row[0] for row in ROWS]


def test_a_terminal_too_narrow_to_be_legible_gets_the_plain_table() -> None:
    assert table(HEADERS, ROWS, Terminal(30), names=HEADERS, whole=HEADERS) == table(HEADERS, ROWS)
    assert table(HEADERS, ROWS, Terminal(60)) == table(HEADERS, ROWS)


def test_other_names_break_in_front_of_a_separator_where_one_is_near() -> None:
    rows = [("Conv", "features/block_1/conv/depthwise")]
    text = table(("op", "node"), rows, Terminal(27), names=("node",))
    assert [line.split()[-1] for line in shown(text)[1:]] == ["features/block_1/conv", "/depthwise"]


@pytest.mark.parametrize("terminal", [None, Terminal(100)])
def test_control_characters_are_escapes(terminal: Terminal | None) -> None:
    text = table(HEADERS, [("a\nb\x1b[31m\x9bc\u202e", "Conv")], terminal)
    assert r"a\nb\x1b[31m\x9bc\u202e" in "\n".join(shown(text))
    assert len(text.splitlines()) == 2


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
    document = inspection_document(found, everything=True, each=True)
    text = str(document)
    wide = "\n".join(shown(document_text(document, Terminal(400))))
    for node in found.nodes:
        assert f"\n{node.node} " in f"\n{text}"
        assert f"\n{node.node} " in f"\n{wide}"
