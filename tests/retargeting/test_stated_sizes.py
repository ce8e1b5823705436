"""What a moved model says itself of the sizes that the move relied on."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import onnx
import onnx_graphsurgeon as gs
import pytest

from onnxpad import retarget
from onnxpad.cli import run
from tests.rewriting.test_stated_sizes import KEY, model, sizes

SYMMETRIC = "y = Conv <pads = [1,1,1,1], strides = [2,2]> (x, w)"
moved = partial(retarget, to="tensorflow", source="pytorch")


def test_a_size_that_was_relied_on_is_written_and_the_others_are_not() -> None:
    done = moved(model(nodes=SYMMETRIC), dims={"batch": 1, "height": 224, "width": 224})
    assert done.relied_on == {"height": 224, "width": 224}
    assert sizes(done.model.graph.input[0]) == ["batch", 1, 224, 224]
    assert not done.model.metadata_props
    onnx.checker.check_model(done.model, full_check=True)


def test_a_divisor_stands_in_the_metadata() -> None:
    done = moved(model(nodes=SYMMETRIC), dims={"height": "%2==0", "width": 224})
    assert sizes(done.model.graph.input[0]) == ["batch", 1, "height", 224]
    assert [(one.key, one.value) for one in done.model.metadata_props] == [(KEY, "height%2=0")]


def test_sizes_that_decide_nothing_are_not_written() -> None:
    done = retarget(model(), to="pytorch", dims={"height": 224, "width": 224})
    assert (done.changed, done.relied_on) == (True, {})
    assert sizes(done.model.graph.input[0]) == ["batch", 1, "height", "width"]


def test_a_model_that_pads_so_already_stays_as_it_is(tmp_path: Path) -> None:
    before, after = tmp_path / "m.onnx", tmp_path / "o.onnx"
    onnx.save(model(nodes=SYMMETRIC), before)
    retarget(before, to="pytorch", dims={"height": 224}).save(after)
    assert before.read_bytes() == after.read_bytes()


def test_a_given_model_is_left_alone() -> None:
    given = model(nodes=SYMMETRIC)
    kept = given.SerializeToString()
    moved(given, dims={"height": 224, "width": 224})
    assert given.SerializeToString() == kept


def test_a_graph_of_graphsurgeon_gets_them_too() -> None:
    graph = gs.import_onnx(model(nodes=SYMMETRIC))
    moved(graph, dims={"height": 224, "width": 224})
    assert graph.inputs[0].shape == ["batch", 1, 224, 224]


def test_the_report_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "m.onnx", tmp_path / "o.onnx"
    onnx.save(model(nodes=SYMMETRIC), path)
    dims = ["--dim", "batch=1", "--dim", "height=224", "--dim", "width%2=0"]
    way = ["--to", "tensorflow", "--source", "pytorch"]
    assert run(["retarget", str(path), *way, *dims, "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert (
        "holds where height=224, width%2=0\n"
        f"so the model itself says: height=224 in its inputs, width%2=0 in its metadata ({KEY})\n"
    ) in said
    assert sizes(onnx.load(out).graph.input[0]) == ["batch", 1, 224, "width"]
