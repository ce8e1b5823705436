"""Move the pads of an operator into a Pad node in front of it.

What: a Pad node writes what the operator's own padding stands for: 0 for convolutions, LpPool and
averages that count padding, the lowest value of the type for max pools, the zero point (number or
tensor) for integer ones. It writes the cells that ceil_mode reads beyond the end as well, where
ceil_mode would give other windows behind it. Behind a DequantizeLinear the Pad goes in front of it,
or in front of QuantizeLinear, so that runtimes still see one quantised operator. border-pads
repeats the border cells of a max pool in the place of the lowest value, for runtimes that pad with
0, or have no Pad with a value.

Exact: always; max pools agree up to NaN, and up to -inf against the lowest finite float where
a window holds padding alone.

Refuses: averages that do not count padded cells (their divisor would change) or of which ceil_mode
drops a window while another hangs over, used Indices, transposed convolutions (their pads crop),
unknown element types, integer data before opset 11. border-pads: all but max pools, windows that
may hold padding alone, dilations.

Cost: one Pad node and a padded copy of the input for each operator.

Example: Conv pads=[0, 0, 1, 1] becomes Pad [0,0,0,0, 0,0,1,1] and Conv pads=[0, 0, 0, 0].
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.padding.chain import Chain, NewPad, Pads, PassResult, Skip
from onnxpad.padding.effective_pads import (
    axes_behind,
    effective_pads,
    floored,
    rounds_up,
    short_axis,
)
from onnxpad.padding.fills import Constant, Fill
from onnxpad.padding.forms import Form, reaches_kernel
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.pads import (
    ceil_refusal,
    full_pads,
    new_pad,
    pad_value,
    require_numbers,
    require_pad,
)
from onnxpad.rewriting.steps.refusals import known, refuse, require, require_type
from onnxpad.rewriting.steps.run_time_pads import pads_or_run_time

REMOVES = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL, Form.COUNTS_PADDING}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE}
ADDS = {Form.PAD_NODE, Form.PAD_VALUE, Form.AUTO_PAD}
_USES_INDICES = "its Indices are used and would count the padded cells"


def rewrite(chain: Chain) -> PassResult:
    """Put the operator's own pads into a Pad node."""
    require(chain.op.kind is not Kind.PAD, "a Pad node", moot=True)
    pads = pads_or_run_time(chain)
    require(any(pads.flat), "it does not pad", moot=True)
    if chain.op.kind is Kind.TRANSPOSED:
        refuse("the pads of a transposed convolution crop its output, a Pad node cannot")
    require_pad(chain, pads)
    if chain.uses_indices:
        refuse(_USES_INDICES, "--pass symmetric-pads-by-slice")
    known(short_axis(chain, pads))
    fill = pad_value(chain)
    if rounds_up(chain) and (refusal := ceil_refusal(chain, pads)):
        wider = floored(chain, pads)
        if isinstance(wider, Skip):
            return replace(refusal, hints=wider.hints)
        chain, pads = replace(chain, ceil_mode=False), wider
    return _apart(chain, pads, fill)


def _apart(chain: Chain, pads: Pads, fill: Fill) -> Chain:
    """The operator behind a new Pad."""
    return replace(
        chain.with_padding(Pads.zero(chain.rank)),
        axes=axes_behind(chain, pads),
        ceil_mode=rounds_up(chain),
        pad=new_pad(chain, pads, fill),
    )


def _repeated(chain: Chain) -> PassResult:
    """Repeat the border in a Pad node."""
    require(chain.op.kind is Kind.MAX, "no max pool", moot=True)
    own = known(effective_pads(chain))
    pads = known(floored(chain, own))
    require(any(pads.flat), "it does not pad", moot=True)
    _require_border(chain, pads)
    require_pad(chain, pads)
    known(short_axis(chain, own))
    return replace(
        chain.with_padding(Pads.zero(chain.rank)),
        axes=axes_behind(chain, pads),
        ceil_mode=False,
        pad=NewPad(full_pads(chain, pads), Constant(0), "edge"),
    )


def _require_border(chain: Chain, pads: Pads) -> None:
    """Leave alone pools of which a window may hold no cell of the border, or another number."""
    require(not chain.uses_indices, _USES_INDICES)
    if any(axis.dilation > 1 for axis in chain.axes):
        refuse("its windows have gaps, and may reach over the border without its cell")
    if reaches_kernel(chain, pads):
        refuse("a pad is as wide as the kernel: a window may hold padding alone")
    if any(isinstance(axis.size, int) and axis.size < 1 for axis in chain.axes):
        refuse("an axis has no cell to repeat")
    require_type(chain)
    require_numbers(chain)


WAYS = {
    "border-pads": Way(
        "Pad max pools with their border cells, by a Pad node in mode edge.",
        _repeated,
        removes={Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL},
        adds={Form.PAD_NODE, Form.EDGE},
    ),
}
