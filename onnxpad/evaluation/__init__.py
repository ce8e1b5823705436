"""Float64 evaluation of padded operators by the ONNX text, and the rounding they may show."""

from onnxpad.evaluation.calls import Call
from onnxpad.evaluation.convolution import convolve, transposed
from onnxpad.evaluation.operators import evaluate, supports
from onnxpad.evaluation.padding import pad
from onnxpad.evaluation.pooling import Pool, average_pool, lp_pool, max_pool
from onnxpad.evaluation.rounding import Arithmetic, bounded, magnitude
from onnxpad.evaluation.windows import NotEvaluable, same_pads

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
