"""Tables: nothing is lost, whatever the width."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnxpad import inspect
from onnxpad.show.document import document_text
from onnxpad.show.inspections import inspection_document
from onnxpad.show.tables import Terminal, row_texts

MODELS = Path(__file__).parents[2] / "models"
ADDRESS = "a" * 25 + "b" * 25
HEADERS = ("node", "operator", "input")
ROWS = [
    ("stem/conv", "Conv", "[1, 3, height, width]"),
    (ADDRESS, "com.microsoft.Pad", "[1, 64, floor((height+1)/2), width]"),
]


def table(width: int) -> str:
    return "\n".join(row_texts(HEADERS, ROWS, Terminal(width)))


@pytest.mark.parametrize("width", [1, 50, 64, 84, 200])
def test_lines_break_between_words_alone(width: int) -> None:
    text = table(width)
    assert sorted(text.split()) == sorted(table(160).split())
    longest = max(len(line) for line in text.splitlines() if line != ADDRESS)
    assert longest <= width or text == table(160)
    assert (ADDRESS in text.splitlines()) == (width in (50, 64, 84))


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.stem)
def test_every_name_is_whole_in_a_file_and_on_a_terminal(path: Path) -> None:
    found = inspect(path)
    document = inspection_document(found, everything=True, each=True)
    for text in (str(document), document_text(document, Terminal(400))):
        assert all(f"\n{node.node}" in f"\n{text}" for node in found.nodes)
