"""Make asymmetric pads symmetric with a kernel that has more taps of 0.

What: the kernel grows at its front where the end pad is larger and at its back where the begin
pad is, and both sides get the larger pad. Integer kernels grow by their zero point. The weight
becomes a new constant; others that read the old one keep it. Transposed convolutions alike.

Exact: for every size of the input. The new taps add 0 times a cell: nothing, unless the cell is
infinite or not a number, which then shows in more outputs than before. Floating point may round
otherwise in the last place, as the sum has more terms.

Refuses: pads that do not differ by a multiple of the dilation; weights and weight zero points
that are no constants of the model, or that an input of the model can replace; pools; DeformConv.

Cost: the multiply-adds and the bytes of the new taps; no operator.

Example: Conv k3 d2 pads=[0, 2] becomes Conv k4 d2 pads=[2, 2] with the kernel [0, a, b, c].
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.padding.chain import Chain, PassResult
from onnxpad.padding.forms import Form
from onnxpad.rewriting.steps.symmetric import by_kernel, first, others

REMOVES = {Form.ASYMMETRIC}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE, Form.OUTPUT_SHAPE}
ADDS = {
    Form.COUNTS_PADDING,
    Form.IGNORES_PADDING,
    Form.OUTPUT_PADDING,
    Form.PADS,
    Form.WIDER_THAN_KERNEL,
}


def rewrite(chain: Chain) -> PassResult:
    """Write equal begin and end pads around an extended kernel."""
    return first(by_kernel(chain))


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """Further ways."""
    return others(by_kernel(chain))
