"""What work costs: multiply-adds, bytes moved, operators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

_WIDTHS = dict.fromkeys(("float64", "int64", "uint64"), 8)
_WIDTHS |= dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 2)
_WIDTHS |= dict.fromkeys(("int8", "uint8", "bool"), 1)


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
        """'36 fewer multiply-adds, 1,024 more bytes moved, 1 more operator'."""
        counts = (
            (self.multiply_adds, "multiply-add", "multiply-adds"),
            (self.bytes_moved, "byte moved", "bytes moved"),
            (self.operators, "operator", "operators"),
        )
        return ", ".join(
            f"{abs(count):,} {'more' if count > 0 else 'fewer'} {one if abs(count) == 1 else many}"
            for count, one, many in counts
            if count
        )


def cells(sizes: Iterable[Size | None]) -> int:
    """How many cells a tensor of these sizes has."""
    return prod(_known(size) for size in sizes)


def width(dtype: str) -> int:
    """Bytes of one cell."""
    return _WIDTHS.get(dtype, 4)


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


def multiply_adds(chain: Chain, windows: Sequence[int], kernel: Sequence[int]) -> int:
    """For so many windows on each axis: of the output, or the input of a transposed convolution."""
    many = input_channels(chain) if chain.op.kind is Kind.TRANSPOSED else output_channels(chain)
    return multiply_adds_of_cells(chain, prod(windows) * many, kernel)


def multiply_adds_of_cells(chain: Chain, count: int, kernel: Sequence[int]) -> int:
    """The same for cells that are counted with their channels."""
    deep = 1
    if not chain.op.is_pool:
        sizes = chain.weight.shape or (None, None)
        deep = _known(sizes[-1 if chain.op.channels_last else 1])
    return count * prod(kernel) * deep


def moved(chain: Chain, sizes: Sequence[int], channels: int) -> int:
    """Bytes for reading and writing a tensor of the input's element type once."""
    return 2 * prod(sizes) * channels * width(chain.dtype)


def _known(size: Size | None) -> int:
    return size if isinstance(size, int) else NOMINAL
