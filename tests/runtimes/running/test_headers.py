"""Adapters and what they say of themselves, without any runtime."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from onnxpad import RequestError, RuntimeUnavailable
from onnxpad.runtimes.running.headers import (
    ADAPTERS,
    Header,
    headers_of,
    read_headers,
)
from onnxpad.runtimes.running.places import place_of
from onnxpad.runtimes.running.runner import adapted, runner_for
from onnxpad.runtimes.targets import all_targets

FILES = sorted(path for path in ADAPTERS.iterdir() if path.suffix in (".py", ".mjs"))
HEADERS = [header for file in FILES for header in read_headers(file)]


@pytest.mark.parametrize("header", HEADERS, ids=lambda one: f"{one.file.name}-{one.target}")
def test_a_header_is_of_a_target_and_says_what_it_needs(header: Header) -> None:
    assert header.target in all_targets()
    assert header in headers_of(header.target)
    assert header.dependencies
    assert set(header.release) & {one.partition("[")[0] for one in header.dependencies} or not (
        header.release
    )


@pytest.mark.parametrize("file", FILES, ids=lambda one: one.name)
def test_an_adapter_runs_without_onnxpad(file: Path) -> None:
    text = file.read_text("utf-8")
    assert "import onnxpad" not in text
    assert "from onnxpad" not in text
    if file.suffix == ".mjs":
        assert "export async function run(model, inputs" in text
        return
    assert "\ndef load(model: str, inputs: Any, outputs: Any) -> Any:\n" in text


def test_targets_that_nothing_starts() -> None:
    assert {name for name in all_targets() if not headers_of(name)} == {
        *("burn", "candle", "hls4ml", "nnapi", "portable", "sofie", "tenstorrent", "tflite-int8"),
        *("tidl", "webnn"),
    }
    with pytest.raises(RequestError, match="burn is a table of rules"):
        runner_for("burn", live=True)


def made_up(folder: Path, **words: Any) -> Header:
    (folder / "adapter.py").write_text("def load(model, inputs, outputs): ...\n")
    return Header("made-up", folder / "adapter.py", "Made up", ("no-such-package",))._replace(
        **words
    )


def test_a_missing_package_is_named_with_what_installs_it(tmp_path: Path) -> None:
    wanted = "no-such-package in this Python: pip install no-such-package, or name a Python"
    with pytest.raises(RuntimeUnavailable, match=wanted):
        adapted(made_up(tmp_path), live=True)
    with pytest.raises(RuntimeUnavailable, match=f"no-such-package in {re.escape(sys.executable)}"):
        adapted(made_up(tmp_path), live=sys.executable)


def test_ones_own_build_has_no_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "made_up_module.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    runner = adapted(made_up(tmp_path, module="made_up_module"), live=True)
    assert (runner.release, runner.key) == ("", "")


def test_what_is_no_python(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing", "/bin/true", __file__):
        with pytest.raises(RuntimeUnavailable, match="is no Python that starts"):
            place_of(path)


def test_a_runtime_of_npm_needs_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnxpad.runtimes.running.places.shutil.which", lambda name: name)
    monkeypatch.setattr("onnxpad.runtimes.running.runner.require_programs", lambda _header: None)
    with pytest.raises(RuntimeUnavailable, match="npm install onnxruntime-web"):
        runner_for("onnxruntime-web", tmp_path)
    package = tmp_path / "node_modules" / "onnxruntime-web" / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text('{"version": "1.2.3"}')
    assert runner_for("onnxruntime-web", tmp_path).release == "1.2.3"
    monkeypatch.chdir(tmp_path)
    assert runner_for("webgpu", live=True).release == "1.2.3"
