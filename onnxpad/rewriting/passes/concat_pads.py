"""Write Pad nodes of mode constant as Concat, those that write 0 as well.

What: blocks of the value stand beside the input, axis by axis. For runtimes that have no Pad, or
not this one. clipped-pads makes the blocks of the data's own cells, with Clip, for runtimes that
compute Concat with a stored block wrongly.

Exact: always; the value may be a tensor, an infinity or NaN. Where sizes are not known, the blocks
take them from Shape and Expand. clipped-pads for all numbers, up to the sign of 0: a cell at the
border that is not a number stays one in the padding.

Refuses: negative pads and mirrors (write plain-pad before it), pads that are not known, unknown
element types and ranks, unknown sizes before opset 8 (no Expand). clipped-pads also values that are
not known or infinite, sizes of padded axes that are not known, axes that get more than 16 times
their cells, other types than float32, and double before opset 12, which Clip lacks.

Cost: a Concat for each axis and a block for each side, which is a constant, or made.

Example: Pad [0,0,1, 0,0,1] of [1,1,8] becomes Concat of 0, the input and 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from onnxpad.padding.chain import Chain, PadStep, PassResult
from onnxpad.padding.expansion import Made, Numbers, Operand, Read
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Since
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import (
    pad_to_join,
    require_blocks,
    require_concat,
    with_blocks,
)
from onnxpad.rewriting.steps.refusals import refuse, require

REMOVES = {Form.PAD_VALUE, Form.OUTER_AXES, Form.PAD_AXES}
ADDS: set[Form] = set()

_MOST_COPIES = 16
_CLIP_SINCE = {"float32": 6, "float64": 12}
"""The first opset whose Clip onnxruntime runs."""


def rewrite(chain: Chain) -> PassResult:
    """Join blocks of the value to the input."""
    step = pad_to_join(chain)
    composer = Composer(chain.opset, chain.dtype)
    if not any(step.pads.flat):
        return composer.finish(composer.add("Identity", Read(0)))
    require_blocks(chain)
    axes = [axis for axis, pads in enumerate(step.pads.sides) if any(pads)]
    return composer.finish(with_blocks(composer, chain, step, axes, Read(0)))


def _clipped(chain: Chain) -> Sequence[PassResult]:
    """Border cells of the data, clipped to the value, beside it."""
    step = pad_to_join(chain)
    require(any(step.pads.flat), "it adds nothing", moot=True)
    if not isinstance(step.fill, Constant) or not isfinite(step.fill.value):
        refuse("its value is not known, or no finite number to clip to")
    require_concat(chain)
    if chain.opset < _CLIP_SINCE.get(chain.dtype, chain.opset + 1):
        kind = chain.dtype or "of unknown type"
        refuse(f"onnxruntime has no Clip of opset {chain.opset} for data {kind}")
    sizes = dict[int, int]()
    for axis, pads in enumerate(step.pads.sides):
        if any(pads):
            size = chain.shape[axis] if chain.shape else None
            if not isinstance(size, int):
                refuse(f"the size of its axis {axis} is not known")
            if size < 1 or max(pads) > _MOST_COPIES * size:
                refuse(f"axis {axis} has too few cells to make its padding of: {size}")
            sizes[axis] = size
    composer = Composer(chain.opset, chain.dtype)
    data: Operand = Read(0)
    for axis, size in sizes.items():
        data = made = _beside(composer, step, data, axis, size)
    return [composer.finish(made)]


def _beside(composer: Composer, step: PadStep, data: Operand, axis: int, size: int) -> Made:
    blocks: dict[int, Operand] = {}

    def side(cells: int) -> list[Operand]:
        widths = [size] * (cells // size) + [cells % size] * bool(cells % size)
        for width in widths:
            if width not in blocks:
                blocks[width] = _block(composer, step, data, axis, width, cut=width < size)
        return [blocks[width] for width in widths]

    parts = [*side(step.pads.begins[axis]), data, *side(step.pads.ends[axis])]
    return composer.add("Concat", *parts, attributes={"axis": axis}, role=f"axis{axis}")


def _block(
    composer: Composer, step: PadStep, data: Operand, axis: int, width: int, *, cut: bool
) -> Made:
    """The first cells of an axis, all of them the Pad's value."""
    role = f"axis{axis}_{width}"
    value = step.fill.value if isinstance(step.fill, Constant) else 0
    if cut:
        data = composer.slice(data, [axis], [0], [width], role=f"{role}_cells")
    if composer.opset < Since.PAD_INPUTS:
        limits = {"min": float(value), "max": float(value)}
        return composer.add("Clip", data, attributes=limits, role=role)
    bound = Numbers("value", composer.dtype, (), (value,))
    return composer.add("Clip", data, bound, bound, role=role)


WAYS = {
    "clipped-pads": Way(
        "Write Pad nodes of mode constant as Concat of the data's own cells, clipped to the value.",
        _clipped,
    ),
}
