"""PyTorch on the CPU, after onnx2torch has converted the model."""

import sys
import types
from typing import Any

import torch

# onnx2torch wants torchvision for NonMaxSuppression and RoiAlign only, and no build of torchvision
# fits a CPU build of torch.
OPERATORS = types.ModuleType("torchvision.ops")
OPERATORS.__dict__.update(nms=None, roi_align=None)
sys.modules |= {"torchvision": types.ModuleType("torchvision"), "torchvision.ops": OPERATORS}

from onnx2torch import convert  # noqa: E402


def load(model: str, inputs: Any, outputs: Any) -> Any:
    module = convert(model).eval()

    def run(inputs: Any) -> Any:
        with torch.no_grad():
            results = module(*[torch.from_numpy(array) for array in inputs.values()])
        several = [results] if isinstance(results, torch.Tensor) else results
        return [result.numpy() for result in several]

    return run
