"""The site in a real browser, from files: search answers, nothing sticks out or is fetched."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra html is not installed")

from onnxpad.model.files.delivery import write_folder
from tests.show.pages.test_chromium import CHROMIUM, browse

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
PAGES = ("index.html", "works/MaxPool.html", "target/ncnn.html", "convention/tensorflow.html")
WIDE = """
const most = document.documentElement.clientWidth;
const all = [...document.querySelectorAll("body *")];
const out = all.filter((one) => !one.closest(".scroll, .pictures")
  && one.getBoundingClientRect().right > most + 1);
document.title = JSON.stringify([...new Set(out.map((one) => one.tagName))]);
"""


@pytest.fixture(scope="module")
def site(files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "pages"
    write_folder(folder, files)
    return folder


def said_by(page: Path, script: str, folder: Path, *options: str) -> Any:
    """What a script, run behind those of the page, makes its title."""
    copy = page.with_name(f"tried-{page.name}")
    text = page.read_text(encoding="utf-8")
    copy.write_text(text.replace("</body>", f"<script>{script}</script></body>"))
    dom, said, _ = browse(copy, folder, *options)
    assert said == ""
    title = re.search(r"<title>(\[.*?\])</title>", dom)
    assert title is not None
    return json.loads(title[1].replace("&quot;", '"'))


def test_the_console_is_silent_and_nothing_is_fetched(site: Path, tmp_path: Path) -> None:
    dom, said, asked = browse(site / "index.html", tmp_path, net=True)
    assert said == ""
    assert "Search everything" in dom
    assert asked == []


@pytest.mark.part(2)
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("page", PAGES)
def test_nothing_sticks_out(page: str, width: int, site: Path, tmp_path: Path) -> None:
    assert said_by(site / page, WIDE, tmp_path, f"--window-size={width},900") == []
