"""Write auto_pad and output_shape of a transposed convolution as explicit pads.

What: SAME, VALID and output_shape become the pads that they stand for; cells that output_shape or a
negative end pad asks for beyond the full output become output_padding. slice-transpose writes the
crop as a Slice behind the full output: many runtimes refuse or miscompute asymmetric pads here,
onnxruntime's CUDA provider among them. crop-by-slice cuts in front of a convolution for its
negative pads.

Exact: as onnxruntime and shape inference read the ONNX text of opset 11 and newer: SAME_UPPER
crops the smaller half at the begin, everything else the larger; a total below 0 crops nothing.
The text of opsets 1 to 10 has the halves the other way round: --legacy-split reads models so. A
Slice counts from both ends, and gives the same bits for every size.

Refuses: output_shape on an input of unknown size, and sizes that neither pads nor output_padding
below the stride can give; negative begin pads; pads that leave nothing.

Cost: none, or a Slice and the cells that it drops.

Example: ConvTranspose k3 s2 SAME_UPPER becomes pads=[0, 1].
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.geometry.windows import inner_extra
from onnxpad.padding.chain import Chain, Pads, PassResult
from onnxpad.padding.effective_pads import axes_behind, short_axis
from onnxpad.padding.expansion import Read
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.refusals import Refused, known, refuse, require
from onnxpad.rewriting.steps.transposed import (
    Crop,
    cropped,
    needs_words,
    standard_crop,
    with_crop,
)

REMOVES = {Form.AUTO_PAD, Form.OUTPUT_SHAPE}
MAY_REMOVE = {Form.NEGATIVE}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL, Form.OUTPUT_PADDING}


def rewrite(chain: Chain) -> PassResult:
    """Replace auto_pad and output_shape by pads and output_padding."""
    require(chain.op.kind is Kind.TRANSPOSED, "no transposed convolution", moot=True)
    require(needs_words(chain) or chain.trouble, "its pads are explicit", moot=True)
    return with_crop(chain, standard_crop(chain))


def _sliced(chain: Chain) -> PassResult:
    """Compute the full output and cut it."""
    crop = standard_crop(chain)
    require(any(crop.pads.flat) or chain.output_shape, "it crops nothing", moot=True)
    none = Pads.zero(chain.rank)
    extra = tuple(map(inner_extra, crop.pads.ends, crop.extra, none.ends))
    return cropped(chain, Crop(none, extra), crop)


def _cut_in_front(chain: Chain) -> PassResult:
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


WAYS = {
    "slice-transpose": Way(
        "Crop a transposed convolution with a Slice instead of pads.",
        _sliced,
        removes={Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL, Form.OUTPUT_SHAPE},
        may_remove={Form.AUTO_PAD, Form.OUTPUT_PADDING},
        adds={Form.OUTPUT_PADDING},
    ),
    "crop-by-slice": Way(
        "Crop in front of a convolution by a Slice instead of negative pads.",
        _cut_in_front,
        removes={Form.NEGATIVE},
        adds=set(),
    ),
}
