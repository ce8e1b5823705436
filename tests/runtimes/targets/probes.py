"""The probes and what every runtime did with them; beside the checkout, where they are there."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.runtimes.live.running import Case

SHARED = Path(os.environ.get("ONNXPAD_SHARED", Path(__file__).resolve().parents[4] / "shared"))
FOLDER = SHARED / "probes"

RUNTIMES = {
    "ort_cpu": "onnxruntime@1.31",
    "ort_web": "onnxruntime-web",
    "ort_openvino": "onnxruntime-openvino",
    "ort_webgpu": "webgpu@1.27",
    "ort_web_webgpu": "webgpu",
    "ort_web_jsep": "webgpu-jsep",
    "openvino": "openvino",
    "opencv_new": "opencv",
    "opencv_classic": "opencv-classic",
    "ncnn": "ncnn",
    "mnn": "mnn",
    "tvm": "tvm",
    "tinygrad": "tinygrad",
    "iree": "iree",
    "rknn": "rknn",
    "qnn_htp": "qnn",
    "onnx2tf": "tflite",
    "onnx2torch": "onnx2torch",
    "jaxort": "jaxonnxruntime",
    "onnx2keras": "onnx2keras",
}
"""What the records call a runtime, and the target for it."""

DISPUTED = {
    "convt2d_same_upper_s3_k2": "SAME of a ConvTranspose with a total below 0: onnxruntime "
    "and shape inference clamp it, the reference does not",
}
"""Probes whose reference reads the text otherwise than this project does, with the reason."""


@dataclass(frozen=True)
class Outcome:
    """What a runtime did with a model: ok, fallback, rejects, crash or wrong."""

    runtime: str
    probe: str
    verdict: str
    error: str
    form: str = ""
    form_of: str = ""


def folder() -> Path | None:
    """Where the probes are, or None."""
    return FOLDER if FOLDER.is_dir() else None


@cache
def _records(name: str) -> list[dict[str, Any]]:
    where = folder()
    if where is None:
        return []
    found: list[dict[str, Any]] = json.loads((where / name).read_text())
    return found


def outcomes() -> list[Outcome]:
    """One for each runtime that is a target and each probe that is not disputed."""
    return [
        Outcome(RUNTIMES[r["runtime"]], r["probe"], r["verdict"], r["error"])
        for r in (*_records("matrix.json"), *_records("matrix_webgpu.json"))
        if r["runtime"] in RUNTIMES and r["probe"] not in DISPUTED
    ]


def model_path(probe: str) -> Path:
    """The file of a probe."""
    where = folder()
    assert where is not None
    return where / "models" / f"{probe}.onnx"


def cases() -> dict[str, Case]:
    """Every probe that is not disputed, with its inputs and its float64 reference."""
    found = {}
    for row in json.loads((FOLDER / "index.json").read_text("utf-8"))["probes"]:
        path = model_path(row["probe"])
        stem = path.with_suffix("")
        with np.load(f"{stem}.npz") as inputs, np.load(f"{stem}.ref.npz") as right:
            found[row["probe"]] = Case(path, dict(inputs), dict(right), row.get("tol"))
    return {name: case for name, case in found.items() if name not in DISPUTED}
