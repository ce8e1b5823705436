"""onnxruntime as it is by default and with its optimisations off; its refusals are answers."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

Array = NDArray[Any]


def outputs(
    model: onnx.ModelProto, feed: Mapping[str, Array], *, optimised: bool = False
) -> list[Array] | str:
    """The outputs, or what onnxruntime says against the model; skips without onnxruntime."""
    session = _session(model.SerializeToString(), optimised)
    if isinstance(session, str):
        return session
    try:
        return [np.asarray(value) for value in session.run(None, dict(feed))]
    except Exception as error:  # noqa: BLE001 - its errors have no common class
        return str(error)


def ran(
    model: onnx.ModelProto, feed: Mapping[str, Array], *, optimised: bool = False
) -> Array | str:
    """The first of them."""
    found = outputs(model, feed, optimised=optimised)
    return found if isinstance(found, str) else found[0]


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
