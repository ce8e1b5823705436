"""Pads in front of convolutions that pad themselves, in ncnn; two Pads in a row are not judged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnxpad import rewrite
from onnxpad.inspection import inspect
from onnxpad.rewriting.for_target.report import PassPlan
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.live.layers import verdicts_on

_RUNS = 8
_SIZES = (9, 10, 8)


@dataclass(frozen=True)
class Row:
    """Pads in the order of the model, each 'BEGINS ENDS [MODE or VALUE]', then the convolution."""

    pads: tuple[str, ...]
    own: str = ""
    rank: int = 2
    group: int = 1
    between: str = ""


UNEVEN, EVEN = "12 02", "12 12"
CRASHES = (
    Row((UNEVEN,), "pads=[2, 2, 2, 0]"),
    Row((EVEN,), "pads=[2, 2, 2, 0]"),
    Row(("10 00",), "pads=[2, 2, 2, 0]"),
    Row(("00 01",), "pads=[0, 0, 0, 1]"),
    Row(("01 01",), "pads=[2, 2, 2, 0]"),
    Row((UNEVEN,), "pads=[2, 2, 2, 0]", group=4),
    Row((UNEVEN,), "pads=[2, 2, 2, 0]", group=2),
    Row((EVEN,), 'auto_pad="VALID"'),
    Row(("2 2",), 'auto_pad="VALID"', rank=1),
)
FINE = (
    Row((UNEVEN,)),
    Row((UNEVEN,), "pads=[1, 1, 1, 1]"),
    Row((EVEN,), "pads=[1, 1, 1, 1]"),
    Row((f"{UNEVEN} reflect",), "pads=[2, 2, 2, 0]"),
    Row((f"{EVEN} edge",), "pads=[2, 2, 2, 0]"),
    Row((UNEVEN,), "pads=[2, 2, 2, 0]", between="Relu"),
    Row((UNEVEN, EVEN)),
    Row((UNEVEN, EVEN), "pads=[1, 1, 1, 1]"),
    Row((UNEVEN, "00 00")),
    Row((f"{UNEVEN} 1.5", f"{UNEVEN} 1.5"), "pads=[1, 1, 1, 1]"),
    Row((f"{UNEVEN} 1.5", UNEVEN)),
    Row((UNEVEN, f"{UNEVEN} 1.5")),
    Row(("1 2",), "pads=[2, 0]", rank=1),
    Row(("2 2",), "pads=[2, 0]", rank=1),
    Row(("1 2", "1 2"), rank=1),
    Row(("1 2", "2 2"), rank=1),
    Row(("121 001",), "pads=[2, 0, 0, 0, 1, 0]", rank=3),
    Row(("121 121", "121 121"), rank=3),
)


def model(row: Row) -> onnx.ModelProto:
    lines, last, constants = [], "x", {}
    for number, words in enumerate(row.pads):
        begins, ends, *rest = words.split()
        how = rest[0] if rest else "constant"
        value = "" if how.isalpha() else ", v"
        mode = how if how.isalpha() else "constant"
        constants[f"p{number}"] = np.array([0, 0, *map(int, begins), 0, 0, *map(int, ends)])
        constants["v"] = np.array(1.5, np.float32)
        lines.append(f't{number} = Pad <mode="{mode}"> ({last}, p{number}{value})')
        last = f"t{number}"
        if row.between and not number:
            lines.append(f"b = {row.between} ({last})")
            last = "b"
    words = ", ".join(filter(None, (f"group={row.group}", row.own)))
    lines.append(f"y = Conv <{words}> ({last}, w)")
    sizes = _SIZES[: row.rank]
    made = text_model(
        "\n".join(lines),
        inputs=f"float[1, 4, {', '.join(map(str, sizes))}] x",
        outputs=f"float[{', '.join('abcde'[: row.rank + 2])}] y",
    )
    kernel = (4, 4 // row.group, *(4, 3, 3)[: row.rank])
    constants["w"] = np.random.default_rng(0).normal(size=kernel).astype(np.float32)
    used = {name for node in made.graph.node for name in node.input}
    made.graph.initializer.extend(
        numpy_helper.from_array(value, name) for name, value in constants.items() if name in used
    )
    return made


def of_convolution(row: Row) -> Answer:
    found = inspect(model(row), target="ncnn").targets["ncnn"]
    (own,) = (one for one in found if one.op == "Conv")
    return own.judgement.answer


@pytest.mark.parametrize("row", CRASHES, ids=str)
def test_what_crashed_is_refused_and_mended(row: Row) -> None:
    assert of_convolution(row) is Answer.REFUSES
    written = rewrite(model(row), target="ncnn").model
    found = inspect(written, target="ncnn").targets["ncnn"]
    assert {one.judgement.answer for one in found} == {Answer.TAKES}


@pytest.mark.parametrize("row", FINE, ids=str)
def test_what_ran_is_taken(row: Row) -> None:
    assert of_convolution(row) is Answer.TAKES


@pytest.mark.sweep
def test_pnnx_crashes_where_it_is_written_here(tmp_path: Path) -> None:
    """It reads memory that it freed: of several runs of a model some crash."""
    models = {}
    for row in (*CRASHES, *FINE):
        shape = (1, 4, *_SIZES[: row.rank])
        made = model(row)
        written = rewrite(made, target="ncnn").model
        for run in range(_RUNS):  # other numbers, as a reply to the same is kept
            x = np.random.default_rng(run).normal(size=shape).astype(np.float32)
            models[row, "as it is", run] = made, {"x": x}
            models[row, "rewritten", run] = written, {"x": x}
    found = verdicts_on("ncnn", models, tmp_path)
    seen = {key[:2]: set[str]() for key in found}
    for key, said in found.items():
        seen[key[:2]].add(said)
    wrong = {key for key, said in seen.items() if said != {"ok"}}
    assert wrong == {(row, "as it is") for row in CRASHES}


@pytest.mark.parametrize(
    ("front", "is_written"),
    [("c = Conv (x, k) r = Relu (c)", True), ("c = Neg (x) r = Relu (c)", False)],
)
def test_a_wrapping_pad_behind_another_is_written_behind_a_convolution_alone(
    front: str, *, is_written: bool
) -> None:
    """ncnn ends at a Concat that stands in no network of convolutions and pools."""
    made = text_model(
        f'{front} a = Pad <mode="edge"> (r, p) y = Pad <mode="wrap"> (a, p)',
        "float[1,1,8,8] x",
        outputs="float[a,b,c,d] y",
        constants="float[1,1,1,1] k = {2}, int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}",
        opset=19,
    )
    found = inspect(made, target="ncnn").targets["ncnn"][-1]
    assert isinstance(found.way, PassPlan) is is_written
    done = rewrite(made, target="ncnn")
    assert [one.op for one in done.unfit] == ([] if is_written else ["Pad"])
