"""TVM's relax front end for ONNX, compiled by LLVM."""

from typing import Any

import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def load(model: str, inputs: Any, outputs: Any) -> Any:
    # Fixed sizes, as one gives them to TVM: with symbolic ones SAME and pools are refused.
    shapes = {name: list(array.shape) for name, array in inputs.items()}
    types = {name: str(array.dtype) for name, array in inputs.items()}
    module = from_onnx(onnx.load(model), shapes, types)
    module = relax.transform.DecomposeOpsForInference()(module)
    module = relax.transform.LegalizeOps()(module)
    machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())

    def run(inputs: Any) -> Any:
        results = machine["main"](*[tvm.runtime.tensor(array) for array in inputs.values()])
        several = [results] if hasattr(results, "numpy") else results
        return [result.numpy() for result in several]

    return run
