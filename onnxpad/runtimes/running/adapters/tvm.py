"""TVM's relax front end for ONNX, compiled by LLVM."""

from functools import lru_cache
from typing import Any

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

Array = np.ndarray[Any, Any]


@lru_cache(maxsize=1)
def _machine(model: str, inputs: tuple[tuple[str, tuple[int, ...], str], ...]) -> Any:
    # Fixed sizes, as one gives them to TVM: with symbolic ones SAME and pools are refused.
    shapes = {name: list(shape) for name, shape, _ in inputs}
    types = {name: kind for name, _, kind in inputs}
    module = from_onnx(onnx.load(model), shapes, types)
    module = relax.transform.DecomposeOpsForInference()(module)
    module = relax.transform.LegalizeOps()(module)
    return relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    described = tuple((name, x.shape, str(x.dtype)) for name, x in inputs.items())
    machine = _machine(model, described)
    results = machine["main"](*[tvm.runtime.tensor(array) for array in inputs.values()])
    several = [results] if hasattr(results, "numpy") else list(results)
    return {name: result.numpy() for name, result in zip(outputs, several, strict=False)}
