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

from onnxpad.padding.chain import Chain, Pads, PassResult
from onnxpad.padding.effective_pads import axes_behind, short_axis
from onnxpad.padding.expansion import Read
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.refusals import Refused, known, refuse

REMOVES = {Form.NEGATIVE}
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """Put a Slice in front, and leave the pads that add cells."""
    pads = chain.padding
    if chain.op.kind is not Kind.CONVOLUTION or not isinstance(pads, Pads):
        refuse("no convolution with explicit pads", moot=True)
    if chain.trouble:
        raise Refused(chain.trouble.as_skip())
    if min(pads.flat, default=0) >= 0:
        refuse("its pads are not negative", moot=True)
    kept = Pads.of([(max(0, begin), max(0, end)) for begin, end in pads.sides])
    crop = Pads.of([(min(0, begin), min(0, end)) for begin, end in pads.sides])
    known(short_axis(replace(chain.with_padding(kept), axes=axes_behind(chain, crop)), kept))
    composer = Composer(chain.opset, chain.dtype)
    cells = Pads.of([(-begin, -end) for begin, end in crop.sides])
    cropped = composer.cut(Read(0), cells, chain.first_axis)
    return composer.finish(composer.itself({0: cropped}, sets={"pads": kept.flat}))
