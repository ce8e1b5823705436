"""explain --html DIR: every page is whole, every link leads somewhere, nothing is loaded."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath

import numpy as np
import onnx
import pytest

pytest.importorskip("jinja2", reason="the extra html is not installed")

from onnxpad import inspect
from onnxpad.explaining import entries
from onnxpad.reproducing.ways import Way, ways
from onnxpad.show.site import downloads
from onnxpad.show.site.conformance import WORDS, Conformance, address_of, conformance


class Page(HTMLParser):
    """What a page has: ids, what it links to, what it loads, and headings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.tags: Counter[str] = Counter()
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags[tag] += 1
        self.ids += [given["id"]] if "id" in given else []
        if tag == "a":
            self.links.append(given["href"])
        elif "src" in given or (tag == "link" and given["rel"] != "icon"):
            self.loads.append(given.get("src") or given["href"])


@pytest.fixture(scope="module")
def table() -> Conformance:
    return conformance()


@pytest.fixture(scope="module")
def pages(files: dict[str, bytes]) -> dict[str, Page]:
    return {name: Page(data.decode()) for name, data in files.items() if name.endswith(".html")}


def searched(files: dict[str, bytes]) -> list[list[str]]:
    """What the search looks in."""
    script = files["search.js"].decode()
    found: list[list[str]] = json.loads(
        script.removeprefix("window.onnxpadIndex = ").removesuffix(";\n")
    )
    return found


def broken(pages: dict[str, Page], names: set[str]) -> list[str]:
    """Links that lead nowhere."""
    found = []
    for name, page in pages.items():
        for link in [*page.links, *page.loads]:
            path, _, anchor = link.partition("#")
            target = normpath(join(dirname(name), path)) if path else name
            if target not in names or (anchor and anchor not in pages[target].ids):
                found.append(f"{name}: {link}")
    return found


@pytest.mark.sweep
def test_every_link_leads_somewhere(files: dict[str, bytes], pages: dict[str, Page]) -> None:
    assert broken(pages, set(files)) == []
    assert sum(len(page.links) for page in pages.values()) > 10_000


def test_every_entry_and_every_page_is_reached(
    files: dict[str, bytes], pages: dict[str, Page]
) -> None:
    seen, waiting = {"index.html"}, ["index.html"]
    while waiting:
        name = waiting.pop()
        for link in pages[name].links if name in pages else ():
            path = link.partition("#")[0]
            target = normpath(join(dirname(name), path)) if path else name
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    assert {*files} - seen == {"style.css", "site.js", "search.js"}
    kinds = Counter(name.partition("/")[0] for name in files)
    expected = Counter(entry.kind for entry in entries())
    assert {kind: kinds[kind] for kind in expected} == dict(expected)


def test_pages_are_well_made(files: dict[str, bytes], pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        assert page.tags["h1"] == 1, name
        assert len(page.ids) == len(set(page.ids)), name
        assert page.tags["main"] == 1, name
        assert not [one for one in page.loads if "//" in one], name
        assert b"http://" not in files[name].replace(b"http://www.w3.org", b""), name
    assert b"http" not in files["style.css"]
    assert b"http" not in files["site.js"]


def test_what_is_searched(files: dict[str, bytes], pages: dict[str, Page]) -> None:
    found = searched(files)
    for _, _, address, *_ in found:
        path, _, anchor = address.partition("#")
        assert path in pages
        assert not anchor or anchor in pages[path].ids
    words = ["ncnn", "asymmetric", "maxpool"]
    hits = [one for one in found if all(word in " ".join(one).casefold() for word in words)]
    assert "ncnn: MaxPool, asymmetric pads, more at the end" in {hit[0] for hit in hits}
    assert {hit[1] for hit in hits} >= {"wrong"}


@pytest.mark.part(16)
@pytest.mark.parametrize("way", ways(), ids=lambda way: way.name)
def test_cells_say_what_inspect_says_of_the_download(way: Way, table: Conformance) -> None:
    model = dict(downloads(way))[f"models/{way.name}.onnx"]
    found = inspect(model, target=table.targets).targets
    for name, verdicts in found.items():
        judgements = [one.judgement for one in verdicts]
        worst = max((one.answer for one in judgements), key=lambda answer: answer.rank)
        cell = table.cells[way.name, name]
        assert cell.word == WORDS[worst], name
        assert bool(cell.evidence) == any(one.rows for one in judgements if one.answer is worst)


def test_each_model_can_be_loaded_and_has_its_arrays(files: dict[str, bytes]) -> None:
    import io

    for way in ways():
        model = onnx.load_from_string(files[f"models/{way.name}.onnx"])
        onnx.checker.check_model(model)
        with np.load(io.BytesIO(files[f"models/{way.name}-input.npz"])) as given:
            assert {one.name for one in model.graph.input} == set(given.files)
        with np.load(io.BytesIO(files[f"models/{way.name}-expected.npz"])) as right:
            assert {one.name for one in model.graph.output} == set(right.files), way.name


def test_the_program_beside_the_files_works(
    files: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    for way in (ways()[0], ways()[-1]):
        for end in (".onnx", "-input.npz", "-expected.npz"):
            (tmp_path / f"{way.name}{end}").write_bytes(files[f"models/{way.name}{end}"])
        text = files[address_of("way", way.title)].decode()
        (program,) = re.findall(r'aria-label="A program">(.*?)</pre>', text, re.DOTALL)
        exec(unescape(program), {})  # noqa: S102 - the page's own
    assert capsys.readouterr().out.count(" 0.0\n") == 2


QUESTIONS = {
    "TensorFlow Lite dilated average pool": "tflite: AveragePool, dilations and symmetric pads",
    "WebGPU ceil_mode max pool": "webgpu: MaxPool, ceil_mode",
    "coreml group conv transpose": "coreml: ConvTranspose, groups, symmetric pads",
    "TensorRT grouped deconvolution": "tensorrt: ConvTranspose, groups, symmetric pads",
    "LiteRT depthwise asymmetric padding": (
        "tflite: Conv, depthwise, asymmetric pads, more at the end"
    ),
    "which runtimes support reflect padding": "Pad mode reflect",
    "open vino 3d convolution same": "openvino: Conv, 3-D, auto_pad SAME_UPPER",
    "replicate padding in Core ML": "coreml: Pad mode edge",
    "MaxPool2d dilation iree": "iree: MaxPool, dilations and symmetric pads",
    "install cuda": "installation",
    "explicit-pads": "explicit-pads",
}
"""What people ask, and the first answer."""


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_plain_questions_are_answered(files: dict[str, bytes], tmp_path: Path) -> None:
    script = files["site.js"].decode()
    finding = script[script.index("/* Entries with the most words") :].partition("\n(() => {")[0]
    asked = f"{json.dumps([*QUESTIONS])}.map((text) => window.onnxpadIndex[find(text)[0]][0])"
    (tmp_path / "asked.js").write_text(
        f"const window = {{}};\n{files['search.js'].decode()}{finding}\n"
        "const find = window.onnxpadFinding(window.onnxpadIndex);\n"
        f"console.log(JSON.stringify({asked}));\n"
    )
    line = ["node", str(tmp_path / "asked.js")]
    printed = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert dict(zip(QUESTIONS, json.loads(printed), strict=True)) == QUESTIONS
