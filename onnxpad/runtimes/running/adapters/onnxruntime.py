"""onnxruntime with the execution provider in $PROVIDER; on a device it says what the CPU did."""

import base64
import os
from typing import Any

import onnxruntime

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


def load(model: str, inputs: Any, outputs: Any) -> Any:
    falls_back = False
    try:
        session = _opened(model, strict=True)
    except Exception:
        if PROVIDER == CPU:
            raise
        session, falls_back = _opened(model, strict=False), True
    return lambda inputs: (session.run(list(outputs), inputs), falls_back)


# Without its libraries, a device is left out in silence: that is no fault of a model.
_opened(ONE_RELU, strict=False)
