"""Write explicit pads as auto_pad: SAME_UPPER, SAME_LOWER, or VALID where nothing is padded.

What: where SAME gives the same windows for every size that the model allows, auto_pad takes the
place of the pads; where all pads are 0, VALID does. Some runtimes (NNAPI, NNPA, TNN) read nothing
else. auto-pads-upper leaves SAME_LOWER out, which not all of them have.

Exact: always; a symbolic size is no obstacle where SAME does not depend on it.

Refuses: pads that are not those of SAME for every size (split-pads moves them into a Pad node, and
the operator becomes VALID); dilations and kernels shorter than the stride, where runtimes disagree
about SAME; ceil_mode; transposed convolutions, whose pads crop.

Cost: none.

Example: Conv k3 s2 pads=[0, 0, 1, 1] on 224x224 becomes SAME_UPPER.
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
ADDS = {Form.AUTO_PAD}


def rewrite(chain: Chain) -> Chain | Skip:
    """Say SAME where the pads are those of SAME, and VALID where there are none."""
    return as_auto_pad(chain, (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER))
