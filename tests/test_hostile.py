"""A short draw of the attack, and proofs that it sees what it is there to see."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest

from tests.cli.processes import ROOT, environment
from tools.hostile.case import SECRET, Case, Command, Place
from tools.hostile.judge import faults, file_faults, tree
from tools.hostile.limited import Limits, Outcome
from tools.hostile.running import CLASSES

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the attack forks, which is POSIX")


@pytest.mark.sweep
def test_a_short_draw() -> None:
    """In processes of their own, which import onnxpad once and adopt what is left behind.

    Its cases stay far below the limits, which tell nothing where much else runs.
    """
    drawn = ("--count", "8", "--seed", "4", "--processes", "2")
    process = subprocess.run(
        [sys.executable, "-m", "tools.hostile", *drawn],
        check=False,
        capture_output=True,
        cwd=ROOT,
        env=environment(),
    )
    assert process.returncode == 0, process.stdout.decode()


@pytest.mark.parametrize("kind", CLASSES)
def test_cases_are_repeatable(kind: str, tmp_path: Path) -> None:
    made = []
    for time in ("first", "second"):
        place = Place(tmp_path / time)
        place.make()
        case = Case(kind, 3, seed=5)
        commands = [str(one) for one in CLASSES[kind].make(case.random(), place)]
        model = place.inside / "model.onnx"
        made.append((commands, model.read_bytes() if model.exists() else b""))
    first, second = made
    assert [text.replace("first", "second") for text in first[0]] == second[0]
    assert first[1] == second[1]


def _changes_the_input(place: Place) -> None:
    (place.inside / "model.onnx").write_bytes(b"")


def _leaves_a_file(place: Place) -> None:
    (place.outputs / ".out.onnx.1234").write_bytes(b"")


def _writes_half(place: Place) -> None:
    (place.outputs / "out.onnx").write_bytes(b"\x08\x0a\x7f")


def _copies_a_secret(place: Place) -> None:
    (place.outputs / "out.onnx").write_bytes(b"\x12" + bytes([len(SECRET)]) + SECRET)


def _removes_the_input(place: Place) -> None:
    (place.inside / "model.onnx").unlink()


def _touches_what_is_outside(place: Place) -> None:
    (place.outside / "new.onnx").write_bytes(b"")


@pytest.mark.parametrize(
    ("does", "what"),
    [
        (_changes_the_input, "changes a file"),
        (_leaves_a_file, "leaves a file that nobody asked for"),
        (_writes_half, "an output is half-written"),
        (_copies_a_secret, "copies what stands outside"),
        (_removes_the_input, "removes a file"),
        (_touches_what_is_outside, "leaves a file that nobody asked for"),
    ],
)
def test_harm_to_files_is_seen(does: Callable[[Place], None], what: str, tmp_path: Path) -> None:
    place = Place(tmp_path / "case")
    place.make()
    place.write("model.onnx", b"\x08\x0a")
    before = tree(place)
    command = Command(("rewrite", "model.onnx", "-o", "../out/out.onnx"), output="../out/out.onnx")
    assert not list(file_faults(place, command, before, tree(place), 0))
    does(place)
    assert what in {fault.what for fault in file_faults(place, command, before, tree(place), 0)}


FINE = Outcome(0, "", 0.1, 0.2, 1 << 20, 0, b"op\n", b"")


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"code": 3}, "exit code 3"),
        ({"code": 120}, "exit code 120"),
        ({"code": 134}, "exit code 134"),
        ({"code": 143}, "exit code 143"),
        ({"code": 2}, "exit code 2 without a message"),
        ({"ended": "processor", "code": 137}, "over the limit of processor time"),
        ({"seconds": 11.0}, "over the limit of processor time"),
        ({"memory": 2 << 30}, "over the limit of memory"),
        ({"ended": "waiting", "code": 137}, "does not end"),
        ({"orphans": 1}, "leaves processes behind"),
        ({"stderr": b"Traceback (most recent call last):\n"}, "Traceback (most recent call last)"),
        ({"stderr": b"error: internal error; please report it\n"}, "internal error"),
        ({"stderr": b"\x1b[31m\n"}, "raw control characters on stderr"),
        ({"stdout": b"\xff\n"}, "stdout is not UTF-8"),
        ({"stderr": b"n" * 5000}, "a line of a message is too long"),
        ({"stderr": b"note: n\n" * 9000}, "messages are too long"),
        ({"stdout": SECRET}, "shows what stands outside"),
    ],
)
def test_what_a_process_may_not_do_is_seen(changed: dict[str, Any], what: str) -> None:
    command, limits = Command(("inspect", "model.onnx")), Limits(10.0, 1 << 30)
    assert not list(faults(command, FINE, limits))
    assert what in {fault.what for fault in faults(command, replace(FINE, **changed), limits)}


def test_a_model_on_standard_output_may_hold_any_text() -> None:
    said = replace(FINE, stdout=b"\x08\x0a File /venv/lib/site-packages/torch/nn\xff\x1b")
    limits = Limits(10.0, 1 << 30)
    assert not list(faults(Command(("rewrite", "model.onnx", "-o", "-")), said, limits))
    assert len(list(faults(Command(("inspect", "model.onnx")), said, limits))) == 2


def test_a_signal_explains_its_exit_code_and_not_that_it_was_late() -> None:
    command = Command(("inspect", "model.onnx"), signal=(SIGTERM, 0.1))
    ended = replace(FINE, code=143, late=0.5)
    assert not list(faults(command, ended, Limits(10.0, 1 << 30)))
    (fault,) = faults(command, replace(ended, late=3.0), Limits(10.0, 1 << 30))
    assert fault.what == "SIGTERM ends it late"


def test_what_commands_run_in_and_how_they_end(tmp_path: Path) -> None:
    """A model of two commands, as processes: what is measured is what they did."""
    lines = [("--version",), ("inspect", "missing.onnx"), ("explain", "\x1b[31m")]
    script = (
        "import sys; from pathlib import Path; from tools.hostile.case import Command, Place;"
        "from tools.hostile.limited import Limits, run; place = Place(Path(sys.argv[1]) / 'case');"
        f"place.make(); lines = {lines!r};"
        "[print(run(place, Command(line), Limits(10, 1 << 30))) for line in lines]"
    )
    process = subprocess.run(
        [sys.executable, "-c", script, tmp_path],
        check=True,
        capture_output=True,
        cwd=ROOT,
        env=environment(),
    )
    version, missing, name = process.stdout.decode().splitlines()
    assert "code=0" in version
    assert "onnxpad, version" in version
    assert "code=2" in missing
    assert "missing.onnx" in missing
    assert "code=2" in name
    assert "stdout=b''" in name
