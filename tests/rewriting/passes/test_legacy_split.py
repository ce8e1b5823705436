"""ConvTranspose as the text of opsets 1 to 10 splits an odd crop: at the other side."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from onnxpad.cli import run
from onnxpad.model.editing.session import EditSession
from onnxpad.padding.chain import Preferences
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import attributes, numbers, tiny, values

X3 = numbers(1, 2, 3)
FULL = [1, 10, 102, 20, 203, 30, 300]
Captured = pytest.CaptureFixture[str]

# What is written, the newer reading and the older one: begin and end of a crop of one cell.
SPLITS = [
    ('auto_pad = "SAME_UPPER"', [0, 1], [1, 0]),
    ('auto_pad = "SAME_LOWER"', [1, 0], [0, 1]),
    ("output_shape = [6]", [1, 0], [0, 1]),
    ('output_shape = [6], auto_pad = "SAME_UPPER"', [0, 1], [1, 0]),
]


def transposed(written: str) -> onnx.ModelProto:
    return tiny(f"[op] y = ConvTranspose <strides = [2], {written}> (x, w)", "float[1,1,3]")


@pytest.mark.parametrize(("written", "newer", "older"), SPLITS)
def test_the_odd_cell_changes_sides(written: str, newer: list[int], older: list[int]) -> None:
    for legacy, pads in ((False, newer), (True, older)):
        done = rewrite(transposed(written), passes=["plain-transpose"], legacy_split=legacy)
        assert isinstance(done.model, onnx.ModelProto)
        assert attributes(done.model)["pads"] == pads
        assert values(done.model, X3) == FULL[pads[0] : len(FULL) - pads[1]]


@pytest.mark.parametrize("rule", ["slice-transpose", "symmetric-pads-by-slice", "symmetric-pads"])
def test_every_pass_reads_alike(rule: str) -> None:
    done = rewrite(transposed('auto_pad = "SAME_UPPER"'), passes=[rule], legacy_split=True)
    assert isinstance(done.model, onnx.ModelProto)
    assert values(done.model, X3) == FULL[1:]


def test_explicit_pads_and_other_operators_stay() -> None:
    model = transposed("pads = [0, 1]")
    assert not rewrite(model, passes=["plain-transpose"], legacy_split=True).changed
    conv = tiny('[op] y = Conv <strides = [2], auto_pad = "SAME_UPPER"> (x, w)', "float[1,1,6]")
    old, new = (rewrite(conv, legacy_split=legacy).model for legacy in (True, False))
    assert old == new
    even = transposed("output_shape = [5]")
    for legacy in (False, True):
        (site,) = EditSession(even, prefer=Preferences(legacy_split=legacy)).sites_now()
        assert effective_pads(site.chain) == effective_pads(site.chain)
        done = rewrite(even, passes=["plain-transpose"], legacy_split=legacy)
        assert isinstance(done.model, onnx.ModelProto)
        assert attributes(done.model)["pads"] == [1, 1]


def test_on_the_command_line(tmp_path: Path, capsys: Captured) -> None:
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    onnx.save(transposed('auto_pad = "SAME_UPPER"'), before)
    command = ["rewrite", str(before), "--pass", "plain-transpose", "-o", str(after)]
    assert run([*command, "--legacy-split"]) == 0
    assert attributes(onnx.load(after))["pads"] == [1, 0]
    assert run(command) == 0
    assert attributes(onnx.load(after))["pads"] == [0, 1]
    capsys.readouterr()
    assert run([*command, "--legacy-split", "--validate"]) == 2
    assert "--legacy-split and --validate exclude each other" in capsys.readouterr().err
