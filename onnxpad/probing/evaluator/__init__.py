"""Float64 evaluation of padded operators by the ONNX text, and the rounding they may show."""

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
from onnxpad.probing.evaluator.operators import Call, evaluate, supports
from onnxpad.probing.evaluator.rounding import Arithmetic, bounded, magnitude

__all__ = [
    "Arithmetic",
    "Call",
    "NotEvaluable",
    "Pool",
    "average_pool",
    "bounded",
    "convolve",
    "evaluate",
    "lp_pool",
    "magnitude",
    "max_pool",
    "pad",
    "same_pads",
    "supports",
    "transposed",
]
