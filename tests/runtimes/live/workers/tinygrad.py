"""tinygrad's ONNX runner on the CPU, whose kernels clang compiles."""

from typing import Any

import numpy as np
from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner

Array = np.ndarray[Any, Any]


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    results = OnnxRunner(model)({name: Tensor(array) for name, array in inputs.items()})
    return {name: results[name].numpy() for name in outputs}
