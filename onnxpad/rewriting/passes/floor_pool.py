"""Write ceil_mode of a pool as wider end pads.

What: the cells that the last, rounded-up window reads beyond the padded input become end pads,
and ceil_mode goes. Where rounding up changes nothing, only ceil_mode goes.

Exact: for max pools, LpPool and averages that do not count padding; for averages that count it
where they have no padding of their own (count_include_pad goes then: the overhang is never
counted). The window that would start in the end padding is dropped, as the ONNX text of opset 22
and onnxruntime at every opset do. The size need not be known: the widest overhang that is possible
serves every size that holds a window, and what is not needed of it is never read.

Refuses: SAME where runtimes disagree; end pads that would reach the kernel; averages that count
padding of their own and hang over (their divisor counts the padding, but not the overhang, which
no pads can say: use counted-padding).

Cost: none.

Example: MaxPool k2 s2 ceil_mode=1 on 5 cells becomes pads=[0, 1].
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.padding.chain import Chain, is_same
from onnxpad.padding.effective_pads import same_is_disputed
from onnxpad.padding.fills import Implicit
from onnxpad.padding.forms import Form
from onnxpad.rewriting.steps.divisors import beyond_the_end
from onnxpad.rewriting.steps.refusals import own_pads, refuse, require

REMOVES = {Form.CEIL_MODE}
MAY_REMOVE = {Form.AUTO_PAD}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.IGNORES_PADDING, Form.WIDER_THAN_KERNEL}


def rewrite(chain: Chain) -> Chain:
    """Let the pool round down over an input with wider end pads."""
    require(chain.ceil_mode and chain.op.is_pool, "ceil_mode is not used", moot=True)
    pads = own_pads(chain)
    if is_same(chain.padding) and same_is_disputed(chain):
        # SAME gives ceil(size/stride) windows anyway, but not in every runtime.
        reason = "runtimes disagree about SAME with dilations or a kernel below the stride"
        refuse(reason, "--pass explicit-pads")
    beyond = beyond_the_end(chain, pads)
    if not any(beyond.flat):
        return replace(chain, ceil_mode=False)
    if chain.counts_padding and any(pads.flat):
        refuse(
            "the average counts its padding, but not the cells that its last window lacks",
            "--pass counted-padding",
        )
    fill = Implicit.NOTHING if chain.counts_padding else chain.fill
    return replace(chain.with_padding(pads + beyond), ceil_mode=False, fill=fill)
