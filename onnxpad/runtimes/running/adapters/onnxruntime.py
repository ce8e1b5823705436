"""onnxruntime with the execution provider in $PROVIDER; on a device it says what the CPU did."""

import base64
import os
from functools import lru_cache
from typing import Any

import numpy as np
import onnxruntime

Array = np.ndarray[Any, Any]

CPU = "CPUExecutionProvider"
PROVIDER = os.environ["PROVIDER"]
OPTIONS = {
    "CUDAExecutionProvider": {"use_tf32": "0"},
    "OpenVINOExecutionProvider": {"device_type": "CPU", "precision": "FP32"},
}
ONE_RELU = base64.b64decode(
    "CAg6NQoOCgF4EgF5IgRSZWx1OgASAWdaDwoBeBIKCggIARIECgIIAWIPCgF5EgoKCAgBEgQKAggBQgQKABAN"
)


def _opened(model: Any, *, strict: bool) -> Any:
    """A session; a strict one has every node on the device."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    providers: list[Any] = [(PROVIDER, OPTIONS.get(PROVIDER, {}))]
    if strict and PROVIDER != CPU:
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    elif not strict:
        providers.append(CPU)
    session = onnxruntime.InferenceSession(model, options, providers=providers, enable_fallback=0)
    if PROVIDER not in session.get_providers():
        raise ImportError(f"onnxruntime {onnxruntime.__version__} opens no {PROVIDER} here")
    return session


@lru_cache(maxsize=1)
def _session(model: str) -> tuple[Any, bool]:
    """A session, and whether it leaves a node to the CPU."""
    try:
        return _opened(model, strict=True), False
    except Exception:
        if PROVIDER == CPU:
            raise
        return _opened(model, strict=False), True


def run(
    model: str, inputs: dict[str, Array], outputs: dict[str, int]
) -> tuple[dict[str, Array], bool]:
    session, falls_back = _session(model)
    return dict(zip(outputs, session.run(list(outputs), inputs), strict=True)), falls_back


# Without its libraries, a device is left out in silence: that is no fault of a model.
_opened(ONE_RELU, strict=False)
