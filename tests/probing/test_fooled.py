"""What would make the judge say that a runtime runs right where it does not, or the reverse."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import onnxpad

Array = np.ndarray[Any, Any]
X = np.ones((1, 1, 4, 4), np.float32)


def run_model(model: onnx.ModelProto, inputs: dict[str, Array]) -> dict[str, Array]:
    outputs = [value.name for value in model.graph.output]
    return dict(zip(outputs, ReferenceEvaluator(model).run(None, inputs), strict=True))


def padded(*more: onnx.NodeProto, output: str, kind: int, shape: tuple[int, ...]) -> Any:
    """A Conv with SAME_UPPER from 'x' to 'y', and what reads that."""
    w = np.random.default_rng(0).standard_normal((3, 1, 3, 3)).astype(np.float32)
    conv = helper.make_node("Conv", ["x", "w"], ["y"], auto_pad="SAME_UPPER")
    graph = helper.make_graph(
        [conv, *more],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [helper.make_tensor_value_info(output, kind, shape)],
        [onnx.numpy_helper.from_array(w, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


PLAIN = padded(output="y", kind=TensorProto.FLOAT, shape=(1, 3, 4, 4))


def spoiling(spoil: Callable[[Array], Any]) -> Callable[..., Mapping[str, Any]]:
    """A runtime that computes right, and changes every output then."""

    def run(model: str, inputs: Mapping[str, Array]) -> Mapping[str, Any]:
        found = run_model(onnx.load(model), dict(inputs))
        return {name: spoil(value) for name, value in found.items()}

    return run


def test_labels_of_one_byte_are_no_steps() -> None:
    most = helper.make_node("ArgMax", ["y"], ["a"], axis=1)
    cast = helper.make_node("Cast", ["a"], ["l"], to=TensorProto.UINT8)
    model = padded(most, cast, output="l", kind=TensorProto.UINT8, shape=(1, 1, 4, 4))
    found = onnxpad.validate(model, target=spoiling(lambda value: (value + 1) % 3))
    assert not found.ok
    assert onnxpad.validate(model, target=spoiling(lambda value: value)).ok


def test_what_computes_nothing_shows_nothing() -> None:
    absolute = helper.make_node("Abs", ["y"], ["a"])
    negative = helper.make_node("Neg", ["a"], ["n"])
    root = helper.make_node("Log", ["n"], ["l"])
    model = padded(absolute, negative, root, output="l", kind=TensorProto.FLOAT, shape=(1, 3, 4, 4))
    found = onnxpad.validate(model, target=spoiling(lambda value: value * 2))
    assert found.verdict == "unverified"
    assert "give inputs of your own" in found.reason


def test_a_sequence_is_not_compared() -> None:
    pair = helper.make_node("SequenceConstruct", ["y", "y"], ["s"])
    model = padded(pair, output="s", kind=TensorProto.FLOAT, shape=())
    model.graph.output[0].CopyFrom(
        helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    )
    found = onnxpad.validate(model, target=spoiling(lambda value: value))
    assert found.verdict == "unverified"
    assert "'s' is a sequence" in found.reason


def test_a_function_cannot_change_the_inputs_of_its_caller() -> None:
    def run(model: str, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        found = run_model(onnx.load(model), dict(inputs))
        for value in inputs.values():
            value[...] = 0
        return found

    given = X.copy()
    onnxpad.validate(PLAIN, target=run, inputs={"x": given})
    np.testing.assert_array_equal(given, X)


@pytest.mark.parametrize("first", [True, False])
def test_files_of_one_name_are_two_runtimes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: bool,
) -> None:
    """Also where one lies in the working folder, and is called as the other is in reports."""
    name = f"same_name_{first}.py"
    (tmp_path / "a").mkdir()
    body = "def run(model, inputs): return {'y': inputs['x']} if not inputs['x'].any() else 1 / 0"
    (tmp_path / "a" / name).write_text(body.replace("1 / 0", "exit('a')"))
    (tmp_path / name).write_text(body.replace("1 / 0", "exit('b')"))
    monkeypatch.chdir(tmp_path)
    asked = [f"a/{name}", name] if first else [name, f"a/{name}"]
    runs = onnxpad.validate(PLAIN, target=asked).runtimes
    assert [run.reason[-1] for run in runs] == (["a", "b"] if first else ["b", "a"])


def test_a_fork_does_not_answer_for_the_next_job(tmp_path: Path) -> None:
    file = tmp_path / "forks.py"
    file.write_text(
        "import os, time\n"
        "from onnx.reference import ReferenceEvaluator\n"
        "def run(model, inputs):\n"
        "    child = os.fork() == 0\n"
        "    time.sleep(0.2 * child)\n"
        "    return {'y': ReferenceEvaluator(model).run(None, inputs)[0]}\n"
    )
    assert onnxpad.validate(PLAIN, target=str(file)).ok


@pytest.mark.parametrize(
    "stored",
    [{"x": 1}, {"answer": "bogus", "message": ""}, {"answer": ["takes"], "message": ""}],
)
def test_other_things_in_the_cache_are_no_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: Any
) -> None:
    monkeypatch.setenv("ONNXPAD_CACHE", str(tmp_path / "cache"))
    for _ in range(2):
        (nodes,) = onnxpad.inspect(PLAIN, target="onnxruntime", live=True).targets.values()
        assert [one.verdict for one in nodes] == ["takes"]
        files = list((tmp_path / "cache").rglob("*.json"))
        assert files
        for one in files:
            one.write_text(json.dumps(stored))


@pytest.mark.part(3)
@pytest.mark.parametrize("written", ["empty", "zlib", "member", "huge", "locked"])
def test_outputs_that_cannot_be_read_are_refusals(tmp_path: Path, written: str) -> None:
    script = tmp_path / "writes.py"
    script.write_text(
        "import io, sys, zipfile\nimport numpy as np\n"
        "what, path = sys.argv[1:]\n"
        "header = io.BytesIO()\n"
        "facts = {'descr': '<f4', 'fortran_order': False, 'shape': (10**13,)}\n"
        "np.lib.format.write_array_header_1_0(header, facts)\n"
        "if what in ('member', 'huge'):\n"
        "    with zipfile.ZipFile(path, 'w') as z:\n"
        "        z.writestr('y' if what == 'member' else 'y.npy', header.getvalue())\n"
        "elif what == 'empty':\n"
        "    open(path, 'wb').close()\n"
        "else:\n"
        "    np.savez_compressed(path, y=np.zeros(999))\n"
        "    data = bytearray(open(path, 'rb').read())\n"
        "    if what == 'zlib':\n"
        "        data[60:90] = b'\\xff' * 30\n"
        "    else:\n"
        "        data[6] |= 1\n"
        "        data[data.rindex(b'PK\\x01\\x02') + 8] |= 1\n"
        "    open(path, 'wb').write(data)\n"
    )
    # The placeholders that the script does not read stand in one word that Python ignores.
    command = f"{sys.executable} -X a={{model}} -X b={{inputs}} {script} {written} {{outputs}}"
    with pytest.raises(onnxpad.RuntimeUnavailable, match=r"\{outputs\} is no \.npz"):
        onnxpad.validate(PLAIN, target=command)


@pytest.mark.parametrize("is_first", [True, False])
def test_functions_of_one_name_have_answers_of_their_own(is_first: bool) -> None:
    both = [spoiling(lambda value: value), spoiling(lambda value: value * 0)]
    found = onnxpad.inspect(PLAIN, target=both if is_first else both[::-1]).targets.values()
    verdicts = [one.verdict for nodes in found for one in nodes]
    assert verdicts == (["takes", "miscomputes"] if is_first else ["miscomputes", "takes"])
