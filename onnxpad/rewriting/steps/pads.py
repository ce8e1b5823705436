"""Steps that pad: new Pad nodes with their value, other pads of a Pad, blocks by Concat."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import prod

from onnxpad.geometry.size import Size, plus
from onnxpad.padding.chain import Chain, Mark, NewPad, Pads, PadStep, Skip
from onnxpad.padding.effective_pads import same_windows_when_padded
from onnxpad.padding.expansion import Made, Numbers, Operand, Read
from onnxpad.padding.fills import Constant, Fill, Implicit, lowest
from onnxpad.padding.operators import (
    Kind,
    PadInput,
    Since,
    name_of_pads,
    pads_are_attributes,
)
from onnxpad.rewriting.steps.composer import Composer


def pad_value(chain: Chain) -> Fill | Skip:
    """What a Pad node has to write so that it does what the operator's own padding does."""
    fill = chain.fill
    if fill is Implicit.NOTHING:
        return Skip(
            "the average does not count padded cells, it would count those of a Pad node",
            ("--pass uncounted-padding",),
        )
    if fill is Implicit.PER_CHANNEL:
        return Skip("the zero point has one value per channel, a Pad node writes one for all")
    if fill is Implicit.LOWEST:
        values = lowest(chain.dtype)
        if not values:
            return Skip(f"the lowest value of type '{chain.dtype or 'unknown'}' is not known")
        fill = Constant(values[0])
    return integers_refusal(chain) or fill


def integers_refusal(chain: Chain) -> Skip | None:
    """Why the operator's data can have no Pad in front, where it is whole numbers."""
    if chain.opset < Since.PAD_INTEGERS and (chain.op.quantised or "int" in chain.dtype):
        return Skip(f"Pad of opset {chain.opset} takes no integers")
    return None


def pad_refusal(chain: Chain, pads: Pads) -> Skip | None:
    """Why the operator's own padding cannot become a Pad node, whatever that would write."""
    if not chain.opset:
        return Skip("no version of the ONNX operators is imported, so it can have no Pad")
    if any(pad < 0 for pad in pads.flat):
        return Skip(f"the pads {list(pads.flat)} are negative, onnxruntime and the checker refuse")
    return None


def ceil_refusal(chain: Chain, moved: Pads, kept: Pads | None = None) -> Skip | None:
    """Why a pool with ceil_mode cannot have the pads `moved` in a Pad node, and `kept` itself."""
    if not same_windows_when_padded(chain, moved, kept):
        return Skip("ceil_mode drops its last window over padding; behind a Pad node it may not")
    return None


def by_a_pad_node(chain: Chain) -> str:
    """What to try for pads that only a Pad node can hold."""
    uncounted = chain.fill is Implicit.NOTHING
    return f"--pass {'uncounted-padding' if uncounted else 'split-pads'}"


def pad_node(chain: Chain) -> PadStep | Skip:
    """The Pad that the chain is, where it is one that can be read."""
    step = chain.pad
    if chain.op.kind is not Kind.PAD or step is None:
        return Skip("no Pad node", moot=True)
    return step.unclear.as_skip() if step.unclear else step


def pad_to_join(chain: Chain) -> PadStep | Skip:
    """The Pad of mode constant that the chain is, where a Concat may add what it adds."""
    if chain.pad is not None and chain.pad.mode != "constant":
        return Skip(f"it is of mode {chain.pad.mode}", moot=True)
    step = pad_node(chain)
    if isinstance(step, PadStep) and any(pad < 0 for pad in step.pads.flat):
        return Skip("it crops, which no Concat does", ("--pass plain-pad",))
    return step


def pools_refusal(chain: Chain) -> Skip | None:
    """Why a value that no maximum takes may not stand for another one in a Pad."""
    if Mark.FEEDS_MAX_POOLS in chain.around.marks:
        return None
    return Skip("something else than a max pool reads it, or a max pool with windows without data")


def stands_behind_pad(chain: Chain) -> bool:
    """Whether a Pad stands in front, perhaps behind operators that hand on what they read."""
    return chain.pad is not None or chain.around.nearest is not None


def new_pad(chain: Chain, pads: Pads, fill: Fill) -> NewPad:
    """A Pad over all axes of the input that pads the spatial ones."""
    return NewPad(full_pads(chain, pads), fill)


def full_pads(chain: Chain, pads: Pads) -> Pads:
    """Pads over the spatial axes as a Pad node lists them, over all axes."""
    ahead, behind = (0,) * chain.first_axis, (0,) * (2 - chain.first_axis)
    return Pads(ahead + pads.begins + behind, ahead + pads.ends + behind)


LARGEST_BLOCK = 2**16
_CONCAT_SINCE = 4


def takes_attributes(chain: Chain) -> bool:
    """Whether a Pad node has its pads and its value as attributes."""
    return pads_are_attributes(chain.op.domain, chain.opset)


def pad_itself(
    composer: Composer, chain: Chain, pads: Pads, data: Made | None = None, *, value: bool = False
) -> Made:
    """The Pad node itself with constant pads over all axes, reading `data`.

    `value` writes the number that it pads with as a constant as well.
    """
    changed: dict[int, Operand | None] = {} if data is None else {0: data}
    if takes_attributes(chain):
        return composer.itself(changed, sets={name_of_pads(chain.opset): pads.flat})
    changed[PadInput.PADS] = Numbers("pads", "int64", (len(pads.flat),), pads.flat)
    step = chain.pad
    if value and step is not None and isinstance(step.fill, Constant):
        changed[PadInput.VALUE] = Numbers("value", chain.dtype, (), (step.fill.value,))
    if len(chain.inputs) > PadInput.AXES:
        changed[PadInput.AXES] = None
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
    if not sizes and chain.opset < Since.EXPAND:
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

    def block(side: str, width: int) -> list[Operand]:
        dims = [width if index == axis else size for index, size in enumerate(sizes)]
        return [_block(composer, step, shape, dims, f"axis{axis}_{side}")] if width else []

    front = block("begin", begin)
    # A stored block each: OpenCV's classic engine refuses a Concat that reads one twice.
    is_shared = begin == end and isinstance(front[0], Made)
    parts = [*front, data, *(front if is_shared else block("end", end))]
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
        value = Read(PadInput.VALUE)
    if shape is None:
        extent: Operand = Numbers(f"{role}_shape", "int64", (len(known),), known)
    else:
        extent = _extent(composer, shape, dims, role)
    return composer.add("Expand", value, extent, role=role)


def _extent(composer: Composer, shape: Made, dims: Sequence[Size | None], role: str) -> Made:
    """The sizes of a block as a tensor; what is not known comes from `shape`."""
    parts: list[Operand] = []
    for fixed, row_of_axes in groupby(range(len(dims)), lambda index: isinstance(dims[index], int)):
        row = list(row_of_axes)
        part = f"{role}_from{row[0]}"
        if fixed:
            numbers = [size for size in dims[row[0] : row[-1] + 1] if isinstance(size, int)]
            parts.append(Numbers(part, "int64", (len(row),), tuple(numbers)))
        else:
            parts.append(composer.slice(shape, [0], [row[0]], [row[-1] + 1], role=part))
    return composer.add("Concat", *parts, attributes={"axis": 0}, role=f"{role}_shape")
