"""The judge that asks a runtime: what it says of nodes, what is written then, and what is kept."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import onnxpad
from onnxpad import RequestError, RuntimeUnavailable
from tests.oracle.interpreter import run_model
from tests.probing.runtimes import (
    HEAD,
    SAME,
    SCALED,
    Array,
    attribute,
    changing,
    is_same,
    network,
    numbers,
    refusing,
    same_as_lower,
)


def answers(model: onnx.ModelProto, target: object, **options: object) -> dict[str, str]:
    """The verdict of each node."""
    found = onnxpad.inspect(model, target=target, **options)  # type: ignore[arg-type]
    (nodes,) = found.targets.values()
    return {one.node.label: one.verdict for one in nodes}


def test_refusals_and_wrong_numbers_are_told_apart() -> None:
    assert answers(SAME, refusing(is_same)) == {"first": "refuses", "third": "refuses"}
    assert answers(SAME, changing(same_as_lower)) == {
        "first": "miscomputes",
        "third": "miscomputes",
    }


def test_what_is_written_runs_right_and_is_the_same() -> None:
    for runtime in (refusing(is_same), changing(same_as_lower)):
        done = onnxpad.rewrite(SAME, target=runtime)
        assert done.run is not None
        assert done.run.ok
        assert done.run.largest_difference is not None
        assert not done.unfit
        x = numbers(1, 3, 9, 12)
        right = run_model(SAME, {"x": x})["y"]
        np.testing.assert_allclose(run_model(done.model, {"x": x})["y"], right, rtol=1e-5)


def test_what_is_not_about_padding_is_named() -> None:
    def squares(node: onnx.NodeProto) -> None:
        if node.op_type == "Mul":
            node.op_type = "Add"

    done = onnxpad.rewrite(SCALED, target=changing(squares))
    assert done.run is not None
    assert done.run.ok is False
    first = done.run.first_difference
    assert first is not None
    assert (first.tensor, first.node, first.op, first.is_padding) == ("s", "second", "Mul", False)
    assert "not about padding" in done.run.sentence


def test_what_the_table_has_against_every_form_leaves_all_to_be_run() -> None:
    model = network(
        f"{HEAD.replace('17', '20')} (float[1,2,8,8] x) => (float[1,2,4,4] y) {{"
        "[conv] y = Conv <kernel_shape = [5, 5], pads = [1, 1, 2, 2], strides = [2, 2]> (x, w)"
        "}",
        w=numbers(2, 2, 5, 5),
    )

    def objects(node: onnx.NodeProto) -> bool:
        pads = attribute(node, "pads", [0, 0])
        half = len(pads) // 2
        kernel = attribute(node, "kernel_shape", [1])
        wide = max(kernel) > 5 or max(pads) > 2
        return node.op_type == "Pad" or is_same(node) or pads[:half] != pads[half:] or wide

    done = onnxpad.rewrite(model, target=refusing(objects))
    assert not done.unfit
    assert done.run is not None
    assert done.run.ok


def test_open_sizes_are_named_where_they_are_the_cause() -> None:
    model = network(
        f"{HEAD} (float[1,2,H,W] x) => (float[1,2,H,W] y) {{"
        "[first] t = Conv <pads = [1, 1, 1, 1]> (x, w)"
        "[second] y = Conv <pads = [1, 1, 1, 1]> (t, w)"
        "}",
        w=numbers(2, 2, 3, 3),
    )

    def fixed_alone(path: str, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        read = onnx.load(path)
        if any(one.dim_param for one in read.graph.input[0].type.tensor_type.shape.dim):
            raise ValueError("open sizes")
        return run_model(read, dict(inputs))

    run = onnxpad.validate(model, target=fixed_alone).runtimes[0]
    assert (run.ok, run.refuses, run.first_difference) == (False, True, None)
    assert "--dim" in run.sentence


def test_a_pad_that_fails_alone_is_blamed_and_not_what_reads_it() -> None:
    model = network(
        f"{HEAD} (float[1,2,6,6] x) => (float[1,2,6,6] y) {{"
        '[pad] t = Pad <mode = "reflect"> (x, p)'
        "[conv] y = Conv (t, w)"
        "}",
        w=numbers(2, 2, 3, 3),
        p=np.array([0, 0, 1, 1, 0, 0, 1, 1]),
    )
    refuses_mirrors = refusing(lambda node: attribute(node, "mode") == "reflect")
    assert answers(model, refuses_mirrors) == {"pad": "refuses", "conv": "takes"}
    done = onnxpad.rewrite(model, target=refuses_mirrors)
    assert done.run is not None
    assert done.run.ok
    fuses = refusing(lambda node: node.op_type == "Conv" and node.input[0] != "x")
    assert answers(model, fuses)["pad"] == "takes"


def test_what_stands_in_front_does_not_speak_against_a_way() -> None:
    behind = network(
        f"{HEAD} (float[1,8,8,2] x) => (float[1,2,4,4] y) {{"
        "t = Transpose <perm = [0, 3, 1, 2]> (x)"
        '[conv] y = Conv <auto_pad = "SAME_UPPER", strides = [2, 2]> (t, w)'
        "}",
        w=numbers(2, 2, 3, 3),
    )

    def objects(node: onnx.NodeProto) -> bool:
        pads = attribute(node, "pads", [0] * 4)
        return node.op_type == "Transpose" or is_same(node) or pads[:2] != pads[2:]

    done = onnxpad.rewrite(behind, target=refusing(objects))
    assert [change.rule for change in done.changes] == ["symmetric-pads-by-kernel"]
    assert done.run is not None
    assert done.run.first_difference is not None
    assert done.run.first_difference.op == "Transpose"


def test_open_sizes_are_tried_at_each_rest_by_the_stride() -> None:
    model = network(
        f"{HEAD} (float[1,2,H,W] x) => (float[1,2,A,B] y) {{"
        '[conv] y = Conv <auto_pad = "SAME_UPPER", strides = [2, 2]> (x, w)'
        "}",
        w=numbers(2, 2, 3, 3),
    )
    seen: list[tuple[int, ...]] = []

    def notes(path: str, inputs: object) -> object:
        (value,) = inputs.values()  # type: ignore[attr-defined]
        seen.append(value.shape)
        return run_model(onnx.load(path), dict(inputs))  # type: ignore[call-overload]

    assert answers(model, notes) == {"conv": "takes"}
    assert {shape[2] % 2 for shape in seen} == {0, 1}
    assert answers(model, changing(same_as_lower)) == {"conv": "miscomputes"}


def test_inputs_are_signed() -> None:
    """A max that pads with 0 shows below 0 alone, an average that counts pads above it."""
    drawn: list[np.ndarray] = []

    def notes(path: str, inputs: object) -> object:
        drawn.extend(inputs.values())  # type: ignore[attr-defined]
        return run_model(onnx.load(path), dict(inputs))  # type: ignore[call-overload]

    answers(SAME, notes)
    signs = {(bool((x < 0).all()), bool((x > 0).all())) for x in drawn}
    assert signs == {(False, False), (True, False), (False, True)}


def test_no_way_names_what_the_runtime_lacks() -> None:
    def run(path: str, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        model = onnx.load(path)
        for node in model.graph.node:
            pads = attribute(node, "pads", [0] * 4)
            if is_same(node) or pads[:2] != pads[2:]:
                raise ValueError("no auto_pad" if is_same(node) else "no asymmetric pads")
            if node.op_type not in ("Relu", "MaxPool"):
                raise ValueError(f"no {node.op_type}")
        return run_model(model, dict(inputs))

    model = network(
        f"{HEAD} (float[1,2,6,6] x) => (float[1,2,6,6] y) {{"
        '[pool] y = MaxPool <auto_pad = "SAME_UPPER", kernel_shape = [4, 4]> (x)'
        "}"
    )
    (verdict,) = onnxpad.rewrite(model, target=run).unfit
    left = getattr(verdict.way, "remaining", ())
    lacks = [one.judgement.reason.removeprefix("ValueError: no ") for one in left]
    assert {"auto_pad", "asymmetric pads", "Slice"} < set(lacks)
    assert len(set(lacks)) == len(lacks) == 4


def test_bytes_are_judged_between_their_conversions() -> None:
    """A runtime may hold uint8 as int8, and give that where a model ends there."""
    model = onnx.parser.parse_model(
        f"{HEAD} (float[1,2,6,6] x) => (float[1,2,5,5] y)"
        "<float s = {0.02}, uint8 z = {100}> {"
        "q = QuantizeLinear (x, s, z)"
        "[pool] t = MaxPool <kernel_shape = [2, 2]> (q)"
        "y = DequantizeLinear (t, s, z)"
        "}"
    )

    def shifting(path: str, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        right = run_model(onnx.load(path), dict(inputs))
        return {
            name: value ^ np.uint8(128) if value.dtype == np.uint8 else value
            for name, value in right.items()
        }

    assert answers(model, shifting) == {"pool": "takes"}


FILE = """
    import os, time
    import onnx
    {imports}
    def run(model, inputs):
        graph = onnx.load(model).graph
        kinds = [node.op_type for node in graph.node]
        with open({log!r}, "a") as file:
            file.write("ran" + chr(10))
        if kinds == ["Conv"] and "auto_pad" in str(graph):
            {does}
        from tests.oracle.interpreter import run_model
        return run_model(onnx.load(model), inputs)
"""


def written(folder: Path, does: str) -> tuple[str, Path]:
    """A runtime as a file, and the file where it notes its runs."""
    log, file = folder / "log.txt", folder / "runtime.py"
    root = str(Path(__file__).parents[2])
    imports = f"import sys; sys.path.insert(0, {root!r})"
    text = textwrap.dedent(FILE).format(imports=imports, log=str(log), does=does)
    file.write_text(text, encoding="utf-8")
    return str(file), log


@pytest.mark.parametrize("does", ["os.kill(os.getpid(), 9)", "time.sleep(60)"])
def test_a_crash_and_a_hang_lose_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    monkeypatch.setenv("ONNXPAD_CACHE", str(tmp_path / "cache"))
    file, _ = written(tmp_path, does)
    assert answers(SAME, file, timeout=2) == {"first": "refuses", "third": "takes"}


def test_answers_of_a_known_runtime_are_kept_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONNXPAD_CACHE", str(tmp_path / "cache"))

    def runs(**options: object) -> int:
        steps: list[str] = []
        answers(SAME, "onnxruntime", live=True, progress=steps.append, **options)
        return sum("running probe" in step for step in steps)

    first = runs()
    assert first
    assert runs() == 0
    assert runs(cache=False) == first


def test_targets_that_run_nowhere_and_releases_that_are_not_here() -> None:
    with pytest.raises(RequestError, match="candle"):
        onnxpad.inspect(SAME, target="candle", live=True)
    with pytest.raises(RuntimeUnavailable, match="CoreML"):
        onnxpad.inspect(SAME, target="coreml", live=True)
    with pytest.raises(RequestError, match=r"1\.17"):
        onnxpad.inspect(SAME, target="onnxruntime@1.17", live=True)
    with pytest.raises((RuntimeUnavailable, RequestError), match="onnx2torch"):
        onnxpad.inspect(SAME, target="onnx2torch", live=True)
    with pytest.raises(RequestError, match="target"):
        onnxpad.rewrite(SAME, live=True)


def test_of_all_targets_those_that_are_here_answer() -> None:
    found = onnxpad.inspect(SAME, target="all", live=True)
    measured = {name for name, nodes in found.targets.items() if nodes[0].judgement.measured}
    assert "onnxruntime" in measured
    assert "candle" not in measured
    assert measured == set(found.ran)


def test_onnxruntime_does_not_judge_itself() -> None:
    overhanging = network(
        '<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]> g '
        "(uint8[1,1,5,5] x) => (uint8[1,1,3,3] y) <float s = {0.1}, uint8 z = {128}> {"
        "y = com.microsoft.QLinearAveragePool <kernel_shape = [2, 2], strides = [2, 2],"
        " ceil_mode = 1, count_include_pad = 1> (x, s, z, s, z) }"
    )
    assert onnxpad.validate(overhanging, target="onnxruntime").verdict == "different"
    done = onnxpad.rewrite(overhanging, target="onnxruntime", live=True)
    assert done.run is not None
    assert done.run.ok


def nothing(_model: str, _inputs: object) -> dict[str, Any]:
    return {}


MISSING = f"{sys.executable} nosuch.py {{model}} {{inputs}} {{outputs}}"


@pytest.mark.parametrize(
    ("ask", "runtime"),
    [
        (onnxpad.inspect, nothing),
        (onnxpad.inspect, MISSING),
        (onnxpad.rewrite, nothing),
        (onnxpad.validate, nothing),
    ],
)
def test_a_runtime_that_runs_nothing_is_told_from_one_that_refuses(ask: Any, runtime: Any) -> None:
    with pytest.raises(RuntimeUnavailable, match="neither a Relu nor a Conv: "):
        ask(SAME, target=runtime)


@pytest.mark.parametrize("only", ["Relu", "Conv"])
def test_a_runtime_that_runs_a_relu_or_a_conv_refuses_a_model(only: str) -> None:
    runtime = refusing(lambda node: is_same(node) or node.op_type == only)
    assert onnxpad.validate(SAME, target=runtime).verdict == "different"


FUNCTIONS = next(Path(__file__).parents[2].glob("models/*attr_functions.onnx"))


@pytest.mark.parametrize("reads", [False, True])
def test_functions_are_written_out_for_a_runtime_that_refuses_them(*, reads: bool) -> None:
    def runtime(path: str, inputs: Any) -> Any:
        if onnx.load(path).functions and not reads:
            raise ValueError("no functions here")
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        names = [one.name for one in session.get_outputs()]
        return dict(zip(names, session.run(names, inputs), strict=True))

    (found,) = onnxpad.inspect(FUNCTIONS, target=runtime).targets.values()
    assert [one.op for one in found if one.judgement.answer.fails] == [
        "call of a local function"
    ] * (not reads)
    done = onnxpad.rewrite(FUNCTIONS, target=runtime)
    assert bool(done.inlined) is not reads
    assert [run.ok for run in done.runs] == [True]


def test_sizes_are_run_at_which_the_original_has_numbers() -> None:
    divided = network(
        f"{HEAD} (float[1,1,h,w] x) => (float[1,1,h,w] y) {{"
        "s = Shape <start = 3> (x) f = Cast <to = 1> (s)"
        "limit = Constant <value = float[1] {40}> () over = Greater (f, limit)"
        "zero = Cast <to = 1> (over)"
        "z = Div (x, zero)"
        '[conv] y = Conv <auto_pad = "SAME_UPPER", kernel_shape = [1, 1]> (z, k)'
        "}",
        k=numbers(1, 1, 1, 1),
    )
    done = onnxpad.rewrite(divided, target=refusing(lambda _: False))
    assert done.run is not None
    assert done.run.shapes is not None
    assert done.run.shapes["x"][3] > 40


def test_what_cannot_be_run_gets_no_way() -> None:
    open_inside = network(
        f"{HEAD} (float[1,2,h,8] x, int64[4] sizes) => (float[1,3,a,b] y) {{"
        "r = Reshape (x, sizes)"
        '[conv] y = Conv <auto_pad = "SAME_UPPER", strides = [2, 2]> (r, w)'
        "}",
        w=numbers(3, 2, 3, 3),
    )
    done = onnxpad.rewrite(open_inside, target=refusing(is_same))
    assert not done.changes


NOTHING_STARTS = """
import sys
def refuse(event, arguments):
    if event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec"):
        raise SystemExit(f"started: {event} {arguments!r}")
sys.addaudithook(refuse)
import onnxpad
model = sys.argv[1]
onnxpad.inspect(model, target=["opencv", "ncnn", "openvino"])
onnxpad.rewrite(model, target="opencv")
foreign = {"cv2", "ncnn", "openvino", "MNN", "tvm", "iree", "torch", "tensorflow", "onnxruntime"}
assert not foreign & set(sys.modules), foreign & set(sys.modules)
assert not [name for name in sys.modules if name.startswith("onnxpad.runtimes.running")]
"""


def test_without_live_nothing_is_started_and_nothing_foreign_imported(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(SAME, path)
    done = subprocess.run(
        [sys.executable, "-c", NOTHING_STARTS, path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr or done.stdout
