"""IREE's ONNX importer and its llvm-cpu compiler."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from iree import compiler, runtime


def load(model: str, inputs: Any, outputs: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        imported = Path(folder) / "model.mlir"
        finished = subprocess.run(
            [sys.executable, "-m", "iree.compiler.tools.import_onnx", model, "-o", imported],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if finished.returncode:
            raise RuntimeError(f"import_onnx: {finished.stdout[-300:]}")
        flatbuffer = compiler.compile_file(
            str(imported),
            input_type="onnx",
            target_backends=["llvm-cpu"],
            extra_args=["--iree-llvmcpu-target-cpu=host"],
        )
    context = runtime.SystemContext(config=runtime.Config("local-task"))
    context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, flatbuffer))
    module = context.modules["module"]
    (name,) = (n for n in module.vm_module.function_names if "$" not in n and n != "__init")

    def run(inputs: Any) -> Any:
        results = module[name](*inputs.values())
        several = results if isinstance(results, (tuple, list)) else [results]
        return [np.array(result) for result in several]

    return run
