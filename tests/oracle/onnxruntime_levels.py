"""onnxruntime as it is by default and with its optimisations off; its refusals are answers."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import onnx
import pytest
from numpy.typing import NDArray

Array = NDArray[Any]


def ran(model: onnx.ModelProto, feed: Mapping[str, Array], *, optimised: bool) -> Array | str:
    """The first output, or what onnxruntime says against the model; skips without onnxruntime."""
    session = _session(model.SerializeToString(), optimised)
    if isinstance(session, str):
        return session
    try:
        result: Array = session.run(None, dict(feed))[0]
    except Exception as error:  # noqa: BLE001 - its errors have no common class
        return str(error)
    return result


@lru_cache(maxsize=16)
def _session(model: bytes, optimised: bool) -> Any:
    """A session, or what onnxruntime says against the model; one serves for inputs of any size."""
    runtime = pytest.importorskip("onnxruntime")
    levels = runtime.GraphOptimizationLevel
    options = runtime.SessionOptions()
    options.graph_optimization_level = (
        levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    )
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 - its errors have no common class
        return str(error)
