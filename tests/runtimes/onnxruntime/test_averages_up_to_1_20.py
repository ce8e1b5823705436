"""onnxruntime up to 1.20 fuses Pads into averages that then leave them out; no rewrite meets that.

The answers are those of onnxruntime 1.20.1, optimisations on against off.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx
import pytest

from onnxpad import rewrite
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain, Pads
from onnxpad.runtimes.onnxruntime.pad_fusion import loses_count
from tests.runtimes.onnxruntime.matrix import Row, built, drawn, possible

RIGHT = (
    Row(op="AveragePool", counts=True),
    Row(op="AveragePool", counts=True, own=(1, 1)),
    Row(op="AveragePool", pads=(0, 0)),
    Row(op="AveragePool", pads=(1, -1)),
    Row(op="AveragePool", value="3"),
    Row(op="AveragePool", value="-0"),
    Row(op="AveragePool", mode="edge"),
    Row(op="AveragePool", readers="two"),
    Row(op="AveragePool", readers="output"),
    Row(op="AveragePool", places="listed", opset=18),
    Row(op="AveragePool", auto_pad="VALID"),
    Row(op="AveragePool", auto_pad="SAME_UPPER"),
    Row(op="AveragePool", between="Relu"),
)
WRONG = (
    Row(op="AveragePool"),
    Row(op="AveragePool", opset=7),
    Row(op="AveragePool", opset=19),
    Row(op="AveragePool", value=""),
    Row(op="AveragePool", value="-0", opset=10),
    Row(op="AveragePool", own=(0, 0)),
    Row(op="AveragePool", own=(1, 1)),
    Row(op="AveragePool", own=(1, 1), kernel=2),
    Row(op="AveragePool", pads=(3, 0)),
    Row(op="AveragePool", ceil=True),
    Row(op="AveragePool", known="node"),
    Row(op="AveragePool", known="folded"),
    Row(op="AveragePool", between="Identity"),
    Row(op="AveragePool", front="Relu"),
)
PASSES = ("explicit-pads", "uncounted-padding", "runtime-pads", "counted-padding", "floor-pool")


def averages(model: onnx.ModelProto) -> Iterator[Chain]:
    for site in Survey(model).sites_now():
        if site.op == "AveragePool":
            yield site.chain


def loses(chain: Chain) -> bool:
    return loses_count(chain)


@pytest.mark.parametrize("row", RIGHT)
def test_what_it_runs_right(row: Row) -> None:
    assert not any(map(loses, averages(built(row))))


@pytest.mark.parametrize("row", WRONG)
def test_what_it_runs_wrongly(row: Row) -> None:
    assert all(map(loses, averages(built(row))))


@pytest.mark.part(2)
@pytest.mark.parametrize("rule", PASSES)
def test_no_rewrite_lets_an_average_without_padding_lose_cells(rule: str) -> None:
    changed = 0
    for drawn_row in drawn(5, 250):
        row = drawn_row._replace(op="AveragePool", counts=False, readers="one", dtype="float32")
        if not possible(row):
            continue
        before = built(row)
        found = rewrite(before, passes=rule)
        if not found.changed or any(map(loses, averages(before))):
            continue
        changed += 1
        assert isinstance(found.model, onnx.ModelProto)
        for chain in averages(found.model):
            padded = not isinstance(chain.padding, Pads) or any(chain.padding.flat)
            assert padded or chain.ceil_mode or not loses(chain), row
    assert changed or rule in ("counted-padding", "runtime-pads", "floor-pool")


@pytest.mark.parametrize(("value", "counts"), [(0, True), (3, False)])
def test_an_average_counts_only_where_its_pad_is_fused(value: int, counts: bool) -> None:
    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[1, 1, 6] x) => (float[] y)
        <int64[6] p = {{0, 0, 1, 0, 0, 1}}, float v = {{{value}}}> {{
          a = Pad (x, p, v)
          y = AveragePool <kernel_shape = [3], auto_pad = "VALID"> (a)
        }}"""
    )
    after = rewrite(model, passes="explicit-pads").model
    assert isinstance(after, onnx.ModelProto)
    (chain,) = averages(after)
    assert chain.padding == Pads.zero(1)
    assert chain.counts_padding is counts
