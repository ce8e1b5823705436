"""--live, runtimes of one's own, and the run of the whole model, as the command line has them."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

import onnx
import pytest

import onnxpad
from onnxpad.cli.values import settled_live
from tests.command import run
from tests.probing.runtimes import SAME, SCALED

Captured = pytest.CaptureFixture[str]
RUNTIME = """
    import sys
    sys.path.insert(0, {root!r})
    import onnx
    from tests.oracle.interpreter import run_model

    def run(path, inputs):
        model = onnx.load(path)
        for node in model.graph.node:
            for item in node.attribute:
                if item.name == "auto_pad" and item.s.startswith(b"SAME"):
                    raise ValueError("no SAME here")
            if node.op_type == "Mul":
                node.op_type = "Add"
        return run_model(model, inputs)

    if __name__ == "__main__":
        import numpy as np
        model, inputs, outputs = sys.argv[1:]
        np.savez(outputs, **run(model, dict(np.load(inputs))))
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a runtime, a model that it refuses, and one that it computes wrongly."""
    root = str(Path(__file__).parents[2])
    text = textwrap.dedent(RUNTIME).format(root=root)
    (tmp_path / "npu.py").write_text(text, encoding="utf-8")
    (tmp_path / "models").mkdir()
    onnx.save(SAME, tmp_path / "models" / "same.onnx")
    onnx.save(SCALED, tmp_path / "models" / "scaled.onnx")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONNXPAD_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_a_file_gets_a_model_that_runs_right(place: Path, capsys: Captured) -> None:
    target = ["--target", "./npu.py"]
    assert run(["inspect", "models/same.onnx", *target, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert {one["verdict"] for one in report["targets"]["npu.py"]} == {"refuses"}
    assert report["ran"]["npu.py"]["name"] == "npu.py"
    assert run(["rewrite", "models/same.onnx", *target, "-o", "out.onnx", "--json"]) == 0
    (ran,) = json.loads(capsys.readouterr().out)["runs"]
    assert ran["ok"] is True
    assert run(["inspect", "out.onnx", *target]) == 0
    assert run(["validate", "out.onnx", *target, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["verdict"] in (
        "rounding",
        "identical",
    )
    assert (place / "out.onnx").exists()


def test_a_model_that_does_not_run_right_is_not_written(place: Path, capsys: Captured) -> None:
    command = ["rewrite", "models/scaled.onnx", "--target", "./npu.py", "-o", "out.onnx"]
    assert run(command) == 1
    assert "it does not run right in npu.py" in capsys.readouterr().err
    assert not (place / "out.onnx").exists()
    assert run([*command, "--although-unfit"]) == 1
    assert (place / "out.onnx").exists()
    assert run(["validate", "models/scaled.onnx", "--target", "./npu.py", "--json"]) == 1
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert report["verdict"] == "different"
    assert report["run"]["first_different"]["tensor"] == "s"


def test_live_takes_a_python_and_no_model(place: Path) -> None:
    def settled(*words: str) -> list[str]:
        return settled_live(words)

    assert settled() == []
    assert settled("inspect", "--live", "models/same.onnx") == [
        *("inspect", "--live=here", "models/same.onnx")
    ]
    assert settled("inspect", "--live", sys.executable, "m.onnx") == [
        *("inspect", "--live", sys.executable, "m.onnx")
    ]
    assert settled("inspect", "m.onnx", "--live") == ["inspect", "m.onnx", "--live=here"]
    assert settled("inspect", "--live", "--json", "m") == ["inspect", "--live=here", "--json", "m"]
    assert settled("inspect", "--live", "models") == ["inspect", "--live=here", "models"]
    assert settled("inspect", "--live", "python9.9", "m") == ["inspect", "--live", "python9.9", "m"]
    (place / "model").write_text("#!/bin/sh\n")
    (place / "model").chmod(0o755)  # marked as a program, which nobody means to start
    assert settled("inspect", "--live", "model") == ["inspect", "--live=here", "model"]
    assert settled("inspect", "--live", "env/bin/none", "m")[1] == "--live"
    (place / "node_modules").mkdir()
    assert settled("inspect", "--live", ".", "m") == ["inspect", "--live", ".", "m"]
    assert settled("guard", "--", "tool", "--live") == ["guard", "--", "tool", "--live"]


def test_a_project_file_starts_nothing(place: Path, capsys: Captured) -> None:
    marker = place / "started"
    (place / "evil.py").write_text(f"open({str(marker)!r}, 'w')\ndef run(m, i): return {{}}\n")
    for setting in ('target = "./evil.py"', 'live = "./evil.py"', "live = true"):
        (place / "pyproject.toml").write_text(f"[tool.onnxpad]\n{setting}\n")
        assert run(["inspect", "models/same.onnx"]) == 2
        assert "pyproject.toml" in capsys.readouterr().err
    assert not marker.exists()
    model = onnx.load(place / "models" / "same.onnx")
    onnx.helper.set_model_props(model, {"onnxpad.target": "./evil.py", "target": "./evil.py"})
    model.producer_name = "./evil.py"
    onnxpad.inspect(model, target="opencv")
    assert not marker.exists()
