"""Say auto_pad=VALID where an operator behind a Pad node pads nothing itself.

What: pads of 0 become auto_pad=VALID, which means the same. onnxruntime's default optimiser fuses a
Pad node only into an operator without auto_pad, and fuses one that writes 0 wrongly into max pools.

Exact: always.

Refuses: ceil_mode, where runtimes disagree about VALID; nothing else.

Cost: none.

Example: MaxPool pads=[0, 0] behind Pad 0 becomes MaxPool auto_pad=VALID.
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.chain import AutoPad, Chain, Pads, Skip, Verdict
from onnxpad.effective import short_axis
from onnxpad.forms import Form
from onnxpad.ops import Kind

REMOVES: set[Form] = set()
ADDS = {Form.AUTO_PAD}
_KINDS = (Kind.CONVOLUTION, Kind.MAX, Kind.AVERAGE, Kind.LP)


def rewrite(chain: Chain) -> Verdict:
    """Write VALID."""
    if chain.op.kind not in _KINDS or not chain.op.auto_pad or chain.pad_in_reach is None:
        return Skip("no operator behind a Pad", moot=True)
    if chain.padding != Pads.zero(chain.rank) or chain.trouble:
        return Skip("it pads by itself", moot=True)
    if chain.ceil_mode:
        return Skip("ceil_mode is 1, and runtimes disagree about VALID with it")
    return short_axis(chain, Pads.zero(chain.rank)) or replace(chain, padding=AutoPad.VALID)
