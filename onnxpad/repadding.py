"""Steps of expansions that pad: a Pad node itself with other pads, blocks of cells by Concat."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import prod

from onnxpad.chain import Chain, Pads, PadStep, Skip
from onnxpad.composing import Composer
from onnxpad.expansion import Made, Numbers, Operand, Read
from onnxpad.fills import Constant
from onnxpad.geometry.size import Size, plus

LARGEST_BLOCK = 2**16
_PADS_ARE_INPUTS = 11
_CONCAT_SINCE = 4
_EXPAND_SINCE = 8
_VALUE, _AXES = 2, 3


def takes_attributes(chain: Chain) -> bool:
    """Whether a Pad node has its pads and its value as attributes."""
    return chain.opset < _PADS_ARE_INPUTS and not chain.op.domain


def pad_itself(
    composer: Composer, chain: Chain, pads: Pads, data: Made | None = None, *, value: bool = False
) -> Made:
    """The Pad node itself with constant pads over all axes, reading `data`.

    `value` writes the number that it pads with as a constant as well.
    """
    changed: dict[int, Operand | None] = {} if data is None else {0: data}
    if takes_attributes(chain):
        listed = "paddings" if chain.opset < 2 else "pads"
        return composer.itself(changed, sets={listed: pads.flat})
    changed[1] = Numbers("pads", "int64", (len(pads.flat),), pads.flat)
    step = chain.pad
    if value and step is not None and isinstance(step.fill, Constant):
        changed[_VALUE] = Numbers("value", chain.dtype, (), (step.fill.value,))
    if len(chain.inputs) > _AXES:
        changed[_AXES] = None
    return composer.itself(changed)


def concat_refusal(chain: Chain) -> Skip | None:
    """Why Concat is no way here: onnxruntime 1.31.1 has none before opset 4."""
    if chain.opset < _CONCAT_SINCE:
        return Skip(f"onnxruntime runs no Concat of opset {chain.opset}, 4 is its first")
    return None


def block_refusal(chain: Chain) -> Skip | None:
    """Why no block of cells can be put beside the input of a Pad node, whatever its axes."""
    if refusal := concat_refusal(chain):
        return refusal
    if chain.shape is None:
        return Skip("the number of axes of its input is not known")
    if not chain.dtype:
        return Skip("the element type of its input is not known")
    sizes = all(isinstance(size, int) for size in chain.shape)
    if not sizes and chain.opset < _EXPAND_SINCE:
        return Skip(f"its sizes are not all known, and opset {chain.opset} has no Expand")
    return None


def with_blocks(
    composer: Composer, chain: Chain, step: PadStep, axes: Sequence[int], data: Operand
) -> Made:
    """`data` with the Pad's cells on `axes`, which are blocks of one value beside it.

    A block is a constant where the other sizes are known and it is small; otherwise Expand makes
    it while the model runs. `block_refusal` says where there is no way; `axes` is not empty.
    """
    sizes = list(chain.shape or ())
    joined = _beside(composer, step, data, sizes, axes[0])
    for axis in axes[1:]:
        joined = _beside(composer, step, joined, sizes, axis)
    return joined


def _beside(
    composer: Composer, step: PadStep, data: Operand, sizes: list[Size | None], axis: int
) -> Made:
    """The blocks of one axis beside `data`, whose `sizes` become those of the result."""
    begin, end = step.pads.begins[axis], step.pads.ends[axis]
    others = [size for index, size in enumerate(sizes) if index != axis]
    shape = None
    if not all(isinstance(size, int) for size in others):
        shape = composer.add("Shape", data, role=f"axis{axis}_sizes")
    blocks: dict[int, Operand] = {}
    for side, width in (("begin", begin), ("end", end)):
        if width and width not in blocks:
            dims = [width if index == axis else size for index, size in enumerate(sizes)]
            blocks[width] = _block(composer, step, shape, dims, f"axis{axis}_{side}")
    parts = [blocks[width] for width in (begin,) if width] + [data]
    parts += [blocks[width] for width in (end,) if width]
    size = sizes[axis]
    sizes[axis] = None if size is None else plus(size, begin + end)
    return composer.add("Concat", *parts, attributes={"axis": axis}, role=f"axis{axis}")


def _block(
    composer: Composer, step: PadStep, shape: Made | None, dims: Sequence[Size | None], role: str
) -> Operand:
    known = tuple(size for size in dims if isinstance(size, int))
    if isinstance(step.fill, Constant):
        if shape is None and prod(known) <= LARGEST_BLOCK:
            return Numbers(role, composer.dtype, known, (step.fill.value,))
        value: Operand = Numbers("value", composer.dtype, (), (step.fill.value,))
    else:
        value = Read(_VALUE)
    if shape is None:
        extent: Operand = Numbers(f"{role}_shape", "int64", (len(known),), known)
    else:
        extent = _extent(composer, shape, dims, role)
    return composer.add("Expand", value, extent, role=role)


def _extent(composer: Composer, shape: Made, dims: Sequence[Size | None], role: str) -> Made:
    """The sizes of a block as a tensor; what is not known comes from `shape`."""
    parts: list[Operand] = []
    for fixed, places in groupby(range(len(dims)), lambda index: isinstance(dims[index], int)):
        row = list(places)
        part = f"{role}_from{row[0]}"
        if fixed:
            numbers = [size for size in dims[row[0] : row[-1] + 1] if isinstance(size, int)]
            parts.append(Numbers(part, "int64", (len(row),), tuple(numbers)))
        else:
            parts.append(composer.slice(shape, [0], [row[0]], [row[-1] + 1], role=part))
    return composer.add("Concat", *parts, attributes={"axis": 0}, role=f"{role}_shape")
