"""The probes in ../shared and what was recorded of every runtime; absent from a lone checkout."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from tests.runtimes.live.running import Case

NAMES = {"opencv": "opencv_new", "onnxruntime": "ort_cpu", "onnxruntime-web": "ort_web"} | {
    "opencv-classic": "opencv_classic",
    "onnxruntime-openvino": "ort_openvino",
    "tflite": "onnx2tf",
    "jaxonnxruntime": "jaxort",
}
VERDICTS = {"rejects": "refused"}


def folder() -> Path:
    """$ONNXPAD_PROBES, or the probes beside the checkout."""
    beside = Path(__file__).resolve().parents[4] / "shared" / "probes"
    return Path(os.environ.get("ONNXPAD_PROBES", beside))


def probes() -> dict[str, Case]:
    """Every probe model with its inputs and its float64 reference."""
    index = json.loads((folder() / "index.json").read_text("utf-8"))["probes"]
    return {row["probe"]: _case(row) for row in index}


def _case(row: dict[str, Any]) -> Case:
    stem = folder() / "models" / row["probe"]
    with np.load(f"{stem}.npz") as inputs, np.load(f"{stem}.ref.npz") as references:
        return Case(Path(f"{stem}.onnx"), dict(inputs), dict(references), row.get("tol"))


def verdicts(runtime: str) -> dict[str, tuple[str, str]]:
    """What was recorded of a runtime: for each probe the verdict and the error or difference."""
    rows = json.loads((folder() / "matrix.json").read_text("utf-8"))
    return {
        row["probe"]: (_verdict(row), row["error"] or f"off by {row['diff']}")
        for row in rows
        if row["runtime"] == NAMES.get(runtime, runtime)
    }


def _verdict(row: dict[str, Any]) -> str:
    if row["error"].startswith("TIMEOUT"):
        return "timeout"
    return VERDICTS.get(row["verdict"], str(row["verdict"]))
