"""Folders of small models, and workers that meet with accidents."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from tests.models.tiny import tiny

SAME = "y = Conv <auto_pad = 'SAME_UPPER', strides = [2]> (x, w)".replace("'", '"')
PLAIN = "y = Conv <pads = [1, 1]> (x, w)"
KILLED = """
import os, signal
replace, times, marks = os.replace, {times!r}, {marks!r}
def replacing(source, target, **more):
    name = os.path.basename(target)
    before = sum(one.startswith(name) for one in os.listdir(marks))
    if before < times.get(name, 0):
        open(os.path.join(marks, name + str(os.getpid())), "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(source, target, **more)
os.replace = replacing
"""
STUCK = """
import os, time
fsync = os.fsync
os.fsync = lambda number: (fsync(number), time.sleep(600))
"""


def save(folder: Path, **bodies: str) -> Path:
    """Models by name; 'a__b' stands in the folder a, and a body that is no model is damaged."""
    for name, body in bodies.items():
        path = folder / f"{name.replace('__', '/')}.onnx"
        path.parent.mkdir(parents=True, exist_ok=True)
        if body:
            onnx.save(tiny(body), path)
        else:
            path.write_bytes(b"damaged")
    return folder


def accidents(folder: Path, monkeypatch: pytest.MonkeyPatch, **times: int) -> None:
    """Workers that are about to give a file its name are killed, so many for each model."""
    marks = folder / "marks"
    marks.mkdir(parents=True)
    named = {f"{name}.onnx": number for name, number in times.items()}
    code = KILLED.format(times=named, marks=str(marks))
    (folder / "sitecustomize.py").write_text(code)
    monkeypatch.syspath_prepend(str(folder))


def leftovers(folder: Path) -> list[Path]:
    """Files that are half-written, or were; none where the folder has gone meanwhile."""
    try:
        return [path for path in folder.rglob("*") if path.name.endswith(".tmp")]
    except FileNotFoundError:
        return []
