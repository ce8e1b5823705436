"""Runs models with onnxruntime, and builds small ones to be moved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tests.oracle import onnxruntime_levels

Array = NDArray[Any]
MODELS = Path(__file__).parents[2] / "models"
PAIRS = Path(__file__).parents[3] / "shared" / "corpus" / "pairs"


def outputs(model: ModelProto, feeds: Mapping[str, Array] | Array) -> list[Array]:
    """What onnxruntime computes with optimisations off; a single array is input x."""
    found = onnxruntime_levels.outputs(model, feeds if isinstance(feeds, Mapping) else {"x": feeds})
    if isinstance(found, str):
        raise ValueError(found)  # noqa: TRY004 - it is what onnxruntime says
    return found


def signed(seed: int, *shape: int) -> Array:
    """Numbers of both signs."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def relative(found: Array, wanted: Array) -> float:
    """Largest difference over the largest value."""
    assert found.shape == wanted.shape
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def one_node(op: str, x: Array, weight: Array | None = None, **attributes: Any) -> ModelProto:
    inputs = ["x"] if weight is None else ["x", "w"]
    node = helper.make_node(op, inputs, ["y"], "op", **attributes)
    info = helper.make_tensor_value_info
    held = [] if weight is None else [numpy_helper.from_array(weight, "w")]
    kind = TensorProto.DOUBLE if x.dtype == np.float64 else TensorProto.FLOAT
    graph = helper.make_graph(
        [node], "g", [info("x", kind, list(x.shape))], [info("y", kind, [None] * x.ndim)], held
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
