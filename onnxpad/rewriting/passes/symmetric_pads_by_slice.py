"""Make asymmetric pads symmetric with a Slice behind the operator.

What: both sides get the least pads whose windows hold the wanted ones, and a Slice drops the
others; from Indices of a max pool as well. A transposed convolution crops the smaller of its
pads on both sides, and the Slice crops the rest. No Slice where nothing is left to drop.

Exact: always, and bit for bit; auto_pad counts as the pads that it stands for, and ceil_mode
as the end pads that it reads. Where those would be too wide, ceil_mode stays.

Refuses: a size that decides how many windows there are to drop, and is not known; pads that
would reach the kernel of a pool; averages that count padding where ceil_mode hangs over pads
that have to grow; DeformConv and FusedConv with a summand, whose other inputs have the size of
the output.

Cost: the windows that are dropped, and a copy of the output.

Example: Conv k3 s2 pads=[0, 3] on 5 cells becomes pads=[2, 2] and a Slice from 1 to the end.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.padding.chain import Chain, PassResult
from onnxpad.padding.forms import Form
from onnxpad.rewriting.steps.symmetric import by_slice, first, others

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
    """Write equal begin and end pads and drop what they give too many."""
    return first(by_slice(chain))


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """Further ways."""
    return others(by_slice(chain))
