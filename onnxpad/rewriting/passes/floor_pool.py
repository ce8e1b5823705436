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

from collections.abc import Iterator
from dataclasses import replace

from onnxpad.geometry.windows import overhang
from onnxpad.padding.chain import Chain, Pads, PassResult, Skip, is_same
from onnxpad.padding.effective_pads import effective_pads, same_is_disputed, short_axis
from onnxpad.padding.fills import Implicit
from onnxpad.padding.forms import Form, reaches_kernel
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.pads import by_a_pad_node

REMOVES = {Form.CEIL_MODE}
MAY_REMOVE = {Form.AUTO_PAD}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.IGNORES_PADDING, Form.WIDER_THAN_KERNEL}


def rewrite(chain: Chain) -> Chain | Skip:
    """Let the pool round down over an input with wider end pads."""
    if not chain.ceil_mode or not chain.op.is_pool:
        return Skip("ceil_mode is not used", moot=True)
    if chain.op.name == "MaxpoolWithMask":
        return Skip("MaxpoolWithMask has an input that depends on its own padding")
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return pads
    if short := short_axis(chain, pads):
        return short
    if is_same(chain.padding):
        return _under_same(chain, pads)
    sides = chain.sides(pads)
    if any(end >= axis.span for axis, _, end in sides):
        return Skip(f"ceil_mode drops windows over the pads {list(pads.flat)}, wider than a window")
    wider = tuple(end + overhang(axis, begin, end) for axis, begin, end in sides)
    return _floored(chain, pads, Pads(pads.begins, wider))


def _under_same(chain: Chain, pads: Pads) -> Chain | Skip:
    """SAME gives ceil(size/stride) windows anyway, but not in every runtime."""
    if same_is_disputed(chain):
        reason = "runtimes disagree about SAME with dilations or a kernel below the stride"
        wide = reaches_kernel(chain, pads)
        return Skip(reason, (by_a_pad_node(chain) if wide else "--pass explicit-pads",))
    return replace(chain, ceil_mode=False)


def _floored(chain: Chain, pads: Pads, wider: Pads) -> Chain | Skip:
    if wider == pads:
        return replace(chain, ceil_mode=False)
    counts = chain.op.kind is Kind.AVERAGE and chain.counts_padding
    if counts and any(pads.flat):
        return Skip(
            "the average counts its padding, but not the cells that its last window lacks",
            ("--pass counted-padding",),
        )
    return replace(
        chain.with_padding(wider),
        ceil_mode=False,
        fill=Implicit.NOTHING if counts else chain.fill,
    )


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """A Pad node in front holds any pads; what is read beyond it then fits, or goes into it too."""
    pads = effective_pads(chain)
    if isinstance(pads, Skip) or not any(pads.flat):
        return
    again = "" if chain.fill is Implicit.NOTHING else " --pass floor-pool"
    yield Skip("", (by_a_pad_node(chain) + again,))
