"""Make asymmetric pads symmetric with a Pad node that adds the difference.

What: the operator keeps the smaller pad on both sides, and a Pad node in front adds what one
side has more, with the value that split-pads writes. DeformConv too, whose offsets are relative.
A pool that onnxruntime would fuse the Pad into past its own limit leaves all its pads to the
Pad and says auto_pad=VALID.

Exact: for every size of the input; max pools agree up to NaN, and up to -inf against the lowest
finite float where a window holds padding alone; DeformConv up to rounding.

Refuses: averages that do not count padded cells, unless equal pads give the same windows; max
pools whose Indices are used; averages that count padding, of which ceil_mode drops a window
while another hangs over; transposed convolutions (their pads crop); integer data before opset 11.

Cost: a Pad node and a copy of the input. onnxruntime's default optimiser fuses a Pad that writes
0 into a convolution or average again: for it, use another way.

Example: Conv pads=[1, 2] becomes a Pad with 1 cell at the end and Conv pads=[1, 1].
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.padding.chain import Chain, PassResult
from onnxpad.padding.forms import Form
from onnxpad.rewriting.steps.symmetric import by_pad, first, others

REMOVES = {Form.ASYMMETRIC}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE}
ADDS = {
    Form.AUTO_PAD,
    Form.COUNTS_PADDING,
    Form.IGNORES_PADDING,
    Form.PADS,
    Form.PAD_NODE,
    Form.PAD_VALUE,
    Form.WIDER_THAN_KERNEL,
}


def rewrite(chain: Chain) -> PassResult:
    """Write equal begin and end pads and leave the difference to a Pad node."""
    return first(by_pad(chain))


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """Further ways."""
    return others(by_pad(chain))
