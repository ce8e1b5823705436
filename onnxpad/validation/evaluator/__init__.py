"""Float64 evaluation of padded operators by the ONNX text, and the rounding they may show."""

from onnxpad.validation.evaluator.calls import Call
from onnxpad.validation.evaluator.convolution import convolve, transposed
from onnxpad.validation.evaluator.operators import evaluate, supports
from onnxpad.validation.evaluator.padding import pad
from onnxpad.validation.evaluator.pooling import Pool, average_pool, lp_pool, max_pool
from onnxpad.validation.evaluator.rounding import Arithmetic, bounded, magnitude
from onnxpad.validation.evaluator.windows import NotEvaluable, same_pads

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
