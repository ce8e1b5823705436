"""Passes one after the other: skips that hold in the end, changes that are taken back, notes."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx_graphsurgeon as gs
import pytest
from onnx import ModelProto

from onnxpad.rewriting.rewrite import Rewriting, rewrite
from onnxpad.show.rewritings import rewriting_document
from tests.models.text import padded
from tests.models.tiny import tiny

W = "float[1,1,3] w = {1, 10, 100}"
SAME = '[op] y = Conv <strides = [2], auto_pad = "SAME_UPPER"> (x, w)'
COUNTED = (
    "[op] y = AveragePool <kernel_shape = [3], strides = [2], pads = [1, 1], ceil_mode = 1, "
    "count_include_pad = 1> (x)"
)
CROPS = "[op] y = ConvTranspose <strides = [2], pads = [1, 1], output_padding = [1]> (x, w)"
MORE = " [two] y = ConvTranspose <strides = [3], output_padding = [2]> (z, w)"
MOOT = "nothing was changed"
UNDOING = ("output-padding-by-pad", "symmetric-pads")


def skipped(found: Rewriting) -> list[str]:
    return [skip.rule for skip in found.skips]


def test_a_skip_goes_where_a_later_pass_took_the_form_away() -> None:
    model = tiny(COUNTED, "float[1,1,6]")
    assert skipped(rewrite(model, passes="floor-pool")) == ["floor-pool"]
    found = rewrite(model, passes=["floor-pool", "counted-padding"])
    assert found.changed
    assert found.skips == ()


def test_a_skip_stays_where_a_later_pass_left_the_form() -> None:
    model = tiny(
        '[op] a = AveragePool <kernel_shape = [3], strides = [2], auto_pad = "SAME_UPPER", '
        "count_include_pad = 1> (x) [two] y = AveragePool <kernel_shape = [2], pads = [1, 1], "
        "count_include_pad = 1> (a)",
        "float[1,1,n]",
    )
    found = rewrite(model, passes=["explicit-pads", "counted-padding"])
    assert [change.node.label for change in found.changes] == ["two"]
    assert skipped(found) == ["explicit-pads", "counted-padding"]


def test_what_the_next_pass_writes_is_no_skip_of_the_first() -> None:
    passes = ["explicit-pads", "runtime-pads"]
    found = rewrite(tiny(SAME, "float[1,1,n]"), passes=passes)
    assert [change.rule for change in found.changes] == ["runtime-pads"]
    assert found.skips == ()


def test_changes_that_take_each_other_back_are_none() -> None:
    model = tiny(CROPS)
    found = rewrite(model, passes=UNDOING)
    assert [change.rule for change in found.changes] == list(UNDOING)
    (one,) = found.undone
    assert (one.node.label, one.rules, one.form) == ("op", UNDOING, "output_padding")
    assert not found.changed
    said = (
        "note: ConvTranspose 'op' is as before: output-padding-by-pad and symmetric-pads undo "
        "each other; onnxpad explain output_padding says what goes together"
    )
    counts = "m.onnx: 0 nodes would be rewritten, 0 skipped"
    assert str(rewriting_document("m.onnx", None, found)).splitlines() == [counts, MOOT, said]
    record = found.to_json()
    assert record["undone"] == [{"node": "op", "scope": "", "passes": list(UNDOING)}]
    assert record["changed"] is False


def test_a_file_whose_changes_are_taken_back_is_written_as_it_was(tmp_path: Path) -> None:
    source, target = tmp_path / "in.onnx", tmp_path / "out.onnx"
    onnx.save(tiny(CROPS), source)
    found = rewrite(source, passes=UNDOING)
    found.save(target)
    assert target.read_bytes() == source.read_bytes()
    assert isinstance(found.model, ModelProto)
    assert found.model.SerializeToString() == onnx.load(source).SerializeToString()
    assert found.script == ()


def test_a_graph_whose_changes_are_taken_back_is_not_touched() -> None:
    graph = gs.import_onnx(tiny(CROPS))
    (node,) = graph.nodes
    before = dict(node.attrs)
    found = rewrite(graph, passes=UNDOING)
    assert found.model is graph
    assert not found.changed
    assert list(dict(node.attrs).items()) == list(before.items())


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(tiny(CROPS.replace("pads = [1, 1]", "pads = [1, 0]")), id="another chain"),
        pytest.param(tiny(CROPS.replace("[op] y", "[op] z") + MORE), id="another node"),
    ],
)
def test_other_changes_count(model: ModelProto) -> None:
    found = rewrite(model, passes=UNDOING)
    assert found.changed
    assert "two" not in [one.node.label for one in found.undone]


def test_a_pad_that_comes_anew_is_a_change() -> None:
    """absorb-pad and split-pads: the Pad node is another one, with another name."""
    model = padded("[op] y = Conv (p, w)", "0, 0, 1, 0, 0, 1", more=W)
    found = rewrite(model, passes=["absorb-pad", "split-pads"])
    assert found.changed
    assert found.undone == ()
