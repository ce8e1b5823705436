"""What every window of a one-axis chain reads, written out cell by cell.

Two chains compute the same numbers for all data where their windows hold the same things. Written
from the ONNX operator text; of onnxpad only the values that a chain is made of are used.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from onnxpad.padding.chain import AutoPad, Chain, Pads
from onnxpad.padding.fills import Constant, Fill, Implicit, TensorValue, lowest
from onnxpad.padding.operators import Kind
from tests.laws.transposed_contents import transposed_cells
from tests.oracle.windows import Window, resolve_same

Meaning: TypeAlias = str
"""Of a padded cell: its number, the name of a tensor, or empty where it adds nothing."""
OWN, FOREIGN, OVERHANG = -1, -2, -3


def source_size(chain: Chain, size: int) -> int:
    """Cells in front of the Pad, where the operator's input has `size`."""
    if chain.pad is None:
        return size
    axis = chain.first_axis
    return size - chain.pad.pads.begins[axis] - chain.pad.pads.ends[axis]


def input_size(chain: Chain, source: int) -> int:
    """Cells of the operator's own input, where `source` cells stand in front of the Pad."""
    return 2 * source - source_size(chain, source)


def window_contents(chain: Chain, size: int) -> tuple[str, ...]:
    """What each window holds, in canonical form; `size` stands for the chain's own size.

    Convolutions keep the place of every cell, maxima a set, averages and LpPool a bag; an average
    also has the number of cells that it divides by. Raises ValueError where no window fits.
    """
    (axis,) = chain.axes
    held, foreign = (0, 0), ""
    if chain.pad is not None:
        begins, ends = chain.pad.pads.begins, chain.pad.pads.ends
        held = begins[chain.first_axis], ends[chain.first_axis]
        edge = chain.pad.mode == "edge" and chain.op.kind is Kind.MAX
        foreign = "edge" if edge else _meaning(chain, chain.pad.fill)
    meanings = (_meaning(chain, chain.fill), foreign)
    if chain.op.kind is Kind.TRANSPOSED:
        texts = [_name(cell, size, held, 0) for cell in range(size)]
        named = {FOREIGN: foreign}
        return tuple(
            " ".join(f"{named.get(texts[cell], texts[cell])}*{tap}" for cell, tap in pairs)
            for pairs in transposed_cells(chain, size)
        )
    window = (
        size,
        axis.kernel,
        axis.stride,
        axis.dilation,
        *_own_pads(chain, size),
        chain.ceil_mode,
    )
    return _contents(window, held, chain.op.kind, meanings, chain.counts_padding)


def _own_pads(chain: Chain, size: int) -> tuple[int, int]:
    (axis,) = chain.axes
    match chain.padding:
        case AutoPad.VALID:
            return 0, 0
        case AutoPad() as mode:
            lower = mode is AutoPad.SAME_LOWER
            return resolve_same(size, axis.kernel, axis.stride, axis.dilation, lower)
        case Pads(begins, ends):
            return begins[0], ends[0]
    raise ValueError(f"{chain.padding} has no windows")


def _meaning(chain: Chain, fill: Fill) -> Meaning:
    match fill:
        case Implicit():
            return ""
        case TensorValue(tensor, None):
            return f"={tensor}"
        case TensorValue(_, float() | int() as value) | Constant(value):
            neutral = lowest(chain.dtype) if chain.op.kind is Kind.MAX else (0,)
            if chain.op.kind is not Kind.CONVOLUTION and value in neutral:
                return ""
            return f"={value + 0.0}"
    raise ValueError(f"{fill} has no meaning")


@lru_cache(maxsize=1 << 18)
def _contents(
    window: tuple[int, int, int, int, int, int, bool],
    held: tuple[int, int],
    kind: Kind,
    meanings: tuple[Meaning, Meaning],
    counts: bool,
) -> tuple[str, ...]:
    own, foreign = meanings
    texts = {OWN: own, FOREIGN: foreign, OVERHANG: ""}
    rows = _layout(window, held)
    cells = [[texts.get(cell, str(cell)) for cell in row] for row in rows]
    if foreign == "edge":
        # A maximum sees nothing of a border cell again, in a window that holds it already.
        border = {"0", str(window[0] - sum(held) - 1)}
        cells = [
            [cell for cell in row if cell != foreign or not border & set(row)] for row in cells
        ]
    if kind is Kind.CONVOLUTION:
        return tuple(" ".join(row) for row in cells)
    bags = [" ".join(sorted(filter(None, set(row) if kind is Kind.MAX else row))) for row in cells]
    if kind is not Kind.AVERAGE:
        return tuple(bags)
    uncounted = {OVERHANG} if counts else {OVERHANG, OWN}
    divisors = [sum(cell not in uncounted for cell in row) for row in rows]
    return tuple(f"({bag})/{divisor}" for bag, divisor in zip(bags, divisors, strict=True))


@lru_cache(maxsize=1 << 18)
def _layout(
    window: tuple[int, int, int, int, int, int, bool], held: tuple[int, int]
) -> tuple[tuple[int, ...], ...]:
    """Source cells that each window reads, or which kind of cell it is."""
    placed = Window(*window)
    size, end = placed.size, placed.end
    if size < 1 or placed.out < 1:
        raise ValueError(f"no window fits {placed}")

    first, count, step = -placed.begin, placed.out, placed.stride
    reach = placed.kernel * placed.dilation
    return tuple(
        tuple(_name(cell, size, held, end) for cell in range(start, start + reach, placed.dilation))
        for start in range(first, first + count * step, step)
    )


def _name(cell: int, size: int, held: tuple[int, int], end: int) -> int:
    """The source cell behind a cell of the operator's input, or which kind of cell it is."""
    if not 0 <= cell < size:
        return OWN if cell < size + end else OVERHANG
    return cell - held[0] if held[0] <= cell < size - held[1] else FOREIGN
