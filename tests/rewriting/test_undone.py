"""Passes one after the other: skips that hold in the end, changes that are taken back, notes."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx_graphsurgeon as gs
from onnx import ModelProto

from onnxpad import rewrite
from tests.models.tiny import tiny

SAME = '[op] y = Conv <strides = [2], auto_pad = "SAME_UPPER"> (x, w)'
UNDOING = ("explicit-pads", "auto-pads")


def test_changes_that_take_each_other_back_are_none() -> None:
    model = tiny(SAME)
    found = rewrite(model, passes=UNDOING)
    assert [change.rule for change in found.changes] == list(UNDOING)
    (one,) = found.undone
    assert (one.node.label, one.rules) == ("op", UNDOING)
    assert not found.changed
    undoing = "explicit-pads and auto-pads undo each other"
    said = f"note: Conv 'op' is as before: {undoing}"
    counts = "m.onnx: 0 nodes rewritten, 0 skipped"
    assert found.to_text("m.onnx").splitlines() == [counts, said]
    record = found.to_json()
    assert record["undone"] == [{"node": "op", "scope": "", "passes": list(UNDOING)}]
    assert record["changed"] is False


def test_a_file_whose_changes_are_taken_back_is_written_as_it_was(tmp_path: Path) -> None:
    source, target = tmp_path / "in.onnx", tmp_path / "out.onnx"
    onnx.save(tiny(SAME), source)
    found = rewrite(source, passes=UNDOING)
    found.save(target)
    assert target.read_bytes() == source.read_bytes()
    assert isinstance(found.model, ModelProto)
    assert found.model.SerializeToString() == onnx.load(source).SerializeToString()
    assert found.script == ()


def test_a_graph_whose_changes_are_taken_back_is_not_touched() -> None:
    graph = gs.import_onnx(tiny(SAME))
    (node,) = graph.nodes
    before = dict(node.attrs)
    found = rewrite(graph, passes=UNDOING)
    assert found.model is graph
    assert not found.changed
    assert list(dict(node.attrs).items()) == list(before.items())
