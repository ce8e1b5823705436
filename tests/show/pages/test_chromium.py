"""Pages in a real browser: nothing goes wrong, nothing is fetched, tables sort and search, fast."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command import run
from tests.show.pages.documents import hostile_model, saved

pytest.importorskip("jinja2", reason="the extra html is not installed")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")

MODELS = Path(__file__).parents[3] / "models"
QUIET = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--host-resolver-rules=MAP * ~NOTFOUND",
    *("--disable-default-apps", "--disable-extensions", "--metrics-recording-only"),
)
ITS_OWN = re.compile(r"file:|data:|chrome|https?://[\w.-]+\.(google|googleapis|gvt1)\.com[:/]")
ACTIONS = """
const said = [];
const rows = () => [...table.tBodies[0].rows].filter((row) => !row.hidden);
const table = document.querySelector("#nodes").closest("section").querySelector("table");
const first = () => rows()[0].cells[0].textContent;
const button = table.tHead.querySelector("button");
button.focus();
said.push(document.activeElement === button, getComputedStyle(button).outlineStyle);
button.click(); said.push(first(), button.parentElement.getAttribute("aria-sort"));
button.click(); said.push(first(), button.parentElement.getAttribute("aria-sort"));
const field = document.querySelector("#nodes").closest("section").querySelector("input");
field.value = "MaxPool"; field.dispatchEvent(new Event("input"));
said.push(rows().length, document.querySelector("#nodes").closest("section")
  .querySelector("[role=status]").textContent);
document.title = JSON.stringify(said);
"""


def browse(
    page: Path, folder: Path, *options: str, net: bool = False
) -> tuple[str, str, list[str]]:
    """The page after its scripts, what the console said, and addresses that were asked for."""
    log = folder / "net.json"
    result = subprocess.run(
        [
            str(CHROMIUM),
            *QUIET,
            f"--user-data-dir={folder / 'profile'}",
            "--enable-logging=stderr",
            *((f"--log-net-log={log}",) if net else ()),
            "--dump-dom",
            *options,
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    said = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
    asked = re.findall(r'"url":"([^"]+)"', log.read_text()) if net else []
    return result.stdout, "\n".join(said), [one for one in asked if not ITS_OWN.match(one)]


@pytest.fixture
def kt(tmp_path: Path) -> Path:
    path = tmp_path / "kt.html"
    assert run(["inspect", str(MODELS / "kt_net_even.onnx"), "--html", str(path), "-q"]) == 0
    return path


def test_the_console_is_silent_and_nothing_is_fetched(tmp_path: Path, kt: Path) -> None:
    dom, said, asked = browse(kt, tmp_path, net=True)
    assert said == ""
    assert "Search in operators that can pad" in dom
    assert asked == []


def test_tables_sort_and_search(tmp_path: Path, kt: Path) -> None:
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", kt.read_text())
    kt.write_text(text.replace("</body>", f"<script>{ACTIONS}</script></body>"))
    dom, said, _ = browse(kt, tmp_path)
    assert said == ""
    title = re.search(r"<title>(\[.*?\])</title>", dom)
    assert title is not None
    assert json.loads(title[1].replace("&quot;", '"')) == [
        True,
        "solid",
        "node_avg_pool2d",
        "ascending",
        "node_pad_1",
        "descending",
        1,
        "1 of 6",
    ]


def test_a_hostile_model_runs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    model = saved(hostile_model(), tmp_path / "m.onnx")
    assert run(["inspect", str(model), "--html", str(path), "-q"]) == 0
    dom, said, asked = browse(path, tmp_path, net=True)
    assert said == ""
    assert "alert(1)" in dom
    assert asked == []
