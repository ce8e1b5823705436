"""Pages of reports: what stands on them; nothing of a model is HTML, and nothing is loaded."""

from __future__ import annotations

import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from html import escape, unescape
from pathlib import Path

import pytest

import onnxpad
from onnxpad.show import document
from onnxpad.show.pages import page as pages
from onnxpad.show.pages.page import page_html
from tests.command import run
from tests.models.text import text_model
from tests.show.pages.documents import HOSTILE, Document, hostile_model, saved

pytest.importorskip("jinja2", reason="the extra html is not installed")

ROOT = Path(__file__).parents[3]
MODELS = ROOT / "models"
KT = MODELS / "kt_net_even.onnx"
Captured = pytest.CaptureFixture[str]


def page(code: int, *line: str | Path) -> tuple[str, Document]:
    """The page that a command line writes, which is sound."""
    path = Path(line[list(line).index("--html") + 1])
    assert run([str(one) for one in line]) == code
    text = path.read_text(encoding="utf-8")
    found = Document(text)
    check(text, found)
    return text, found


def check(text: str, found: Document) -> None:
    assert text.startswith("<!doctype html>")
    assert found.unclosed == []
    assert found.handlers == []
    assert found.tags.count("script") == 1
    assert len(found.places) == len(set(found.places))
    outside = [to for to in found.leads if not to.startswith(("#", "data:"))]
    assert outside == []
    assert {to[1:] for to in found.leads if to.startswith("#")} <= {*found.places}
    assert "url(http" not in text
    assert {"main", "header", "footer", "title"} <= {*found.tags}
    (script,) = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    assert b64encode(sha256(script.encode()).digest()).decode() in text.partition("</head>")[0]
    assert "default-src 'none'" in unescape(text.partition("</head>")[0])


def test_outputs_that_differ_have_heatmaps(tmp_path: Path) -> None:
    nodes = "p = Pad <mode=MODE> (x, q) y = ReduceMax <axes=[1]> (p)"
    for mode in ("constant", "edge"):
        model = text_model(
            nodes.replace("MODE", f'"{mode}"'),
            "float[1,2,4,5] x",
            constants="int64[8] q = {0,0,1,0,0,0,0,2}",
        )
        saved(model, tmp_path / f"{mode}.onnx")
    files = tmp_path / "constant.onnx", tmp_path / "edge.onnx"
    text, found = page(1, "validate", *files, "--html", tmp_path / "a.html")
    assert "Where outputs differ" in found.said
    first = text.partition("the first difference: Pad ")[2].partition("</svg>")[0]
    assert "15 of 35 parts differ by more than 1% of the scale" in first
    assert first.count('class="heat"') == 15 + 4  # of the map, and of its legend
    _, alike = page(0, "validate", files[0], files[0], "--html", tmp_path / "b.html")
    assert "Where outputs differ" not in alike.said


def test_names_of_a_model_are_never_html(tmp_path: Path) -> None:
    model = saved(hostile_model(), tmp_path / "m.onnx")
    out = tmp_path / "o.onnx"
    assert run(["retarget", str(model), "--to", "caffe", "-o", str(out), "-q"]) == 0
    lines = [
        ("inspect", model, "--target", "opencv", "--target", "ncnn"),
        ("rewrite", model, "-o", tmp_path / "r.onnx"),
        ("retarget", model, "--to", "caffe", "-o", tmp_path / "t"),
        ("validate", model, out, "--device", "cpu", "--samples", "1"),
    ]
    for number, line in enumerate(lines):
        path = tmp_path / f"{number}.html"
        assert run([*map(str, line), "--html", str(path), "-q"]) <= 1
        text = path.read_text(encoding="utf-8")
        found = Document(text)
        check(text, found)
        assert "img" not in found.tags
        assert HOSTILE in found.said, line


def test_every_text_of_a_page_is_escaped() -> None:
    bad = '<b onclick=x>&"'
    table = document.Table((bad,), ((bad,),), bad)
    section = document.Section("s", bad, (bad, document.Note(bad, bad, (bad,))), table)
    lines = (bad, document.Command(bad, bad))
    made = page_html(document.Document(bad, bad, bad, lines, (section,)), "1")
    found = Document(made)
    assert "b" not in found.tags
    assert made.count(escape(bad, quote=False).replace('"', "&#34;")) >= 8


def test_notebooks_show_the_same_figures() -> None:
    found = onnxpad.inspect(str(KT))
    html = found._repr_html_()
    assert html is not None
    assert html.count('class="onnxpad-figure"') == 6
    assert Document(html).unclosed == []
    assert "<script" not in html
    places, leads = Document(html).places, Document(html).leads
    assert {to[1:] for to in leads} <= {*places}
    other = onnxpad.inspect(str(KT), target="opencv")._repr_html_()
    assert other is not None
    both = [place for place in (*places, *Document(other).places) if place.startswith("onnxpad-")]
    assert len(set(both)) == len(both)
    written = onnxpad.rewrite(str(MODELS / "k_yolo_tiny_op15.onnx"))
    assert "Before and after" in (written._repr_html_() or "")
    assert onnxpad.port(KT)._repr_html_() is None


def test_nothing_of_it_is_loaded_unless_asked_for() -> None:
    code = (
        "import sys, onnxpad\n"
        f"found = onnxpad.inspect({str(KT)!r})\n"
        "print({'jinja2', 'onnxpad.show'} & {*sys.modules})"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert shown.stdout == "set()\n"


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    from onnxpad.show.pages import templates

    monkeypatch.setattr(templates, "find_spec", lambda name: None if name == "jinja2" else name)
    assert run(["inspect", str(KT), "--html", str(tmp_path / "a.html")]) == 2
    said = capsys.readouterr().err
    assert "jinja2, which is not installed" in said
    assert "pip install jinja2" in said
    assert onnxpad.inspect(str(KT))._repr_html_() is None
    assert not (tmp_path / "a.html").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("inspect", "m.onnx", "--html", "m.onnx"), "is an input"),
        (("inspect", "m.onnx", "--html", "w.bin"), "a file of another kind"),
        (("inspect", "m.onnx", "--html", "-"), "needs the name of a file"),
        (("inspect", ".", "--html", "a.html"), "--html is about one model"),
        (("inspect", "m.onnx", "--html", "m.onnx/a.html"), "Not a directory"),
        (("rewrite", "m.onnx", "-o", "o.onnx", "--html", "o.onnx"), "is an input"),
        (("validate", ".", ".", "--html", "a.html"), "--html is about one model"),
    ],
)
def test_nothing_else_is_overwritten(
    line: tuple[str, ...],
    said: str,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    saved(text_model("y = MaxPool <kernel_shape=[3]> (x)"), tmp_path / "m.onnx")
    (tmp_path / "w.bin").write_bytes(b"weights")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert run([*line]) == 2
    assert said in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_is_beyond_all_reading_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "ROWS", 3)
    rows = tuple((f"node {number}",) for number in range(5))
    section = document.Section("s", "nodes", table=document.Table(("node",), rows))
    made = page_html(document.Document("a", "b", "c", sections=(section,)), "1")
    assert "node 2" in made
    assert "node 3" not in made
    assert "and 2 more, not shown here" in made


def test_a_report_is_written_from_python(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    page(0, "inspect", KT, "--target", "opencv", "--html", path)
    found = onnxpad.inspect(str(KT), target="opencv")
    assert found.to_html(str(KT)) == path.read_text(encoding="utf-8")
    assert "Padding of" in found.to_html()
    assert "split-pads (pass)" in onnxpad.explain("split-pads")[0].to_html()
