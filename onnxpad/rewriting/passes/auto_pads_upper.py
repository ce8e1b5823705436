"""Write explicit pads and SAME_LOWER as auto_pad SAME_UPPER, or VALID where nothing is padded.

What: as auto-pads, for runtimes that know no SAME_LOWER (NNAPI, TFLite). SAME_LOWER that the model
has becomes SAME_UPPER where both give the same windows for every size that it allows.

Exact: always; a symbolic size is no obstacle where SAME does not depend on it.

Refuses: pads that are not those of SAME_UPPER for every size (split-pads moves them into a Pad
node, and the operator becomes VALID); dilations and kernels shorter than the stride, where
runtimes disagree about SAME; ceil_mode; transposed convolutions, whose pads crop.

Cost: none.

Example: Conv k3 SAME_LOWER becomes SAME_UPPER, which pads one cell on both sides as well.
"""

from __future__ import annotations

from onnxpad.padding.chain import AutoPad, Chain, Skip
from onnxpad.padding.forms import Form
from onnxpad.rewriting.steps.auto_pad import as_auto_pad

REMOVES = {
    Form.PADS,
    Form.ASYMMETRIC,
    Form.WIDER_THAN_KERNEL,
    Form.COUNTS_PADDING,
    Form.IGNORES_PADDING,
}
MAY_REMOVE = {Form.CEIL_MODE}
ADDS = {Form.AUTO_PAD}


def rewrite(chain: Chain) -> Chain | Skip:
    """Say SAME_UPPER where the pads are those of it, and VALID where there are none."""
    return as_auto_pad(chain, (AutoPad.SAME_UPPER,))
