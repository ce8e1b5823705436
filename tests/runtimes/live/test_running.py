"""The driver, with an adapter that needs no runtime."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from onnxpad.runtimes.running.headers import Header
from onnxpad.runtimes.running.runner import adapted
from tests.runtimes.live import RUNTIMES, Runtime, running
from tests.runtimes.live.environments import Unavailable
from tests.runtimes.live.running import Case, outcomes

# Doubles x; what else it does is told by the sum of x.
ADAPTER = """
import os, shutil, sys
import numpy as np
ran = 0
def load(model, inputs, outputs):
    return lambda inputs: [doubled(inputs)] * len(outputs)
def doubled(inputs):
    global ran
    ran += 1
    open(os.environ["RUNS"], "a").write("run ")
    x = inputs["x"]
    match int(x.sum()):
        case 100: raise ValueError("never heard of it")
        case 500 if ran > 1: os.abort()
        case 600: os.system("echo told outside")
        case 700: assert shutil.which(os.path.basename(sys.executable)) == sys.executable
    print("noise on standard output")
    return x * 2
"""


@pytest.fixture
def header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Header:
    adapter = tmp_path / "adapter.py"
    adapter.write_text(ADAPTER, encoding="utf-8")
    monkeypatch.setenv("ONNXPAD_RUNTIMES", str(tmp_path / "cache"))
    variables = {"RUNS": str(tmp_path / "runs")}
    return Header("fake", adapter, "Fake", ("numpy",), variables=variables)


@pytest.fixture
def runtime(header: Header, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """One that is started in this Python."""
    (tmp_path / "none.txt").touch()
    monkeypatch.setattr(running, "started", lambda _runtime: adapted(header, live=True))
    return Runtime("fake", str(tmp_path / "none.txt"))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    text = (
        '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Add(x, x) }'
    )
    onnx.save(onnx.parser.parse_model(text), path)
    return path


def case(model: Path, total: float, reference: float | None = None) -> Case:
    x = np.array([total + 1, -1], np.float32)
    y = 2 * x if reference is None else np.full(2, reference, np.float32)
    return Case(model, {"x": x}, {"y": y})


def times_run(tmp_path: Path) -> int:
    return len((tmp_path / "runs").read_text("utf-8").split())


def test_a_crash_that_an_earlier_model_caused_is_not_believed(
    runtime: Runtime, model: Path
) -> None:
    found = outcomes(runtime, {"first": case(model, 1), "second": case(model, 500)})
    assert [outcome.verdict for outcome in found.values()] == ["ok", "ok"]


def test_replies_are_kept_by_model_inputs_and_adapter(
    header: Header, runtime: Runtime, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes(runtime, {"a": case(model, 1), "refused": case(model, 100)})
    assert times_run(tmp_path) == 2
    again = outcomes(runtime, {"a": case(model, 1, reference=5), "refused": case(model, 100)})
    assert times_run(tmp_path) == 2
    assert [outcome.verdict for outcome in again.values()] == ["wrong", "refused"]
    outcomes(runtime, {"other input": case(model, 2)})
    header.file.write_text(ADAPTER + "\n# changed", encoding="utf-8")
    outcomes(runtime, {"a": case(model, 1)})
    other = header._replace(variables={**header.variables, "A": "b"})
    monkeypatch.setattr(running, "started", lambda _runtime: adapted(other, live=True))
    outcomes(runtime, {"a": case(model, 1)})
    assert times_run(tmp_path) == 5


def test_programs_of_the_environment_come_first_on_the_path(
    runtime: Runtime, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """onnx2tf calls onnxsim, and goes on without a word that a test sees where it is not found."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert running.run(runtime, [case(model, 700)])[0].verdict == "ok"


SMALL = ("onnxruntime", "opencv-classic", "ncnn")
"""Runtimes that always run; to install the others takes longer than to run them."""
PAIR = """<ir_version: 8, opset_import: ["": 17]> pair (float[1,2,3,4] x, float[1,2,3,4] y)
=> (float[1,2,3,4] less, float[1,2,3,4] more) { less = Sub (x, y) more = Add (x, y) }"""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.sweep] * (name not in SMALL)) for name in RUNTIMES],
)
def test_a_model_that_is_kept_takes_other_inputs(name: str, tmp_path: Path) -> None:
    """Adapters load a model once: nothing of the inputs before may be left in it."""
    path = tmp_path / "pair.onnx"
    draw = np.random.default_rng(3)
    onnx.save(onnx.parser.parse_model(PAIR), path)
    try:
        runner = running.started(RUNTIMES[name])
    except Unavailable as reason:
        pytest.skip(str(reason))
    for _ in range(3):
        x, y = draw.standard_normal((2, 1, 2, 3, 4), np.float32)
        reply = runner.run(str(path), {"x": x, "y": y}, {"less": 4, "more": 4}, 90)
        assert reply.status == "ran", reply
        np.testing.assert_allclose(reply.outputs["less"], x - y, rtol=1e-6)
        np.testing.assert_allclose(reply.outputs["more"], x + y, rtol=1e-6)
    runner.close()
