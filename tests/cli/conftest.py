"""What several tests of the command line read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TextIO

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnxpad.cli import streams
from tests.diagnosis.texts import END, HALF, deep
from tests.retargeting.running import outputs, signed

_BROKEN = re.compile(r"\\n(?=  |[A-Z])")
"""An escaped line break with what follows one in a message."""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A model, and what two runs of the right one gave, in every format."""
    onnx.save(deep(HALF), tmp_path / "model.onnx")
    right = deep(END)
    x = [signed(seed, 1, 3, 64, 64) for seed in (0, 1)]
    y = [outputs(right, one)[0] for one in x]
    np.save(tmp_path / "x.npy", x[0])
    np.save(tmp_path / "y.npy", y[0])
    np.savez(tmp_path / "names.npz", x=x[0], y=y[0])
    np.savez(tmp_path / "places.npz", x[0], y[0])
    np.savez(tmp_path / "samples.npz", s0_in0=x[0], s1_in0=x[1], s0_out0=y[0], s1_out0=y[1])
    for sample in (0, 1):
        folder = tmp_path / "data" / f"test_data_set_{sample}"
        folder.mkdir(parents=True)
        for kind, name, value in (("input", "x", x[sample]), ("output", "y", y[sample])):
            tensor = numpy_helper.from_array(value, name)
            (folder / f"{kind}_0.pb").write_bytes(tensor.SerializeToString())
    return tmp_path


@pytest.fixture(autouse=True)
def sentences_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """No sentence for people has a line break in it, which would be printed as its escape."""
    plain = streams.dressed

    def checked(text: str, stream: TextIO) -> str:
        assert not _BROKEN.search(text), text
        return plain(text, stream)

    monkeypatch.setattr(streams, "dressed", checked)
