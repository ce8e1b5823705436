"""explain --html DIR: every page is reached, every link leads somewhere, nothing is loaded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest

pytest.importorskip("jinja2", reason="the extra html is not installed")
pytest.importorskip("onnxruntime")

from tests.command import run
from tests.names import ENTRIES
from tests.show.pages.documents import Document


def test_every_entry_is_a_page_that_is_linked(tmp_path: Path) -> None:
    assert run(["explain", "--html", str(tmp_path / "site"), "-q"]) == 0
    files = {
        path.relative_to(tmp_path / "site").as_posix(): path.read_text(encoding="utf-8")
        for path in (tmp_path / "site").rglob("*.*")
    }
    pages = {name: Document(text) for name, text in files.items() if name.endswith(".html")}
    kinds = Counter(name.partition("/")[0] for name in pages if "/" in name)
    assert kinds == Counter(entry["kind"] for entry in ENTRIES)
    reached = set()
    for name, page in pages.items():
        assert (page.unclosed, page.handlers, page.tags.count("h1")) == ([], [], 1), name
        for link in page.leads:
            path, _, anchor = link.partition("#")
            target = normpath(join(dirname(name), path)) if path else name
            assert link == "data:," or target in files, (name, link)
            assert not anchor or anchor in page.places
            reached.add(target)
    assert reached >= {*files}
    assert "auto_pad SAME_UPPER" in pages["operator/MaxPool.html"].said
    assert 'href="../target/opencv.html"' in files["operator/MaxPool.html"]
    assert "MaxPool, auto_pad SAME_UPPER" in pages["target/opencv.html"].said
