"""onnxruntime's WebGPU provider, on SwiftShader where $VK_ICD_FILENAMES names its icd file."""

from typing import Any

import numpy as np
import onnxruntime

Array = np.ndarray[Any, Any]

DEVICE, CPU = "WebGpuExecutionProvider", "CPUExecutionProvider"


def run(
    model: str, inputs: dict[str, Array], outputs: dict[str, int]
) -> tuple[dict[str, Array], bool]:
    session, falls_back = opened(model)
    if DEVICE not in session.get_providers():
        raise RuntimeError("onnxruntime opened the model again with the CPU provider alone")
    results = session.run(list(outputs), inputs)
    if DEVICE not in session.get_providers():
        raise RuntimeError("onnxruntime ran the model again with the CPU provider alone")
    return dict(zip(outputs, results, strict=True)), falls_back


def opened(model: str) -> tuple[Any, bool]:
    """A session, and whether it leaves a node to the CPU."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    try:
        return onnxruntime.InferenceSession(model, options, providers=[DEVICE]), False
    except Exception:  # noqa: BLE001 # nobody else's error tells that a node is on the CPU
        lenient = onnxruntime.SessionOptions()
        lenient.log_severity_level = 4
        return onnxruntime.InferenceSession(model, lenient, providers=[DEVICE, CPU]), True
