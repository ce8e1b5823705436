"""Write Pad nodes of mode constant as Concat of the data's own cells, clipped to the value.

What: cells of the input, which Clip makes all the same number, stand beside it, axis by axis, and
the Pad goes. For runtimes that have no Pad, or not this one, and compute Concat with a stored block
wrongly. onnxruntime fuses nothing of it into a pool behind.

Exact: for all numbers, up to the sign of 0. A cell at the border that is not a number (NaN) stays
one in the padding.

Refuses: negative pads and mirrors (write plain-pad before it), pads and values that are not known,
infinite values, sizes of padded axes that are not known, axes that get more than 16 times their
cells; other element types than float32, and double before opset 12, which Clip lacks.

Cost: a Concat for each axis, a Slice and a Clip over its border.

Example: Pad [0,0,1, 0,0,1] with 2 of [1,1,8] becomes Slice to 1 cell, Clip to 2, and Concat of
that, the input and that.
"""

from __future__ import annotations

from math import isfinite

from onnxpad.padding.chain import Chain, PadStep, PassResult, Skip
from onnxpad.padding.expansion import Made, Numbers, Operand, Read
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Since
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import concat_refusal, pad_to_join

REMOVES = {Form.PAD_VALUE, Form.OUTER_AXES, Form.PAD_AXES}
ADDS: set[Form] = set()

_MOST_COPIES = 16
_CLIP_SINCE = {"float32": 6, "float64": 12}
"""The first opset whose Clip onnxruntime runs."""


def rewrite(chain: Chain) -> PassResult:
    """Join border cells, clipped to the value, to the input."""
    step = pad_to_join(chain)
    if isinstance(step, Skip):
        return step
    if not any(step.pads.flat):
        return Skip("it adds nothing", moot=True)
    if not isinstance(step.fill, Constant) or not isfinite(step.fill.value):
        return Skip("its value is not known, or no finite number to clip to")
    axes = [axis for axis in range(len(step.pads.begins)) if _added(step, axis)]
    if refusal := _refusal(chain, step, axes):
        return refusal
    composer = Composer(chain.opset, chain.dtype)
    joined = _beside(composer, chain, step, Read(0), axes[0])
    for axis in axes[1:]:
        joined = _beside(composer, chain, step, joined, axis)
    return composer.finish(joined)


def _added(step: PadStep, axis: int) -> int:
    return max(step.pads.begins[axis], step.pads.ends[axis])


def _refusal(chain: Chain, step: PadStep, axes: list[int]) -> Skip | None:
    if refusal := concat_refusal(chain):
        return refusal
    if chain.opset < _CLIP_SINCE.get(chain.dtype, chain.opset + 1):
        kind = chain.dtype or "of unknown type"
        return Skip(f"onnxruntime has no Clip of opset {chain.opset} for data {kind}")
    for axis in axes:
        size = chain.shape[axis] if chain.shape else None
        if not isinstance(size, int):
            return Skip(f"the size of its axis {axis} is not known")
        if size < 1 or _added(step, axis) > _MOST_COPIES * size:
            return Skip(f"axis {axis} has too few cells to make its padding of: {size}")
    return None


def _beside(composer: Composer, chain: Chain, step: PadStep, data: Operand, axis: int) -> Made:
    size = int((chain.shape or ())[axis] or 0)  # type: ignore[arg-type]
    blocks: dict[int, Operand] = {}

    def side(cells: int) -> list[Operand]:
        whole, rest = divmod(cells, size)
        widths = [size] * whole + [rest] * bool(rest)
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
