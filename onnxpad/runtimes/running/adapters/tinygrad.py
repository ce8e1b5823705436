"""tinygrad's ONNX runner on the CPU, whose kernels clang compiles.

What tinygrad allocates is filled with ones bit by bit, which no float is and no result has: a cell
that no kernel writes would otherwise hold whatever an earlier model left there, and often look
right.
"""

import ctypes
from functools import lru_cache
from typing import Any

import numpy as np
from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner
from tinygrad.runtime.ops_cpu import CPUAllocator

Array = np.ndarray[Any, Any]

_allocate = CPUAllocator.alloc


def _allocate_filled(self: CPUAllocator, size: int, options: Any = None) -> Any:
    buffer = _allocate(self, size, options)
    if options is None:
        ctypes.memset(int(buffer.va_addr), 0xFF, size)
    return buffer


CPUAllocator.alloc = _allocate_filled


@lru_cache(maxsize=1)
def _runner(model: str, _shapes: tuple[tuple[int, ...], ...]) -> Any:
    return OnnxRunner(model)  # whose open sizes are those of its first run


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    runner = _runner(model, tuple(array.shape for array in inputs.values()))
    results = runner({name: Tensor(array) for name, array in inputs.items()})
    return {name: results[name].numpy() for name in outputs}
