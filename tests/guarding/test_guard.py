"""`guard`: a command is believed only where what it wrote is the same."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import onnx
import onnx_graphsurgeon as gs
import pytest
from onnx import ModelProto, numpy_helper, parser

import onnxpad
from tests.command import run

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,N,N] x) => (float[1,4,H,H] y) <float[4,3,3,3] w = {WEIGHTS}> {
  [stem] a = Conv<kernel_shape=[3,3], strides=[2,2], PADS>(x, w)
  [neg] b = Neg(a)
  [pool] y = MaxPool<kernel_shape=[2,2]>(b)
}"""
SAME, WRONG = 'auto_pad="SAME_UPPER"', "pads=[1,1,1,1]"
WRITE = "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[-1])"

OUTSIDE: dict[str, Any] = {
    "save_as_external_data": True,
    "location": "w.bin",
    "size_threshold": 0,
}


def model(pads: str) -> ModelProto:
    weights = ", ".join(str((7 * i % 11) - 5) for i in range(4 * 27))
    made = parser.parse_model(TEXT.replace("WEIGHTS", weights).replace("PADS", pads))
    held = made.graph.initializer[0]
    held.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(held), held.name))
    return made


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read, a copy, and what a tool makes of it that is wrong."""
    monkeypatch.chdir(tmp_path)
    onnx.save(model(SAME), "a.onnx")
    onnx.save(model(SAME), "same")
    onnx.save(model(WRONG), "wrong")


def tool(source: str, *words: str) -> list[str]:
    """A command that writes one of the files where its last word says."""
    return [sys.executable, "-c", WRITE, source, *words]


def test_a_right_one_is_proved() -> None:
    found = onnxpad.guard(tool("same", "a.onnx", "b.onnx"))
    assert found.ok
    assert found.validation.verdict == "proved"
    assert (found.before, found.after, found.culprit) == ("a.onnx", "b.onnx", None)


def test_a_wrong_one_is_named_and_shown(capfd: pytest.CaptureFixture[str]) -> None:
    line = ["guard", "--reproduce", "shown", "--", *tool("wrong", "a.onnx", "b.onnx")]
    assert run(line) == 1
    said = capfd.readouterr().out
    assert "auto_pad was SAME_UPPER and is not written" in said
    assert "Conv 'stem'" in said
    shown = [f"shown/{name}" for name in ("before.onnx", "after.onnx")]
    for one in shown:
        assert [node.op_type for node in onnx.load(one).graph.node] == ["Conv"]
    assert run(["validate", *shown, "--inputs", "shown/inputs.npz"]) == 1


def test_it_is_shown_at_the_sizes_that_were_given() -> None:
    found = onnxpad.guard(tool("wrong", "a.onnx", "b.onnx"), dims={"N": 50}, run_only=True)
    assert found.culprit is not None
    assert found.culprit.inputs["x"].shape == (1, 3, 50, 50)


def test_one_file_that_is_read_and_written() -> None:
    found = onnxpad.guard(tool("wrong", "a.onnx"), before="a.onnx", after="a.onnx")
    assert found.validation.verdict == "different"
    assert onnxpad.guard(tool("wrong", "a.onnx"), before="a.onnx", after="a.onnx").ok


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("false", "a.onnx", "b.onnx"), "'false' failed with exit code 1"),
        (("true", "a.onnx", "b.onnx"), "did not write 'b.onnx'"),
        (
            ("no-such-tool", "a.onnx", "b.onnx"),
            "cannot be started: No such file",
        ),
        (("cp", "a.onnx", "b"), "1 words of the command end in .onnx"),
        (("true", "none.onnx", "b.onnx"), "none.onnx"),
        (("sh", "-c", "cp wrong b.onnx; cp wrong a.onnx;", "a.onnx", "b.onnx"), "changed 'a.onnx'"),
    ],
)
def test_what_cannot_be_compared(
    capfd: pytest.CaptureFixture[str], command: tuple[str, ...], said: str
) -> None:
    assert run(["guard", "--", *command]) == 2
    assert said in capfd.readouterr().err


def test_an_old_output_is_not_taken_for_a_new_one() -> None:
    onnx.save(model(SAME), "b.onnx")
    with pytest.raises(onnxpad.RequestError, match=r"did not write 'b\.onnx'"):
        onnxpad.guard(["true", "a.onnx", "b.onnx"])


def test_weights_in_other_files_are_not_kept_in_memory() -> None:
    onnx.save(model(SAME), "big.onnx", **OUTSIDE)
    with pytest.raises(onnxpad.RequestError, match="let the command write another file"):
        onnxpad.guard(["true"], before="big.onnx", after="big.onnx")
    assert onnxpad.guard(["cp", "big.onnx", "b.onnx"]).ok
    assert onnxpad.guarded(lambda path: path)("big.onnx") == "big.onnx"
    with pytest.raises(onnxpad.RequestError, match=r"changed 'big\.onnx'"):
        onnxpad.guarded(lambda path: Path(path).with_name("w.bin").touch())("big.onnx")
    onnx.save(model(WRONG), "bad.onnx", **OUTSIDE | {"location": "v.bin"})
    found = onnxpad.guard(["cp", "bad.onnx", "c.onnx"], before="big.onnx", after="c.onnx")
    assert found.culprit is not None
    assert not found.culprit.models[0].graph.initializer[0].external_data


def test_functions_are_guarded_too() -> None:
    @onnxpad.guarded
    def spoils(given: ModelProto) -> None:
        given.graph.node[0].attribute[-1].s = b"SAME_LOWER"

    @onnxpad.guarded(samples=1)
    def keeps(path: str, *, out: str) -> str:
        onnx.save(onnx.load(path), out)
        return out

    @onnxpad.guarded
    def shrinks(graph: gs.Graph) -> gs.Graph:
        graph.nodes[0].attrs.update(auto_pad="VALID")
        return graph

    with pytest.raises(onnxpad.GuardRefused, match="was SAME_UPPER and is SAME_LOWER") as refused:
        spoils(model(SAME))
    assert refused.value.found.culprit is not None
    assert keeps("a.onnx", out="b.onnx") == "b.onnx"
    with pytest.raises(onnxpad.GuardRefused, match="different"):
        shrinks(gs.import_onnx(model(SAME)))
