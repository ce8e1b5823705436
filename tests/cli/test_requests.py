"""Options that several models share, and options that would do nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest

from onnxpad import validation
from onnxpad.cli import run
from onnxpad.explaining import explain
from onnxpad.inspection import inspect
from tests.cli.processes import COMMAND, DYNAMIC, MODELS, ROOT, SAME
from tests.cli.test_terminals import on_a_terminal
from tests.models.text import text_model

Captured = pytest.CaptureFixture[str]


def test_a_glob_that_one_model_lacks_is_a_note(capsys: Captured, tmp_path: Path) -> None:
    options = ["--node", "Conv__8990", "-o", str(tmp_path)]
    assert run(["rewrite", str(SAME), str(DYNAMIC), *options]) == 0
    captured = capsys.readouterr()
    assert captured.err == (
        "note: a padded node that matches 'Conv__8990' is in 1 of 2 models, and left out of the "
        "others\n"
    )
    assert f"{tmp_path / SAME.name}: 0 nodes rewritten" in captured.out
    assert (tmp_path / SAME.name).read_bytes() == SAME.read_bytes()


def test_a_dimension_that_one_model_lacks_is_a_note(capsys: Captured, tmp_path: Path) -> None:
    options = ["--dim", "unk__9105%4=0", "--dim", "unk__9106%4=0"]
    assert run(["rewrite", str(SAME), str(DYNAMIC), *options, "-o", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert captured.err.count("is in 1 of 2 models, and left out of the others") == 2
    assert "7 nodes rewritten (explicit-pads 7), 0 skipped" in captured.out
    assert run(["inspect", str(SAME), str(DYNAMIC), *options]) == 0
    assert "note: " in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--node", "stem/*"], ["--dim", "stem=4"]])
def test_what_no_model_has_is_an_error(option: list[str], capsys: Captured, tmp_path: Path) -> None:
    models = [str(SAME), str(DYNAMIC)]
    assert run(["rewrite", *models, *option, "-o", str(tmp_path)]) == 2
    assert run(["inspect", *models, *option]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("stem") == captured.err.count("error: no ") == 2
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


def test_errors_about_one_model_begin_with_its_name(capsys: Captured) -> None:
    assert run(["inspect", str(SAME), "--node", "stem/*"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {SAME}: no padded node matches")
    assert run(["rewrite", str(SAME), "--check", "--pass", "nothing"]) == 2
    assert str(SAME) not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rewrite", SAME, "--check", "--seed", "1"], "--seed does nothing here: only --validate"),
        (["rewrite", SAME, "--check", "--device", "auto"], "--device does nothing here"),
        (["validate", SAME, SAME, "--seed", "-1"], "-1 is not in the range x>=0"),
        (
            ["validate", SAME, SAME, "--inputs", SAME, "--samples", "3", "--seed", "0"],
            "--samples and --seed do nothing here: --inputs",
        ),
        (
            ["validate", SAME],
            "give either AFTER, or a reference with --data or --outputs; neither is given",
        ),
        (["validate", SAME, SAME, "--outputs", SAME], "both are given: for example"),
    ],
)
def test_options_that_do_nothing_are_refused(
    arguments: list[str | Path], message: str, capsys: Captured
) -> None:
    assert run([str(part) for part in arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_terminal_gets_no_model() -> None:
    text, status = on_a_terminal(*COMMAND, "rewrite", SAME, "-o", "-", TERM="xterm")
    assert status == 2
    assert "standard output is a terminal" in text
    assert "\x08" not in text


def test_errors_and_notes_are_escaped(capsys: Captured, tmp_path: Path) -> None:
    model = text_model("[c] y = MaxPool <kernel_shape=[2]> (x)")
    model.graph.node[0].name = "\x1b[31mred\nerror: forged"
    onnx.save(model, tmp_path / "m.onnx")
    assert run(["inspect", str(tmp_path / "m.onnx"), "--node", "x*"]) == 2
    error = capsys.readouterr().err
    assert r"\x1b[31mred\nerror: forged" in error
    assert len(error.splitlines()) == 1


def test_all_rows_are_shown_where_asked(capsys: Captured) -> None:
    path = MODELS / "k_yolo_tiny_op15.onnx"
    nodes = inspect(path).nodes
    assert run(["inspect", str(path)]) == 0
    assert capsys.readouterr().out.partition("\n\n")[2].count("\n") - 1 < len(nodes)
    assert run(["inspect", str(path), "--all"]) == 0
    assert capsys.readouterr().out.partition("\n\n")[2].count("\n") - 1 == len(nodes)


def test_ambiguous_reaches_the_validation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def asked(*_: object, ambiguous: str | None = None, **__: object) -> None:
        given["ambiguous"] = ambiguous
        raise KeyboardInterrupt

    monkeypatch.setattr(validation, "validate", asked)
    options = ["--validate", "--ambiguous", "pads", "-o", str(tmp_path / "o.onnx")]
    assert run(["rewrite", str(SAME), *options]) == 130
    assert given == {"ambiguous": "pads"}


def test_the_hint_about_cuda_is_that_of_the_topic() -> None:
    hint = "pip install '.[cuda]'"
    assert hint in explain("installation")[0].text
    assert hint in (ROOT / "onnxpad" / "sessions" / "__init__.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((SAME, "out.onnx"), "did you mean -o out.onnx?"),
        ((SAME, DYNAMIC, "my model.onnx"), "did you mean -o 'my model.onnx'?"),
        ((SAME,), "add -o OUT"),
        ((SAME, DYNAMIC, SAME), "add -o OUT"),
    ],
)
def test_a_second_name_is_not_where_to_write(
    given: tuple[object, ...],
    said: str,
    capsys: Captured,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["rewrite", *map(str, given)]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
