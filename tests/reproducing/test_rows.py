"""explain TARGET --reproduce ROW: a small model that falls under that row, and what it computes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from onnxpad import RequestError
from onnxpad.model.reading.survey import Survey
from onnxpad.probing.expected import expected
from onnxpad.reproducing import FILES, Reproducer, in_its_release, reproduce
from onnxpad.reproducing.specimens import drafted
from onnxpad.reproducing.ways import Way, chains_of, judged, rows_over, showing, stored, ways
from onnxpad.runtimes.targets import all_targets, find_target
from tests.command import run
from tests.oracle.interpreter import run_model


@pytest.mark.part(3)
@pytest.mark.parametrize("name", all_targets())
def test_a_model_falls_under_every_row_or_it_says_why_none_does(name: str) -> None:
    """`explain` and the site print a command that makes the model of every other row."""
    target = find_target(name)
    for address, row in target.failures.items():
        meant = in_its_release(target, row)
        words = showing(meant, address, row)
        assert words is not None or row.unshown, address
        if words is not None:
            model, _ = drafted(words)
            for output in model.graph.output:
                output.type.tensor_type.shape.SetInParent()  # computed when it is written
            onnx.checker.check_model(model)
            assert row in rows_over(meant, words)


def test_what_is_stored_of_rows_is_of_rows_that_are_there() -> None:
    """A row alone is looked for first; one that was seen with a model of its own has that one."""
    for name in stored()["telling"]:
        runtime, _, address = name.partition(" ")
        assert address in find_target(runtime).failures
    target = find_target("mnn")
    words = showing(target, "same-lower", target.failures["same-lower"])
    assert words is not None
    assert rows_over(target, words) == {target.failures["same-lower"]}


def test_ways_have_titles_of_their_own_and_are_judged_by_their_worst_node() -> None:
    assert len({way.title for way in ways() if chains_of(way.specimen)}) == len(ways()) > 100
    fronted = next(one for one in ways() if one.title == "MaxPool, behind a Pad node that writes 0")
    assert judged(find_target("onnxruntime@1.31"), fronted).answer == "miscomputes"
    assert judged(find_target("openvino"), fronted).answer == "takes"


@pytest.mark.parametrize("way", ways()[::3], ids=lambda way: way.title)
def test_what_is_expected_is_what_the_tests_own_interpreter_computes(way: Way) -> None:
    model, feeds = drafted(way.specimen)
    right = run_model(onnx.ModelProto.FromString(model.SerializeToString()), feeds)
    outputs, reason = expected(model, feeds)
    assert (reason, outputs.keys()) == ("", right.keys())
    for name, value in right.items():
        np.testing.assert_allclose(outputs[name], value, rtol=1e-6)


@pytest.fixture(scope="module")
def made() -> Reproducer:
    return reproduce("onnxruntime", "pad-0-in-front-of-maxpool")


def test_the_files_are_whole(made: Reproducer, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert made.save(folder).folder == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    model = onnx.load(folder / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    with np.load(folder / "inputs.npz") as inputs, np.load(folder / "expected.npz") as right:
        assert inputs.files == ["x"]
        sizes = [one.dim_value for one in model.graph.output[0].type.tensor_type.shape.dim]
        assert sizes == list(right["y"].shape)
    assert "without optimisations computes the same" in (folder / "README.md").read_text()
    web = reproduce("onnxruntime-web", "pad-0-in-front-of-maxpool").files()
    assert "in onnxruntime-web, save its outputs" in web["README.md"].decode()


def test_its_script_shows_it_and_is_silent_where_a_runtime_is_right(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    shows = reproduce("onnxruntime", "same-with-kernels-below-the-stride")
    fine = replace(reproduce("ncnn", "asymmetric-maxpool"), target="onnxruntime")
    for one, status, said in ((shows, 1, "should be"), (fine, 0, "as it should be\n")):
        folder = tmp_path / str(status)
        one.save(folder)
        line = [sys.executable, "run.py"]
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == status
        assert said in done.stdout + done.stderr


@pytest.mark.parametrize("name", all_targets())
def test_every_script_compiles(name: str) -> None:
    model, feeds = drafted(ways()[0].specimen)
    words = (name, "1", "row", "refuses", "", "")
    found = Reproducer(*words, model=model, inputs=feeds, expected={"y": np.zeros(1)})
    compile(found.files()["run.py"], "run.py", "exec")


def test_a_row_is_read_in_the_newest_release_that_has_it_and_as_it_says() -> None:
    assert reproduce("openvino", "lppool").target == "openvino@2026.0"
    assert reproduce("tflite", "averages-with-dilations").model.opset_import[0].version == 19
    (site,) = Survey(reproduce("ncnn", "pad-without-mode").model).sites_now()
    assert "mode" not in dict(site.chain.written.attributes)


@pytest.mark.parametrize(
    ("target", "row", "said"),
    [
        ("ncnn", "asymetric-maxpool", "did you mean 'asymmetric-maxpool'"),
        ("coreml", "anything", "coreml has no fact 'anything'"),
        ("ncnn", "slice-resize-reshape-and-expand-by-computed-sizes", "shows at another size"),
    ],
)
def test_rows_without_a_model_are_refused(target: str, row: str, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        reproduce(target, row)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "made"
    line = ["explain", "opencv", "--reproduce", "output-shape", "-o", str(folder)]
    assert run(line) == run(line) == 0  # its own files are replaced
    assert f"written to {folder}: model.onnx" in capsys.readouterr().out
    (folder / "notes.txt").write_text("mine")
    assert run(line) == 2
    assert "holds 'notes.txt'" in capsys.readouterr().err
    for wrong in (line[:4], ["explain", "-o", str(folder)], ["explain", *line[2:]]):
        assert run(wrong) == 2
        assert "needs " in capsys.readouterr().err
    for place, said in (("-", "name a folder"), (str(folder / "notes.txt"), "is no folder")):
        assert run([*line[:-1], place]) == 2
        assert said in capsys.readouterr().err
