"""What follows from another output size: sizes that the file states, and nodes that break."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from onnx import ModelProto, numpy_helper

from onnxpad import retarget
from tests.command import run
from tests.models.text import text_model
from tests.retargeting.running import outputs, signed

POOL = "[pool] p = MaxPool <kernel_shape = [3, 1], strides = [2, 1]> (x)"


def dims(model: ModelProto, name: str) -> list[int | str] | None:
    for value in (*model.graph.value_info, *model.graph.output):
        if value.name == name:
            tensor = value.type.tensor_type
            if not tensor.HasField("shape"):
                return None
            return [dim.dim_value or dim.dim_param for dim in tensor.shape.dim]
    return None


def classifier(tail: str, constants: str = "") -> ModelProto:
    weight = numpy_helper.from_array(signed(0, 6, 4), "w")
    nodes, given = f"{POOL} {tail}", "float[1,2,8,1] x"
    model = text_model(nodes, given, outputs="float[1,4] y", constants=constants)
    model.graph.initializer.append(weight)
    return model


def test_a_flatten_and_gemm_that_no_longer_fit_are_said() -> None:
    model = classifier("[flat] f = Flatten (p) [fc] y = Gemm (f, w)")
    found = retarget(model, to="caffe")
    assert [one.node.label for one in found.changes] == ["pool"]
    assert found.changes[0].resized
    assert found.changes[0].output_before == ("3", "1")
    assert found.changes[0].output_after == ("4", "1")
    assert len(found.breaks) == 1
    assert found.breaks[0].startswith("Gemm 'fc':")
    assert not retarget(model, to="tensorflow").breaks


def test_a_reshape_to_fixed_sizes_is_said() -> None:
    model = classifier(
        "[flat] f = Reshape (p, shape) [fc] y = Gemm (f, w)", constants="int64[2] shape = {1, 6}"
    )
    assert retarget(model, to="caffe").breaks == ("Reshape 'flat': 8 cells do not fit into [1, 6]",)


def test_nothing_is_written_where_something_breaks(
    tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = f"{tmp_path}/m.onnx", f"{tmp_path}/o.onnx"
    onnx.save(classifier("[flat] f = Flatten (p) [fc] y = Gemm (f, w)"), source)
    assert run(["retarget", source, "--to", "caffe", "-o", target]) == 1
    said = capsys.readouterr()
    assert "breaks: Gemm 'fc'" in said.out
    assert "nothing written" in said.err
    with pytest.raises(FileNotFoundError):
        onnx.load(target)


def test_stated_sizes_that_change_are_left_open() -> None:
    second = "[second] y = MaxPool <kernel_shape = [2, 1], strides = [2, 1]> (r)"
    model = text_model(
        f"{POOL} [act] r = Relu (p) {second}", "float[1,2,8,1] x", outputs="float[1,2,1,1] y"
    )
    for name, size in (("p", 3), ("r", 3)):
        model.graph.value_info.append(onnx.helper.make_tensor_value_info(name, 1, [1, 2, size, 1]))
    found = retarget(model, to="caffe")
    moved = found.model
    assert isinstance(moved, ModelProto)
    assert [dims(moved, name) for name in ("p", "r", "y")] == [
        [1, 2, "", 1],
        [1, 2, "", 1],
        [1, 2, "", 1],
    ]
    onnx.checker.check_model(moved, full_check=True)
    assert outputs(moved, signed(1, 1, 2, 8, 1))[0].shape == (1, 2, 2, 1)
    assert dims(model, "p") == [1, 2, 3, 1]


def test_sizes_that_nobody_can_tell_are_not_stated_any_more() -> None:
    model = text_model(
        f"{POOL} [own] y = com.microsoft.Unheard (p) [side] z = com.microsoft.Unheard (x)",
        "float[1,2,8,1] x",
        outputs="float[1,2,3,1] y, float[1,2,8,1] z",
    )
    moved = retarget(model, to="caffe").model
    assert isinstance(moved, ModelProto)
    assert dims(moved, "y") == ["", "", "", ""]
    assert dims(moved, "z") == [1, 2, 8, 1]
    graph = gs.import_onnx(model)
    retarget(graph, to="caffe")
    assert graph.outputs[0].shape == [None] * 4


def test_padding_behind_a_pool_that_grew_is_worked_out_anew() -> None:
    """7 cells become 8: SAME of the second node pads otherwise then."""
    model = text_model(
        f"{POOL} [next] y = Conv <strides = [2, 1], pads = [1, 0, 1, 0]> (p, k)",
        "float[1,1,16,1] x",
        constants="float[1,1,3,1] k = {1, 10, 100}",
    )
    plan = {"nodes": [{"node": "pool", "ceil_mode": 1}]}
    grown = retarget(model, plan=plan).model
    assert isinstance(grown, ModelProto)
    both = retarget(grown, to="tensorflow")
    assert [one.node.label for one in both.changes] == ["next"]
    assert not retarget(model, to="tensorflow").changed


def test_bodies_and_graphs_follow_too() -> None:
    body = f"then_branch = g1 () => (float[1,2,3,1] p) {{ {POOL} }}"
    other = body.replace("g1", "g2").replace("then", "else").replace("[pool]", "[pool2]")
    model = text_model(f"y = If <{body}, {other}> (c)", "float[1,2,8,1] x, bool c", outputs="y")
    moved = retarget(model, to="caffe")
    assert {one.node.label for one in moved.changes} == {
        "y.then_branch/pool",
        "y.else_branch/pool2",
    }
    result = moved.model
    assert isinstance(result, ModelProto)
    found = outputs(result, {"x": signed(2, 1, 2, 8, 1), "c": np.array(True)})
    assert found[0].shape == (1, 2, 4, 1)


SIZES_OF_MINUS_1 = """
import onnx
from onnxpad import retarget
model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 17]>
 g (float[1,2,-1,-1] x) => (float[a,b,c,d] y)
  <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] minus = {-1}>
  { s = Slice(x, zero, minus, two) y = MaxPool<kernel_shape = [3, 3], strides = [2, 2]>(s) }''')
print(len(retarget(model, to="caffe").changes))
"""


def test_sizes_that_the_file_states_as_minus_1_are_not_known() -> None:
    """In a process of its own, which inference would end."""
    command = [sys.executable, "-c", SIZES_OF_MINUS_1]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1\n"


MIRRORED = (
    '[pad] t = Pad <mode = "reflect"> (x, p) '
    "[pool] y = MaxPool <kernel_shape = [3], strides = [STRIDE], pads = [1, 1]> (t)"
)


@pytest.mark.parametrize("stride", [1, 2])
def test_a_size_that_stays_is_no_other_size(
    stride: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mirror has too few cells at some open size: the windows do not, as many as before."""
    model = text_model(
        MIRRORED.replace("STRIDE", str(stride)),
        "float[1,1,H] x",
        outputs="float[1,1,o] y",
        constants="int64[6] p = {0, 0, 1, 0, 0, 1}",
    )
    onnx.save(model, tmp_path / "m.onnx")
    assert run(["retarget", str(tmp_path / "m.onnx"), "--to", "tensorflow", "--check"]) == 1
    assert "size)" not in capsys.readouterr().out
    (move,) = retarget(model, to="tensorflow").changes
    assert move.output_before == move.output_after
    assert not move.resized


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("8", "(1 with another output size)"),
        ("H", "(1 whose output may have another size)"),
        ("9", ""),
    ],
)
def test_of_an_open_size_it_is_said_that_it_may_change(
    rows: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rounding up gives another row only where the size is even."""
    model = text_model(POOL.replace("p =", "y ="), f"float[1,2,{rows},1] x")
    onnx.save(model, tmp_path / "m.onnx")
    line = ["retarget", str(tmp_path / "m.onnx"), "--to", "caffe", "--dry-run"]
    assert run(line) == 0
    printed = capsys.readouterr().out
    assert said in printed
    assert ("size)" in printed) is bool(said)
