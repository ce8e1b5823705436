"""Proofs that it sees what it is there to see."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile.case import SECRET, Case, Command, Place
from tests.hostile.classes import CLASSES
from tests.hostile.judge import file_faults, tree

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the attack forks, which is POSIX")


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
