"""Judges for passes that put several operators in the place of one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from onnxpad.rewriting.rewrite import rewrite

Array = NDArray[Any]


def rewritten_model(model: onnx.ModelProto, *rules: str, **options: Any) -> onnx.ModelProto:
    """The model after the passes, which must change it, once, and leave it valid if it was."""
    done = rewrite(model, passes=rules, **options)
    assert done.changed, [refusal.skip for refusal in done.skips]
    assert isinstance(done.model, onnx.ModelProto)
    if is_valid(model):
        onnx.checker.check_model(done.model, full_check=True)
    assert not rewrite(done.model, passes=rules, **options).changed, "a second run changes it"
    return done.model


def is_valid(model: onnx.ModelProto) -> bool:
    """Whether the checker and shape inference have nothing against the model."""
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def levels(model: onnx.ModelProto, feed: Mapping[str, Array]) -> list[list[Array]]:
    """All outputs by onnxruntime, with its optimisations off and on."""
    runtime = pytest.importorskip("onnxruntime")
    found = []
    for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_ALL"):
        options = runtime.SessionOptions()
        options.graph_optimization_level = getattr(runtime.GraphOptimizationLevel, level)
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        session = runtime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        found.append(session.run(None, dict(feed)))
    return found


def drawn(shape: Sequence[int], dtype: str, seed: int = 0) -> Array:
    """Signed data: whole numbers, which float arithmetic adds up exactly."""
    rng = np.random.default_rng(seed)
    low = 0 if dtype.startswith("uint") else -9
    return rng.integers(low, 10, tuple(shape)).astype(dtype)


def agrees(
    model: onnx.ModelProto,
    rule: str,
    shapes: Iterable[Sequence[int]],
    *,
    dtype: str = "float32",
    rtol: float = 2e-6,
    **options: Any,
) -> onnx.ModelProto:
    """The rewritten model, which must compute the same on inputs of all these shapes."""
    after = rewritten_model(model, rule, **options)
    for seed, shape in enumerate(shapes):
        feed = {"x": drawn(shape, dtype, seed)}
        wanted = levels(model, feed)[0]
        for found in levels(after, feed):
            for one, other in zip(found, wanted, strict=True):
                assert (one.dtype, one.shape) == (other.dtype, other.shape)
                if one.dtype.kind in "iub" or rtol == 0:
                    np.testing.assert_array_equal(one, other)
                else:
                    np.testing.assert_allclose(one, other, rtol=rtol)
    return after
