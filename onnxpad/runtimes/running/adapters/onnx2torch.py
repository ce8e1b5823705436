"""PyTorch on the CPU, after onnx2torch has converted the model."""

import sys
import types
from functools import lru_cache
from typing import Any

import numpy as np
import torch

# onnx2torch wants torchvision for NonMaxSuppression and RoiAlign only, and no build of torchvision
# fits a CPU build of torch.
OPERATORS = types.ModuleType("torchvision.ops")
OPERATORS.__dict__.update(nms=None, roi_align=None)
sys.modules |= {"torchvision": types.ModuleType("torchvision"), "torchvision.ops": OPERATORS}

from onnx2torch import convert  # noqa: E402

Array = np.ndarray[Any, Any]


@lru_cache(maxsize=1)
def _module(model: str) -> Any:
    return convert(model).eval()


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    with torch.no_grad():
        results = _module(model)(*[torch.from_numpy(array) for array in inputs.values()])
    several = [results] if isinstance(results, torch.Tensor) else list(results)
    return {name: result.numpy() for name, result in zip(outputs, several, strict=False)}
