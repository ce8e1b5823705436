"""onnxpad validate --proof-only loads no runtime, also where it writes a counterexample."""

from __future__ import annotations

from pathlib import Path

import onnx

from tests.house.test_imports_light import loaded_by
from tests.proof.small_models import text

CONV = """g (float[1,1,H] x) => (float[a,b,c] y) <float[1,1,3] w = {{1, 2, 3}}>
    {{ y = Conv<{}>(x, w) }}"""


def test_no_runtime_is_loaded(tmp_path: Path) -> None:
    onnx.save(text(CONV.format('auto_pad = "SAME_UPPER"')), tmp_path / "same.onnx")
    onnx.save(text(CONV.format("pads = [0, 2]")), tmp_path / "wrong.onnx")
    line = ("validate", "same.onnx", "wrong.onnx", "--proof-only", "--counterexample", "x.npz")
    assert "onnxruntime" not in loaded_by(*line, folder=tmp_path)
    assert (tmp_path / "x.npz").exists()
