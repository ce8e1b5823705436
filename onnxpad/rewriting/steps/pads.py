"""Steps that pad: new Pad nodes with their value, other pads of a Pad, blocks by Concat."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from onnxpad.geometry.size import Size, plus
from onnxpad.padding.chain import Chain, NewPad, Pads, PadStep, Skip
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
from onnxpad.rewriting.steps.refusals import (
    Refused,
    refuse,
    require,
    require_pads,
    require_type,
)


def pad_value(chain: Chain) -> Fill:
    """What a Pad node has to write so that it does what the operator's own padding does."""
    fill = chain.fill
    if fill is Implicit.NOTHING:
        refuse(
            "the average does not count padded cells, it would count those of a Pad node",
            "--pass uncounted-padding",
        )
    if fill is Implicit.PER_CHANNEL:
        refuse("the zero point has one value per channel, a Pad node writes one for all")
    if fill is Implicit.LOWEST:
        values = lowest(chain.dtype)
        require(values, f"the lowest value of type '{chain.dtype or 'unknown'}' is not known")
        fill = Constant(values[0])
    require_numbers(chain)
    return fill


def require_numbers(chain: Chain) -> None:
    """Leave alone whole numbers where a Pad takes none."""
    whole = chain.op.quantised or "int" in chain.dtype
    reason = f"Pad of opset {chain.opset} takes no integers"
    require(chain.opset >= Since.PAD_INTEGERS or not whole, reason)


def require_pad(chain: Chain, pads: Pads) -> None:
    """Leave alone what can have no Pad node in front, whatever that would write."""
    require(chain.opset, "no version of the ONNX operators is imported, so it can have no Pad")
    require_pads(pads)


def ceil_refusal(chain: Chain, moved: Pads) -> Skip | None:
    """Why a pool with ceil_mode cannot have the pads `moved` in a Pad node."""
    if same_windows_when_padded(chain, moved):
        return None
    return Skip("ceil_mode drops its last window over padding; behind a Pad node it may not")


def pad_node(chain: Chain) -> PadStep:
    """The Pad that the chain is, where it is one that can be read."""
    step = chain.pad
    if chain.op.kind is not Kind.PAD or step is None:
        refuse("no Pad node", moot=True)
    if step.unclear:
        raise Refused(step.unclear.as_skip())
    return step


def pad_to_join(chain: Chain) -> PadStep:
    """The Pad of mode constant that the chain is, where a Concat may add what it adds."""
    if chain.pad is not None and chain.pad.mode != "constant":
        refuse(f"it is of mode {chain.pad.mode}", moot=True)
    step = pad_node(chain)
    no_crop = min(step.pads.flat, default=0) >= 0
    require(no_crop, "it crops, which no Concat does", "--pass plain-pad")
    return step


def stands_behind_pad(chain: Chain) -> bool:
    """Whether a Pad stands in front, perhaps behind operators that hand on what they read."""
    return chain.pad is not None or chain.around.nearest is not None


def new_pad(chain: Chain, pads: Pads, fill: Fill) -> NewPad:
    """A Pad over all axes of the input that pads the spatial ones."""
    return NewPad(full_pads(chain, pads), fill)


def full_pads(chain: Chain, pads: Pads) -> Pads:
    """Pads over the spatial axes as a Pad node lists them, over all axes."""
    ahead = (0,) * chain.first_axis
    return Pads(ahead + pads.begins, ahead + pads.ends)


LARGEST_BLOCK = 2**16
_CONCAT_SINCE = 4


def pad_itself(
    composer: Composer, chain: Chain, pads: Pads, data: Made | None = None, *, value: bool = False
) -> Made:
    """The Pad node itself with constant pads over all axes, reading `data`.

    `value` writes the number that it pads with as a constant as well.
    """
    changed: dict[int, Operand | None] = {} if data is None else {0: data}
    if pads_are_attributes(chain.op.domain, chain.opset):
        return composer.itself(changed, sets={name_of_pads(chain.opset): pads.flat})
    changed[PadInput.PADS] = Numbers("pads", "int64", (len(pads.flat),), pads.flat)
    step = chain.pad
    if value and step is not None and isinstance(step.fill, Constant):
        changed[PadInput.VALUE] = Numbers("value", chain.dtype, (), (step.fill.value,))
    if len(chain.written.inputs) > PadInput.AXES:
        changed[PadInput.AXES] = None
    return composer.itself(changed)


def require_concat(chain: Chain) -> None:
    """Leave alone what would need Concat where onnxruntime has none."""
    reason = f"onnxruntime runs no Concat of opset {chain.opset}, 4 is its first"
    require(chain.opset >= _CONCAT_SINCE, reason)


def require_blocks(chain: Chain) -> None:
    """Leave a Pad node alone where no block of cells can be put beside its input."""
    require_concat(chain)
    require(chain.shape is not None, "the number of axes of its input is not known")
    require_type(chain)
    sizes = all(isinstance(size, int) for size in chain.shape or ())
    reason = f"its sizes are not all known, and opset {chain.opset} has no Expand"
    require(sizes or chain.opset >= Since.EXPAND, reason)


def with_blocks(
    composer: Composer, chain: Chain, step: PadStep, axes: Sequence[int], data: Operand
) -> Made:
    """`data` with the Pad's cells on `axes`, which are blocks of one value beside it.

    A block is a constant where the other sizes are known and it is small; otherwise Expand makes
    it while the model runs. `require_blocks` says where there is no way; `axes` is not empty.
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
        fixed = tuple(size for size in dims if isinstance(size, int))
        role = f"axis{axis}_{side}"
        if shape is None and prod(fixed) <= LARGEST_BLOCK and isinstance(step.fill, Constant):
            return [Numbers(role, composer.dtype, fixed, (step.fill.value,))]
        value: Operand = Read(PadInput.VALUE)
        if isinstance(step.fill, Constant):
            value = Numbers("value", composer.dtype, (), (step.fill.value,))
        extent: Operand = Numbers(f"{role}_shape", "int64", (len(fixed),), fixed)
        if shape is not None:
            # Each size of the data but that along the axis, which is the width.
            is_other = tuple(int(index != axis) for index in range(len(sizes)))
            own = tuple(0 if other else width for other in is_other)
            kept = Numbers(f"{role}_others", "int64", (len(own),), is_other)
            extent = composer.add("Mul", shape, kept, role=f"{role}_kept")
            width_alone = Numbers(f"{role}_width", "int64", (len(own),), own)
            extent = composer.add("Add", extent, width_alone, role=f"{role}_shape")
        return [composer.add("Expand", value, extent, role=role)]

    front = block("begin", begin) if begin else []
    # A stored block each: OpenCV's classic engine refuses a Concat that reads one twice.
    is_shared = begin == end and isinstance(front[0], Made)
    back = front if is_shared else block("end", end) if end else []
    size = sizes[axis]
    sizes[axis] = None if size is None else plus(size, begin + end)
    return composer.add(
        "Concat", *front, data, *back, attributes={"axis": axis}, role=f"axis{axis}"
    )
