"""The recipes of `explain own-runtime`, run as they stand in the runtimes that they are about."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from onnxpad import rewrite, validate
from onnxpad.explaining import explain
from tests.house.documents import ROOT
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.environments import Unavailable, place

MODEL = ROOT / "models" / "pd_same_static_op13.onnx"
TEXT = explain("own-runtime")[0].text
SHAPE = (1, 3, 40, 44)


def _recipe(first: str) -> str:
    (block,) = (part for part in TEXT.split("\n\n") if part.startswith(f"    {first}"))
    return re.sub("^    ", "", block, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "module", "first"),
    [("ncnn", "ncnn", "net = ncnn.Net()"), ("opencv", "cv2", "net = cv2.dnn.readNet")],
)
def test_a_right_model_reads_right(name: str, module: str, first: str, tmp_path: Path) -> None:
    try:
        python = place(RUNTIMES[name])
    except Unavailable as reason:
        pytest.skip(str(reason))
    rewrite(MODEL, target=name).save(tmp_path / "out.onnx")
    x = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    lines = ("import numpy as np", f"import {module}", "x = np.load('x.npy')", _recipe(first))
    (tmp_path / "own.py").write_text("\n".join([*lines, "np.save('y.npy', y)"]))
    if name == "ncnn":
        (pnnx,) = re.findall(r"`(pnnx [^`]+)`", TEXT)
        (program,) = python.parents[1].glob("lib/*/site-packages/pnnx/pnnx")
        _run([str(program), *pnnx.split()[1:]], tmp_path)
    _run([str(python), "own.py"], tmp_path)
    np.savez(tmp_path / "out.npz", x=x, fetch_name_0=np.load(tmp_path / "y.npy"))
    assert validate(MODEL, data=tmp_path / "out.npz").verdict in {"rounding", "identical"}


def _run(line: list[str], folder: Path) -> None:
    subprocess.run(line, cwd=folder, capture_output=True, check=True, timeout=90)
