"""What a rewritten model says itself of the sizes that its rewrite relied on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import onnx
import onnx_graphsurgeon as gs
import pytest

from onnxpad import RequestError, inspect, retarget, rewrite, validate
from tests.models.text import text_model
from tools.benchmarks.networks import Network

Sizes = list[int | str]
KEY = "onnxpad.holds_where"


def model(**given: str) -> onnx.ModelProto:
    nodes = given.get("nodes", 'y = Conv <auto_pad = "SAME_UPPER", strides = [2,2]> (x, w)')
    ones = ",".join("1" * 9)
    weights = f"float[1,1,3,3] w = {{{ones}}}"
    where = given.get("inputs", "float[batch,1,height,width] x")
    made = "float[batch,1,height,b] y"
    return text_model(nodes, where, outputs=made, constants=weights, opset=17)


def sizes(value: onnx.ValueInfoProto) -> Sizes:
    return [dim.dim_value or dim.dim_param for dim in value.type.tensor_type.shape.dim]


SYMMETRIC = "y = Conv <pads = [1,1,1,1], strides = [2,2]> (x, w)"
moved = partial(retarget, to="tensorflow", source="pytorch")
both_verbs = pytest.mark.parametrize(
    ("verb", "before"),
    [(rewrite, model()), (moved, model(nodes=SYMMETRIC))],
    ids=["rewrite", "retarget"],
)


@both_verbs
def test_sizes_that_are_stated_are_written(
    verb: Callable[..., Any], before: onnx.ModelProto
) -> None:
    given = before.SerializeToString()
    done = verb(before, dims={"height": 224, "width": 224})
    assert done.relied_on == {"height": 224, "width": 224}
    assert sizes(done.model.graph.input[0]) == ["batch", 1, 224, 224]
    assert not done.model.metadata_props
    onnx.checker.check_model(done.model, full_check=True)
    assert before.SerializeToString() == given
    graph = gs.import_onnx(before)
    verb(graph, dims={"height": 224, "width": 224})
    assert graph.inputs[0].shape == ["batch", 1, 224, 224]


def test_what_is_called_alike_elsewhere_is_not_believed() -> None:
    """Exporters take one name for the height of every input and output."""
    done = rewrite(model(), dims={"height": 224, "width": 224})
    assert sizes(done.model.graph.output[0])[2] == "height"


@both_verbs
def test_a_divisor_stands_in_the_metadata(
    verb: Callable[..., Any], before: onnx.ModelProto
) -> None:
    done = verb(before, dims={"height": "%2==0", "width": 224})
    assert sizes(done.model.graph.input[0]) == ["batch", 1, "height", 224]
    assert [(one.key, one.value) for one in done.model.metadata_props] == [(KEY, "height%2=0")]
    assert not verb(done.model).changed


def test_sizes_that_decide_nothing_are_not_written(tmp_path: Path) -> None:
    same = 'y = Conv <auto_pad = "SAME_UPPER"> (x, w)'
    dims: dict[str, int | str] = {"height": 224, "width": "%2=0"}
    for done in (
        rewrite(model(nodes=same), dims=dims),
        retarget(model(), to="pytorch", dims=dims),
    ):
        assert (done.changed, done.relied_on) == (True, {})
        assert sizes(done.model.graph.input[0]) == ["batch", 1, "height", "width"]
        assert not done.model.metadata_props
    before, after = tmp_path / "m.onnx", tmp_path / "o.onnx"
    onnx.save(model(nodes=SYMMETRIC), before)
    for done in (rewrite(before, dims=dims), retarget(before, to="pytorch", dims=dims)):
        done.save(after)
        assert (done.relied_on, after.read_bytes()) == ({}, before.read_bytes())


def test_an_input_without_names_gets_its_size() -> None:
    done = rewrite(model(inputs="float[batch,1,?,16] x"), dims={"x[2]": 8})
    assert sizes(done.model.graph.input[0]) == ["batch", 1, 8, 16]


def told(text: str) -> onnx.ModelProto:
    """The model that says this of its sizes in its metadata."""
    found = model()
    found.metadata_props.add(key=KEY, value=text)
    return found


def test_what_a_rewrite_wrote_is_read_again() -> None:
    """The rewritten file is judged where it is right, and says so."""
    done = rewrite(model(), dims={"height": "%2=0", "width": "%2=0"})
    found = inspect(done.model)
    assert found.recorded == {"height": "%2=0", "width": "%2=0"}
    assert f"says in its metadata ({KEY})" in found.to_text()
    compared = validate(model(), done.model, proof_only=True)
    assert compared.verdict == "proved"
    assert compared.proof is not None
    assert compared.proof.dims == {"height": "%2=0", "width": "%2=0"}
    assert any(KEY in one for one in compared.warnings)


@pytest.mark.parametrize(
    ("recorded", "given"), [("height%4=0", 9), ("height%4=0", "%2=1"), ("height=8", "%3=0")]
)
def test_a_fact_that_contradicts_the_file_is_an_error(recorded: str, given: int | str) -> None:
    with pytest.raises(RequestError, match="says of itself in its metadata"):
        inspect(told(recorded), dims={"height": given})


def test_the_batch_that_a_target_takes_is_written_where_it_decides_no_edit() -> None:
    net = Network()
    net.shape = ("N", 3, "H", "W")
    net.same_conv(4, 5, 2)
    done = rewrite(net.model(), target="ncnn", dims={"N": 1, "H": "%2=0", "W": "%2=0"})
    assert done.relied_on == {"N": 1, "H": "%2=0", "W": "%2=0"}
    assert sizes(done.model.graph.input[0]) == [1, 3, "H", "W"]
    found = inspect(done.model, target="ncnn")
    assert {one.judgement.answer for one in found.targets["ncnn"]} == {"takes"}


def open_batch() -> onnx.ModelProto:
    """A model of which ncnn is known to take all as it is, where the batch is 1."""
    return model(nodes="y = Conv <pads = [1,1,1,1]> (x, w)", inputs="float[N,1,height,width] x")


def test_a_size_that_decides_verdicts_alone_is_written() -> None:
    """Else inspect asks for it for ever."""
    before = inspect(open_batch(), target="ncnn").targets["ncnn"]
    assert {one.judgement.answer for one in before} == {"unknown"}
    done = rewrite(open_batch(), target="ncnn", dims={"N": 1})
    assert (done.changes, done.relied_on) == ((), {"N": 1})
    assert sizes(done.model.graph.input[0]) == [1, 1, "height", "width"]
    after = inspect(done.model, target="ncnn").targets["ncnn"]
    assert {one.judgement.answer for one in after} == {"takes"}
    again = rewrite(done.model, target="ncnn")
    assert not again.changed


def test_a_size_that_decides_no_verdict_leaves_the_file_as_it_is() -> None:
    for target in ("opencv", None):
        done = rewrite(open_batch(), target=target, dims={"N": 1, "height": 640})
        assert (done.changed, done.relied_on) == (False, {})
