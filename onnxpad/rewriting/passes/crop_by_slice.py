"""Crop in front of a convolution by a Slice instead of negative pads.

What: a Slice drops as many cells of the input as the negative pads say; these pads become 0, the
others stay. The ONNX text allows no negative pads of a convolution, and runtimes refuse them,
onnxruntime 1.31.1 among them.

Exact: as the formula of the output size reads negative pads. No runtime says what is right.

Refuses: pads that crop the whole input.

Cost: a Slice.

Example: Conv k3 pads=[-1, -1, 0, 0] becomes a Slice from row 1 and column 1, Conv k3 pads=[0, ...].
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.padding.chain import Chain, Pads, PassResult, Skip
from onnxpad.padding.effective_pads import axes_behind, short_axis
from onnxpad.padding.expansion import Read
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.composer import LAST, Composer

REMOVES = {Form.NEGATIVE}
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """Put a Slice in front, and leave the pads that add cells."""
    pads = chain.padding
    if chain.op.kind is not Kind.CONVOLUTION or not isinstance(pads, Pads):
        return Skip("no convolution with explicit pads", moot=True)
    if chain.trouble:
        return chain.trouble.as_skip()
    if min(pads.flat, default=0) >= 0:
        return Skip("its pads are not negative", moot=True)
    kept = Pads(*(tuple(max(0, pad) for pad in side) for side in (pads.begins, pads.ends)))
    crop = Pads(*(tuple(min(0, pad) for pad in side) for side in (pads.begins, pads.ends)))
    smaller = replace(chain.with_padding(kept), axes=axes_behind(chain, crop))
    if short := short_axis(smaller, kept):
        return short
    axes = [n for n, pair in enumerate(crop.sides) if any(pair)]
    composer = Composer(chain.opset, chain.dtype)
    cropped = composer.slice(
        Read(0),
        [chain.first_axis + n for n in axes],
        [-crop.begins[n] for n in axes],
        [crop.ends[n] or LAST for n in axes],
    )
    return composer.finish(composer.itself({0: cropped}, sets={"pads": kept.flat}))
