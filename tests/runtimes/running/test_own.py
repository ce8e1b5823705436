"""Runtimes of users: files, commands and functions, good and bad."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from onnxpad import RequestError, RuntimeUnavailable
from onnxpad.runtimes.own_targets import own_runtime
from onnxpad.runtimes.running.runner import Reply, Runner, own_runner

X = {"x": np.array([[1, 2], [3, -4]], np.float32)}
HEAD = "import ctypes, os, subprocess, sys, time\nimport numpy as np\n"
# What a file does beside doubling x, and what comes of it.
BAD = {
    "raises": ("raise ValueError('asymmetric pads')", "refused", "ValueError: asymmetric pads"),
    "names": ("return {'z': x}", "refused", "it gave no 'y', but 'z'"),
    "object array": ("return {'y': np.array([None, x], object)}", "refused", "array of object"),
    "crash": ("print('last words', flush=True); os.abort()", "crash", "SIGABRT: last words"),
    "ends": ("os._exit(3)", "crash", "exit status 3"),
    "hangs": ("print('waiting', flush=True); time.sleep(60)", "timeout", "waiting"),
    "garbage": ("os.write(1, b'{\\x00\\xff\\n{}\\n' * 9); return {'y': x}", "ran", ""),
}
GOOD: list[Any] = [
    np.array([[np.nan, np.inf], [-np.inf, -0.0]], np.float32),
    np.zeros((0, 3), np.float64),
    np.float32(4),
    np.array([True, False]),
    np.array([1.5, -2], np.float16),
    np.array([1.5, -2], ml_dtypes.bfloat16),
    np.array(7, np.int64),
    np.array([1, 2], ">f4"),
    np.arange(12, dtype=np.uint8).reshape(3, 4)[:, ::2],
]


@pytest.fixture
def runners() -> Iterator[list[Runner]]:
    """Runners that end with the test."""
    made: list[Runner] = []
    yield made
    for one in made:
        one.close()


def own_file(folder: Path, body: str) -> Path:
    path = folder / "npu.py"
    path.write_text(f"{HEAD}def run(model, inputs):\n    x = inputs['x']\n    {body}\n")
    return path


def asked(runner: Runner, model: Path, seconds: float = 20) -> Reply:
    return runner.run(str(model), X, {"y": 2}, seconds)


@pytest.mark.part(3)
@pytest.mark.parametrize(("body", "status", "message"), BAD.values(), ids=BAD)
def test_a_bad_file_is_a_verdict(
    runners: list[Runner], tmp_path: Path, body: str, status: str, message: str
) -> None:
    runners.append(own_runner(own_file(tmp_path, body)))
    reply = asked(runners[0], tmp_path, 3 if status == "timeout" else 60)
    assert (reply.status, message in reply.message) == (status, True), reply
    assert "Traceback" not in reply.message


def test_a_file_may_have_a_load_of_its_own(runners: list[Runner], tmp_path: Path) -> None:
    path = own_file(tmp_path, "return {'y': x}")
    path.write_text(f"from onnx import load\n{path.read_text()}")
    runners.append(own_runner(path))
    assert asked(runners[0], tmp_path).status == "ran"


@pytest.mark.parametrize("value", GOOD, ids=lambda value: f"{value.dtype}{value.shape}")
def test_arrays_survive_both_ways(runners: list[Runner], tmp_path: Path, value: Any) -> None:
    runners.append(own_runner(own_file(tmp_path, "return {'y': x}")))
    (found,) = runners[0].run("m", {"x": value}, {"y": -1}, 20).outputs.values()
    assert (found.dtype, found.shape) == (value.dtype, value.shape)
    assert found.tobytes() == value.tobytes()


def test_a_file_imports_what_lies_beside_it_and_no_module_of_onnxpad(
    runners: list[Runner], tmp_path: Path
) -> None:
    (tmp_path / "headers.py").write_text("FACTOR = 3")
    body = "from headers import FACTOR; return {'y': x * FACTOR}"
    runners.append(own_runner(own_file(tmp_path, body)))
    np.testing.assert_array_equal(asked(runners[0], tmp_path).outputs["y"], X["x"] * 3)


def test_a_file_that_does_not_start_is_no_verdict(runners: list[Runner], tmp_path: Path) -> None:
    for text, message in (("import npu_sdk", "npu_sdk"), ("x = 1", "run"), ("def run(", "Syntax")):
        (tmp_path / "npu.py").write_text(text)
        runners.append(own_runner(tmp_path / "npu.py"))
        with pytest.raises(RuntimeUnavailable, match=f"npu.py does not start: .*{message}"):
            asked(runners[-1], tmp_path)


def program(folder: Path, body: str) -> str:
    """A command whose program reads x and knows the path of its outputs as `out`."""
    head = "model, given, out = sys.argv[1:]\nwith np.load(given) as found: x = found['x']\n"
    (folder / "npu.py").write_text(f"{HEAD}{head}{body}\n")
    return f"{shlex.quote(sys.executable)} {folder}/npu.py {{model}} {{inputs}} {{outputs}}"


PROGRAMS = {
    "right": ("np.savez(out, y=x * 2)", "ran", ""),
    "raises": ("raise ValueError('asymmetric pads')", "refused", "status 1: ValueError: asym"),
    "writes nothing": ("print('a hint')", "refused", "wrote no {outputs}; a hint"),
    "names": ("np.savez(out, z=x)", "refused", "gave no 'y', but 'z'"),
    "not an npz": ("open(out, 'w').write('garbage')", "refused", "Error"),
    "objects": ("np.savez(out, y=np.array([None]))", "refused", "Object arrays"),
    "crash": ("os.abort()", "crash", "SIGABRT"),
    "hangs": ("print('waiting', flush=True); time.sleep(60)", "timeout", "waiting"),
}


@pytest.mark.parametrize(("body", "status", "message"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_command(tmp_path: Path, body: str, status: str, message: str) -> None:
    runner = own_runner(program(tmp_path, body))
    reply = asked(runner, tmp_path / "m.onnx", 3 if status == "timeout" else 60)
    assert (reply.status, message in reply.message) == (status, True), reply
    assert "Traceback" not in reply.message
    if status == "ran":
        np.testing.assert_array_equal(reply.outputs["y"], X["x"] * 2)


def test_a_command_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    beat = "while True:\n    open('lives', 'a').write('.')\n    time.sleep(0.1)"
    (tmp_path / "beat.py").write_text(f"import time\n{beat}")
    body = f"os.chdir({str(tmp_path)!r}); subprocess.Popen([sys.executable, 'beat.py'])\n"
    wait = "while not os.path.exists('lives'): time.sleep(0.1)\nopen('where', 'w').write(out)"
    asked(own_runner(program(tmp_path, body + wait)), tmp_path)
    size = (tmp_path / "lives").stat().st_size
    time.sleep(0.5)
    assert (tmp_path / "lives").stat().st_size == size > 0
    assert not Path((tmp_path / "where").read_text()).parent.exists()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("no-such-program {model} {inputs} {outputs}", "there is no program no-such-program"),
        ("python npu.py {model} {inputs}", "has no {outputs}: write it such as"),
        ("python npu.py", "has no {model} and no {inputs} and no {outputs}"),
        ("python 'npu.py {model} {inputs} {outputs}", "cannot be read: No closing quotation"),
        ("./nobody.py", "there is no file ./nobody.py"),
    ],
)
def test_what_is_no_runtime_is_an_error_at_once(spec: str, message: str) -> None:
    with pytest.raises(RequestError, match=message.replace("{", r"\{")):
        own_runner(spec)


def _doubled(_model: str, inputs: dict[str, Any]) -> dict[str, Any]:
    return {"y": inputs["x"] * 2}


def test_a_function() -> None:
    right = own_runner(_doubled)
    np.testing.assert_array_equal(asked(right, Path("m")).outputs["y"], X["x"] * 2)
    assert asked(own_runner(lambda *_: {"z": 1}), Path("m")).status == "refused"

    def failing(_model: str, _inputs: object) -> dict[str, Any]:
        raise SystemExit("no licence")

    assert asked(own_runner(failing), Path("m")).message == "SystemExit: no licence"


def test_a_command_does_not_take_the_name_of_the_file_that_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """inspect would start the file as a runtime, and not the command."""
    monkeypatch.chdir(tmp_path)
    Path("started.py").write_text("")
    command = "python3 started.py {model} {inputs} {outputs}"
    name = own_runtime(command)
    assert (name, own_runtime(name)) == ("started.py-2", "started.py-2")
    assert own_runtime("./started.py") == "started.py"
