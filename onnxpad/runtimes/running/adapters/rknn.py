"""Rockchip's simulator of the NPU in $PLATFORM, after its converter, without quantisation."""

import os
from typing import Any

from rknn.api import RKNN


def load(model: str, inputs: Any, outputs: Any) -> Any:
    network = RKNN(verbose=False)
    network.config(target_platform=os.environ["PLATFORM"])
    sizes = [list(array.shape) for array in inputs.values()]
    steps = {
        "load_onnx": lambda: network.load_onnx(model, inputs=list(inputs), input_size_list=sizes),
        "build": lambda: network.build(do_quantization=False),
        "init_runtime": network.init_runtime,
    }
    for name, step in steps.items():
        if step():
            raise RuntimeError(f"{name} failed")

    def run(inputs: Any) -> Any:
        layouts = ["nchw" if array.ndim == 4 else "undefined" for array in inputs.values()]
        results = network.inference(list(inputs.values()), data_format=layouts)
        if results is None:
            raise RuntimeError("inference failed")
        return results

    return run
