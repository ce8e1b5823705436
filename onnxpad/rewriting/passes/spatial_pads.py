"""Write constant padding of the batch and the channel axis as Concat.

What: blocks of the Pad's value stand beside the input on these axes; the Pad keeps the spatial
axes and goes when there are none. Many runtimes pad spatial axes only.

Exact: always. Where the other sizes are not known, the blocks take them from Shape and Expand.
Where a runtime cannot have the Pad behind the Concat, the Concat stands behind the Pad.

Refuses: reflect, edge and wrap, negative pads (write plain-pad before it), pads that are not
known, unknown element types and ranks, sizes that are not known before opset 8 (no Expand).

Cost: a Concat for each axis and a constant block for each side, or Shape, Slice, Concat and
Expand for it.

Example: Pad [0,2,0, 0,2,0] of [1,3,8] becomes Concat of [1,2,8], the input and [1,2,8].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from onnxpad.geometry.size import plus
from onnxpad.padding.chain import Chain, Pads, PadStep, PassResult, Skip
from onnxpad.padding.expansion import Expansion, Read
from onnxpad.padding.forms import Form, outer_axes
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import block_refusal, pad_itself, pad_node, with_blocks

REMOVES = {Form.OUTER_AXES}
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """Leave spatial axes only to the Pad."""
    step = pad_node(chain)
    if isinstance(step, Skip):
        return step
    axes = outer_axes(chain, step.pads)
    if not axes:
        return Skip("it pads spatial axes only", moot=True)
    if step.mode != "constant":
        return Skip(f"its mode is {step.mode}", ("--pass plain-pad",))
    if any(pad < 0 for pad in step.pads.flat):
        return Skip("it crops", ("--pass plain-pad",))
    return block_refusal(chain) or _apart(chain, step, axes)


def _apart(chain: Chain, step: PadStep, axes: tuple[int, ...]) -> Expansion:
    composer = Composer(chain.opset, chain.dtype)
    inner = _without(step.pads, axes)
    if not any(inner.flat):
        return composer.finish(with_blocks(composer, chain, step, axes, Read(0)))
    blocks = with_blocks(composer, chain, step, axes, Read(0))
    return composer.finish(pad_itself(composer, chain, inner, blocks))


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """The Pad first and the blocks behind it."""
    step = chain.pad
    if step is None or step.unclear or step.mode != "constant":
        return
    axes = outer_axes(chain, step.pads)
    inner = _without(step.pads, axes)
    composer = Composer(chain.opset, chain.dtype)
    padded = pad_itself(composer, chain, inner)
    sides = zip(chain.shape or (), inner.begins, inner.ends, strict=True)
    shape = tuple(None if size is None else plus(size, b + e) for size, b, e in sides)
    behind = replace(chain, shape=shape)
    yield composer.finish(with_blocks(composer, behind, step, axes, padded))


def _without(pads: Pads, axes: tuple[int, ...]) -> Pads:
    return Pads(
        tuple(0 if axis in axes else pad for axis, pad in enumerate(pads.begins)),
        tuple(0 if axis in axes else pad for axis, pad in enumerate(pads.ends)),
    )
