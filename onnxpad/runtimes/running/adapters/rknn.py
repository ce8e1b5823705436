"""Rockchip's simulator of the NPU in $PLATFORM, after its converter, without quantisation."""

import os
from functools import lru_cache
from typing import Any

import numpy as np
from rknn.api import RKNN

Array = np.ndarray[Any, Any]


@lru_cache(maxsize=1)
def _network(model: str, inputs: tuple[tuple[str, tuple[int, ...]], ...]) -> Any:
    network = RKNN(verbose=False)
    network.config(target_platform=os.environ["PLATFORM"])
    names, sizes = [name for name, _ in inputs], [list(shape) for _, shape in inputs]
    steps = {
        "load_onnx": lambda: network.load_onnx(model, inputs=names, input_size_list=sizes),
        "build": lambda: network.build(do_quantization=False),
        "init_runtime": network.init_runtime,
    }
    for name, step in steps.items():
        if step():
            raise RuntimeError(f"{name} failed")
    return network


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    network = _network(model, tuple((name, array.shape) for name, array in inputs.items()))
    layouts = ["nchw" if array.ndim == 4 else "undefined" for array in inputs.values()]
    results = network.inference(list(inputs.values()), data_format=layouts)
    if results is None:
        raise RuntimeError("inference failed")
    return dict(zip(outputs, results, strict=False))
