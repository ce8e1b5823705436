"""Reports are what their transcripts say; `python -m tests.show.transcripts` renews them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

pytest.importorskip("jinja2", reason="the extra html is not installed")
pytest.importorskip("onnxruntime")

from onnxpad.show.document import Document, document_text
from tests.show.transcripts import RECORDED, reports, transcript

NAMES = sorted(path.stem for path in RECORDED.glob("*.txt"))
LONG = 40


@pytest.fixture(scope="module")
def documents() -> Mapping[str, Document]:
    return reports()


@pytest.mark.parametrize("name", NAMES)
def test_a_report_is_what_was_recorded(name: str, documents: Mapping[str, Document]) -> None:
    recorded = (RECORDED / f"{name}.txt").read_text(encoding="utf-8")
    assert transcript(name, documents[name]) == recorded


def test_every_report_is_recorded(documents: Mapping[str, Document]) -> None:
    assert sorted(documents) == NAMES


def test_no_report_fills_more_than_a_screen(documents: Mapping[str, Document]) -> None:
    for name, document in documents.items():
        lines = [] if "page" in name else document_text(document).splitlines()
        assert len(lines) <= LONG, name
