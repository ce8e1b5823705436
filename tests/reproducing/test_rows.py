"""explain TARGET --reproduce ROW: a small model that falls under that row, and what it computes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnxpad.cli import run
from onnxpad.errors import RequestError
from onnxpad.explaining import explain
from onnxpad.model.reading.survey import Survey
from onnxpad.reproducing import (
    FILES,
    SEEN,
    Reproducer,
    in_its_release,
    reproduce,
    seen_words,
)
from onnxpad.reproducing.specimens import drafted
from onnxpad.reproducing.ways import chains_of, judged, smallest, ways
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.judge import failing
from onnxpad.runtimes.targets import all_targets, find_target
from tests.oracle.interpreter import run_model


@pytest.mark.part(3)
@pytest.mark.parametrize("name", all_targets())
def test_addresses_are_typed_and_printed(name: str) -> None:
    target = find_target(name)
    (entry,) = (one for one in explain(name) if one.kind == "target")
    said = [value for kind, value in entry.facts if kind in ("refuses", "miscomputes")]
    assert [one.partition(": ")[0] for one in said] == list(target.failures)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", address) for address in target.failures)
    assert list(target.failures.values()) == [row for row in target.history if row.answer.fails]


@pytest.mark.part(3)
@pytest.mark.parametrize("name", all_targets())
def test_a_model_falls_under_every_row_or_it_says_why_none_does(name: str) -> None:
    """`explain` and the site print a command that makes the model of every other row."""
    target = find_target(name)
    for address, row in target.failures.items():
        meant = in_its_release(target, row)
        found = seen_words(meant, address, row) or smallest(meant, row)
        assert found is not None or row.unshown, address
        if found is not None:
            model, _ = drafted(found)
            for output in model.graph.output:
                output.type.tensor_type.shape.SetInParent()  # computed when it is written
            onnx.checker.check_model(model)
            assert row in {one for chain in chains_of(found) for one in failing(meant, chain)}


def test_a_model_has_an_opset_that_has_what_it_writes() -> None:
    found = reproduce("tflite", "averages-with-dilations").model
    onnx.checker.check_model(found, full_check=True)
    assert found.opset_import[0].version == 19


def test_a_row_alone_is_looked_for_first() -> None:
    """MNN reads SAME_LOWER as SAME_UPPER, and fails a kernel below the stride by another row."""
    target = find_target("mnn")
    found = smallest(target, target.failures["same-lower"])
    assert found is not None
    rows = {row for chain in chains_of(found) for row in failing(target, chain)}
    assert rows == {target.failures["same-lower"]}


def test_the_names_of_ways_are_files_of_their_own() -> None:
    names = [way.name for way in ways()]
    assert len(set(names)) == len(names) > 100
    assert all(way.chains for way in ways())


def test_a_way_is_judged_by_its_worst_node() -> None:
    fronted = next(one for one in ways() if one.title == "MaxPool, behind a Pad node that writes 0")
    assert judged(find_target("onnxruntime@1.31"), fronted).answer is Answer.MISCOMPUTES
    assert judged(find_target("openvino"), fronted).answer is Answer.TAKES


@pytest.mark.parametrize("way", ways()[::3], ids=lambda way: way.name)
def test_what_is_expected_is_what_the_tests_own_interpreter_computes(way: object) -> None:
    from onnxpad.probing.expected import expected

    model, feeds = drafted(way.specimen)  # type: ignore[attr-defined]
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    found = expected(model, feeds)
    assert found.reason == ""
    right = run_model(copy, feeds)
    assert right.keys() == found.outputs.keys()
    for name, value in right.items():
        np.testing.assert_allclose(found.outputs[name], value, rtol=1e-6)


@pytest.fixture(scope="module")
def made() -> Reproducer:
    return reproduce("onnxruntime", "pad-0-in-front-of-maxpool")


def test_the_files_are_whole(made: Reproducer, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    found = made.save(folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES[:5])
    model = onnx.load(folder / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert len(model.graph.node) == 2
    with np.load(folder / "inputs.npz") as inputs, np.load(folder / "expected.npz") as right:
        assert inputs.files == ["x"]
        assert [dim.dim_value for dim in model.graph.output[0].type.tensor_type.shape.dim] == list(
            right["y"].shape
        )
    text = (folder / "README.md").read_text()
    assert "without optimisations computes the same" in text
    assert str(folder) not in text
    assert found.folder == str(folder)
    assert made.to_json()["row"] == "pad-0-in-front-of-maxpool"


def _ran(folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "run.py"]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)


def test_its_script_shows_it(made: Reproducer, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    made.save(tmp_path)
    done = _ran(tmp_path)
    assert done.returncode == 1
    assert "y has the shape (" in done.stderr or "y is not what it should be in " in done.stderr
    assert len(done.stdout + done.stderr) < 2000


def test_its_script_is_silent_where_a_runtime_is_right(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    fine = replace(reproduce("ncnn", "asymmetric-maxpool"), target="onnxruntime")
    fine.save(tmp_path)
    assert (_ran(tmp_path).returncode, _ran(tmp_path).stdout) == (0, "as it should be\n")


@pytest.mark.parametrize("name", all_targets())
def test_every_script_compiles(name: str) -> None:
    target = find_target(name)
    if not target.failures:
        return
    address = next(iter(target.failures))
    model, feeds = drafted(ways()[0].specimen)
    right = {"y": np.zeros(1)}
    words = (name, "1", address, "refuses", "", "")
    found = Reproducer(*words, model=model, inputs=feeds, expected=right)
    if found.program == "python run.py":
        compile(found.files()["run.py"], "run.py", "exec")
    else:
        assert found.files()["run.mjs"].startswith(b"// npm install onnxruntime-web")


def test_a_runtime_of_javascript_gets_a_script_and_arrays_as_json(tmp_path: Path) -> None:
    reproduce("onnxruntime-web", "pad-0-in-front-of-maxpool").save(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {*FILES} - {"run.py"}


def test_a_row_of_older_releases_is_one_of_the_newest_that_has_it() -> None:
    found = reproduce("openvino", "lppool")
    assert found.target == "openvino@2026.0"
    assert "openvino 2026.0" in found.files()["README.md"].decode()


def test_an_unknown_row_suggests_the_nearest() -> None:
    with pytest.raises(RequestError, match="did you mean 'asymmetric-maxpool'"):
        reproduce("ncnn", "asymetric-maxpool")
    with pytest.raises(RequestError, match="coreml has no fact about anything that it gets wrong"):
        reproduce("coreml", "anything")


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "made"
    line = ["explain", "opencv", "--reproduce", "output-shape", "-o", str(folder)]
    assert run(line) == 0
    assert f"written to {folder}: model.onnx" in capsys.readouterr().out
    assert run(line) == 0  # its own files are replaced
    (folder / "notes.txt").write_text("mine")
    assert run(line) == 2
    assert "holds 'notes.txt'" in capsys.readouterr().err
    for wrong in (line[:4], ["explain", "-o", str(folder)], ["explain", *line[2:]]):
        assert run(wrong) == 2
        assert "needs " in capsys.readouterr().err
    assert run([*line[:-1], "-"]) == 2
    assert "name a folder" in capsys.readouterr().err
    assert run([*line[:-1], str(folder / "notes.txt")]) == 2
    assert "is a file" in capsys.readouterr().err


def test_a_model_of_a_row_is_read_as_the_row_says() -> None:
    found = reproduce("ncnn", "pad-without-mode")
    (site,) = Survey(found.model).sites_now()
    assert "mode" not in dict(site.chain.attributes)


def test_what_was_seen_still_falls_under_its_row() -> None:
    seen = json.loads(SEEN.read_text("utf-8"))
    assert seen
    for name, last in seen.items():
        target, rows = find_target(name), last["rows"]
        assert rows.keys() <= target.failures.keys()
        for address, record in rows.items():
            assert record["verdict"] in {"wrong", "refused", "crash", "timeout", "not shown"}
            row = target.failures[address]
            assert "words" not in record or seen_words(target, address, row) is not None


def test_what_was_seen_is_what_is_written() -> None:
    """OpenCV writes 127 for -128, and other values as they are."""
    found = reproduce("opencv", "pad-of-int8")
    (value,) = (one for one in found.model.graph.initializer if one.name == "value")
    assert numpy_helper.to_array(value) == -128
