"""Float64 evaluation of padded operators by the ONNX text."""

from onnxpad.probing.evaluator.kernels import (
    NotEvaluable,
    Pool,
    average_pool,
    convolve,
    lp_pool,
    max_pool,
    pad,
    same_pads,
    transposed,
)
from onnxpad.probing.evaluator.operators import evaluate, supports

__all__ = [
    "NotEvaluable",
    "Pool",
    "average_pool",
    "convolve",
    "evaluate",
    "lp_pool",
    "max_pool",
    "pad",
    "same_pads",
    "supports",
    "transposed",
]
