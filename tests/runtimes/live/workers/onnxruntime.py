"""onnxruntime on the CPU, or with the execution provider in $PROVIDER and nothing else."""

import os
from typing import Any

import numpy as np
import onnxruntime

Array = np.ndarray[Any, Any]


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    provider = os.environ.get("PROVIDER", "CPUExecutionProvider")
    if provider != "CPUExecutionProvider":
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    session = onnxruntime.InferenceSession(model, options, providers=[provider])
    return dict(zip(outputs, session.run(list(outputs), inputs), strict=True))
