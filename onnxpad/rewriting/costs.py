"""What a rewrite adds to the work of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from onnxpad.geometry.size import Size
from onnxpad.padding.chain import Chain
from onnxpad.padding.effective_pads import output_sizes
from onnxpad.padding.operators import Kind

NOMINAL = 64
"""Stands for sizes and channels that are not known."""
MULTIPLY_ADDS_PER_BYTE = 8
"""What moving a byte is worth: the balance of common processors and accelerators, roughly."""
MULTIPLY_ADDS_PER_OPERATOR = 10_000

_BYTES = {"float16": 2, "bfloat16": 2, "int8": 1, "uint8": 1, "float64": 8}


@dataclass(frozen=True, slots=True, order=True)
class Cost:
    """Work that comes on top, for one item of the batch."""

    multiply_adds: int = 0
    bytes_moved: int = 0
    operators: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.multiply_adds + other.multiply_adds,
            self.bytes_moved + other.bytes_moved,
            self.operators + other.operators,
        )

    def __sub__(self, other: Cost) -> Cost:
        return self + Cost(-other.multiply_adds, -other.bytes_moved, -other.operators)

    def times(self, count: int) -> Cost:
        """The same work `count` times."""
        work = (self.multiply_adds, self.bytes_moved, self.operators)
        return Cost(*(count * one for one in work))

    @property
    def weight(self) -> int:
        """One number to compare costs by, in multiply-adds."""
        moved = MULTIPLY_ADDS_PER_BYTE * self.bytes_moved
        return self.multiply_adds + moved + MULTIPLY_ADDS_PER_OPERATOR * self.operators

    def __str__(self) -> str:
        return (
            f"{self.multiply_adds:+,} multiply-adds, {self.bytes_moved:+,} bytes moved, "
            f"{self.operators:+} operators"
        )


def input_cells(chain: Chain) -> tuple[int, ...]:
    """The spatial sizes of the input."""
    return tuple(_known(axis.size) for axis in chain.axes)


def output_cells(chain: Chain) -> tuple[int, ...]:
    """The spatial sizes of the output."""
    return tuple(_known(size) for size in output_sizes(chain))


def input_channels(chain: Chain) -> int:
    """Channels of the input."""
    if chain.shape is None:
        return NOMINAL
    return _known(chain.shape[1 if chain.first_axis == 2 else -1])


def output_channels(chain: Chain) -> int:
    """Channels of the output."""
    if chain.op.is_pool:
        return input_channels(chain)
    sizes = chain.weight.shape or (None, None)
    if chain.op.kind is Kind.TRANSPOSED:
        return _known(sizes[1]) * int(chain.attribute("group", 1))  # type: ignore[arg-type]
    return _known(sizes[0])


def multiply_adds(chain: Chain, places: Sequence[int], kernel: Sequence[int]) -> int:
    """For windows at `places`: outputs, or inputs of a transposed convolution."""
    deep = 1
    if not chain.op.is_pool:
        deep = _known((chain.weight.shape or (None, None))[1])
    many = input_channels(chain) if chain.op.kind is Kind.TRANSPOSED else output_channels(chain)
    return prod(places) * prod(kernel) * deep * many


def moved(chain: Chain, cells: Sequence[int], channels: int) -> int:
    """Bytes for reading and writing a tensor of the input's element type once."""
    return 2 * prod(cells) * channels * _BYTES.get(chain.dtype, 4)


def _known(size: Size | None) -> int:
    return max(1, size) if isinstance(size, int) else NOMINAL
