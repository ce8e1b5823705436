"""tinygrad's ONNX runner on the CPU, whose kernels clang compiles.

What tinygrad allocates is filled with ones bit by bit, which no float is and no result has: a cell
that no kernel writes would otherwise hold whatever an earlier model left there, and often look
right.
"""

import ctypes
from typing import Any

from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner
from tinygrad.runtime.ops_cpu import CPUAllocator

_allocate = CPUAllocator.alloc


def _allocate_filled(self: CPUAllocator, size: int, options: Any = None) -> Any:
    buffer = _allocate(self, size, options)
    if options is None:
        ctypes.memset(int(buffer.va_addr), 0xFF, size)
    return buffer


CPUAllocator.alloc = _allocate_filled


def load(model: str, inputs: Any, outputs: Any) -> Any:
    runner = OnnxRunner(model)

    def run(inputs: Any) -> Any:
        results = runner({name: Tensor(array) for name, array in inputs.items()})
        return [results[name].numpy() for name in outputs]

    return run
