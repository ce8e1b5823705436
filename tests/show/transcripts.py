"""Whole reports as they are printed and as pages show them, to be read and compared.

python -m tests.show.transcripts      writes them anew; read the difference
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest import mock

import numpy as np
from onnx import ModelProto

import onnxpad
import onnxpad.show.document
from onnxpad.resolving.differences import compare
from onnxpad.show.diagnoses import Around, diagnosis_document
from onnxpad.show.document import WIDE, Document, document_text
from onnxpad.show.inspections import inspection_document
from onnxpad.show.pages.page import page_html
from onnxpad.show.portings import porting_document
from onnxpad.show.resolutions import difference_document, resolution_document
from onnxpad.show.retargetings import retargeting_document
from onnxpad.show.rewritings import rewriting_document
from onnxpad.show.tables import Terminal
from onnxpad.show.validations import drawn_changes, validation_document
from tests.models.text import text_model
from tests.models.traps import TRAPS
from tests.show.pages import documents

MODELS = Path(__file__).parents[2] / "models"
RECORDED = Path(__file__).parent / "recorded"
DYNAMIC, STRINGS = MODELS / "k_unet_dyn_op13.onnx", MODELS / "t_same_string_ts.onnx"
WEIGHT = "float[1,1,3] w = {1, 10, 100}"
SAME = '[conv] y = Conv <strides=[2], auto_pad="SAME_UPPER"> (x, w)'
ALIKE = """
    [a] p = Conv <pads=[1, 1]> (x, w)
    [b] q = Conv <pads=[1, 1]> (p, w)
    [c] y = Conv <pads=[1, 1]> (q, w)
"""
COUNTS = """
    [pad] p = Pad (x, pads) [a] a = Conv (p, w) [b] b = Conv <pads=[1, 1]> (a, w)
    [c] c = Conv <auto_pad="SAME_UPPER", strides=[2]> (b, w)
    [d] d = Conv <auto_pad="VALID"> (c, w) [e] y = Conv (d, w)
"""
REST = """
    [shape] s = Shape (x) [size] h = Slice (s, two, three) [rest] m = Mod (h, four)
    [pads] e = Concat <axis=0> (zeros, m)
    [pad] p = Pad (x, e) [conv] y = Conv <strides=[2]> (p, w)
"""
REST_CONSTANTS = f"""{WEIGHT}, int64[1] two = {{2}}, int64[1] three = {{3}}, int64[1] four = {{4}},
    int64[5] zeros = {{0, 0, 0, 0, 0}}"""


def reports() -> Mapping[str, Document]:
    """Each report by the name of its transcript."""
    return {f"{verb}-{name}": one for verb, make in _VERBS.items() for name, one in make()}


def _inspections() -> Iterator[tuple[str, Document]]:
    pads = f"{WEIGHT}, int64[6] pads = {{0, 0, 1, 0, 0, 1}}"
    relu = "[conv] c = Conv <pads=[1, 1]> (x, w) r = Relu (c) y = Softmax (r)"
    cases: dict[str, tuple[str | ModelProto, str | None]] = {
        "strings": (str(STRINGS), None),
        "strings-opencv": (str(STRINGS), "opencv"),
        "dynamic-ncnn": (str(DYNAMIC), "ncnn"),
        "modes": (str(MODELS / "kt_net_even.onnx"), None),
        "alike": (text_model(ALIKE, constants=WEIGHT), None),
        "counts": (text_model(COUNTS, "float[1,1,H] x", constants=pads), None),
        "rest": (text_model(REST, "float[N,1,H] x", constants=REST_CONSTANTS), None),
        "judged": (text_model(relu, constants=WEIGHT), "opencv"),
        "nothing": (text_model("y = Neg (x)"), None),
        "ceil": (TRAPS["valid-with-ceil-mode"][0], None),
        "unknown-operator": (
            text_model("a = Konv (x)\ny = MaxPool <kernel_shape = [2]> (a)"),
            None,
        ),
    }
    for name, (model, target) in cases.items():
        yield name, inspection_document(onnxpad.inspect(model, target=target), "m.onnx", page=False)
    model = text_model(SAME, "float[1,1,height] x", constants=WEIGHT)
    for name, given in (("stated", 8), ("divisor", "%2=0")):
        found = onnxpad.inspect(model, target="ncnn", dims={"height": given})
        yield name, inspection_document(found, "m.onnx")
    yield "each", inspection_document(onnxpad.inspect(cases["alike"][0]), "m.onnx", each=True)
    opencv = onnxpad.inspect(STRINGS, target="opencv")
    yield "page", inspection_document(opencv, "m.onnx", page=True)
    trapped = onnxpad.inspect(STRINGS)
    yield "page-traps", inspection_document(trapped, "m.onnx", page=True)


def _rewritings() -> Iterator[tuple[str, Document]]:
    opened = text_model(SAME, "float[1,1,height] x", constants=WEIGHT)
    done = onnxpad.rewrite(opened)
    yield "skip", rewriting_document("m.onnx", "out.onnx", done)
    facts = onnxpad.rewrite(opened, dims={"height": "% 2 == 0"})
    yield "facts", rewriting_document("-", None, facts, script=True)
    split = onnxpad.rewrite(STRINGS, passes=["explicit-pads", "split-pads"])
    yield "split", rewriting_document("m.onnx", "o.onnx", split)
    opencv = onnxpad.rewrite(STRINGS, target="opencv")
    yield "opencv", rewriting_document("m.onnx", "o.onnx", opencv)
    stuck = onnxpad.rewrite(DYNAMIC, target="opencv")
    yield "refused", rewriting_document("m.onnx", None, stuck, objection="no")
    pool = "y = AveragePool <kernel_shape=[3], pads=[1, 1]> (x)"
    made = onnxpad.rewrite(text_model(pool), passes="average-by-conv")
    yield "expansion", rewriting_document("m.onnx", "o.onnx", made)


def _retargetings() -> Iterator[tuple[str, Document]]:
    found = onnxpad.retarget(DYNAMIC, to="pytorch")
    yield "dynamic", retargeting_document("m.onnx", None, found)
    pool = "[pool] y = MaxPool <kernel_shape=[3], pads=[0, 1], strides=[2]> (x)"
    moved = onnxpad.retarget(text_model(pool), to="symmetric")
    yield "pool", retargeting_document("m.onnx", "o.onnx", moved, script=True)


_PAIRS = {
    "moved": (
        "Conv <pads=[0,0,1,1], strides=[2,2]> (x, w)",
        "Conv <pads=[1,1,0,0], strides=[2,2]> (x, w)",
    ),
    "wider": ("Conv <pads=[1,1,1,1]> (x, w)", "Conv <pads=[1,1,1,2]> (x, w)"),
    "written": ('Conv <auto_pad="SAME_UPPER"> (x, w)', "Conv <pads=[1,1,1,1]> (x, w)"),
    "same": ("Conv <pads=[1,1,1,1]> (x, w)", "Conv <pads=[1,1,1,1]> (x, w)"),
    "counted": (
        "AveragePool <kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=0> (x)",
        "AveragePool <kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=1> (x)",
    ),
    "refused": (
        'Conv <auto_pad="SAME_UPPER", dilations=[2,2]> (x, w)',
        "Conv <pads=[2,2,2,2], dilations=[2,2]> (x, w)",
    ),
}


def _validations() -> Iterator[tuple[str, Document]]:
    inputs, weight = "float[1,1,8,9] x", "float[1,1,3,3] w = {1, 2, -3, 4, 5, 6, -7, 8, 9}"
    for name, texts in _PAIRS.items():
        one, other = (
            text_model(f"[node] y = {text}", inputs, constants=weight, outputs="float[1,1,P,Q] y")
            for text in texts
        )
        found = onnxpad.validate(one, other, samples=1, device="cpu")
        yield name, validation_document(found, ("a", "b"), drawn_changes(one, other))


def _diagnoses() -> Iterator[tuple[str, Document]]:
    text = "[node] y = MaxPool <kernel_shape=[3], strides=[2], pads=[{}]> (x)"
    wrong, right = (text_model(text.format(pads), "float[1,1,8] x") for pads in ("1, 1", "0, 1"))
    import onnxruntime as ort

    x = np.linspace(-3, 1, 8, dtype=np.float32).reshape(1, 1, 8)
    y = ort.InferenceSession(right.SerializeToString()).run(None, {"x": x})[0]
    found = onnxpad.diagnose(wrong, inputs={"x": x}, outputs={"y": y}, device="cpu")
    yield "pool", diagnosis_document(found, "m.onnx", Around(follow="onnxpad retarget"))


def _layers() -> Iterator[tuple[str, Document]]:
    shape = (1, 3, 8, 9)
    keras = onnxpad.resolve(
        "keras", "conv", input_shape=shape, weight_shape=(4, 3, 3, 3), padding="same", strides=2
    )
    yield "keras", resolution_document(keras, ("pytorch", "x = F.conv2d(x)"))
    torch = onnxpad.resolve(
        "pytorch", "conv", input_shape=shape, weight_shape=(4, 3, 3, 3), padding=1, stride=2
    )
    yield "compared", difference_document(compare(keras, torch))


def _ports() -> Iterator[tuple[str, Document]]:
    yield "pytorch", porting_document(onnxpad.port(STRINGS), "pytorch", "m.onnx")
    yield "nothing", porting_document(onnxpad.port(text_model("y = Neg (x)")), "pytorch", "m.onnx")


_VERBS = {
    "inspect": _inspections,
    "rewrite": _rewritings,
    "retarget": _retargetings,
    "validate": _validations,
    "diagnose": _diagnoses,
    "resolve": _layers,
    "port": _ports,
}


NARROW = ("inspect-modes", "retarget-dynamic", "validate-counted")
"""Reports that are recorded as a narrow terminal has them, too."""
PAGES = ("inspect-page", "rewrite-facts", "validate-moved", "diagnose-pool", "port-pytorch")
"""Reports of which the page is recorded, too."""


def transcript(name: str, document: Document) -> str:
    """The report in a file, some on a narrow terminal, and what its page adds."""
    # Sentences of validate have numbers of several lengths, which are replaced below.
    with mock.patch.object(onnxpad.show.document, "WIDE", 1000 if "validate" in name else WIDE):
        wide = document_text(document)
        narrow = document_text(document, Terminal(80)) if name in NARROW else ""
    parts = {"file": wide, "terminal of 80 columns": narrow}
    if name in PAGES:
        page = re.sub(r"<svg.*?</svg>", "", page_html(document, "1"), flags=re.DOTALL)
        shown = documents.Document(page.partition("<body>")[2])
        told = shown.said.partition("Written by")[0].splitlines()
        added = [line for one in told if (line := one.strip()) and line not in wide]
        parts["page"] = "\n".join([f"{shown.tags.count('tr')} rows", *added]) + "\n"
    text = "\n".join(f"=== {name}\n{part}" for name, part in parts.items() if part)
    text = re.sub(r"in \d+\.\d s", "in 0.0 s", text)
    text = re.sub(r"error of [-\d.e]+", "error of N", text)
    return re.sub(r"\] is \S+( in the first model and|, then) \S+", r"] is A\1 B", text)


if __name__ == "__main__":
    for old in RECORDED.glob("*.txt"):
        old.unlink()
    for title, report in reports().items():
        (RECORDED / f"{title}.txt").write_text(transcript(title, report), encoding="utf-8")
