"""Move the pads of an operator into a Pad node in front of it.

What: the pads attribute becomes zeros and a Pad node does the padding, with the value that the
operator's own padding stands for: 0 for convolutions, LpPool and averages that count padding,
the lowest value of the type for max pools, the zero point (number or tensor) for integer ones.

Indices of a max pool that are used are counted over the unpadded input by integer arithmetic
behind it.

Behind a DequantizeLinear the Pad goes in front of it and writes the zero point, or in front of
QuantizeLinear, so that runtimes still see one quantised operator.

Exact: always; max pools agree up to NaN, and up to -inf against the lowest finite float where
a window holds padding alone. Indices are those of windows with a cell above -inf.

Refuses: averages that do not count padded cells (their divisor would change), used Indices where
a size is not known, or where padding may win (integers, whose lowest value is a number like any
other; windows of padding alone), ceil_mode where the last window would no longer be dropped,
transposed convolutions (their pads crop), unknown element types, integer data before opset 11
(Pad had floats only).

Cost: one Pad node and a padded copy of the input for each operator; 4 or more operators over the
Indices where they are used.

Example: Conv pads=[0, 0, 1, 1] becomes Pad [0,0,0,0, 0,0,1,1] and Conv pads=[0, 0, 0, 0].
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.chain import AutoPad, Chain, Pads, PadStep, Skip, Verdict
from onnxpad.composing import Composer
from onnxpad.effective import (
    axes_behind,
    effective_pads,
    missing_sizes,
    same_windows_when_padded,
    short_axis,
)
from onnxpad.expansion import Made, Read
from onnxpad.fills import Constant, Fill, Implicit, lowest
from onnxpad.forms import Form, reaches_kernel
from onnxpad.indices import original_indices
from onnxpad.ops import Kind

REMOVES = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL, Form.COUNTS_PADDING}
ADDS = {Form.PAD_NODE, Form.AUTO_PAD}

_PAD_HAS_ITS_VALUE_AS_INPUT = 11


def rewrite(chain: Chain) -> Verdict:
    """Put the operator's own pads into a Pad node."""
    if chain.op.kind in (Kind.PAD, Kind.FOLD):
        return Skip("a Pad node, or pads that crop", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return pads
    if not any(pads.flat):
        return Skip("it does not pad", moot=True)
    refusal = _refusal(chain, pads) or short_axis(chain, pads)
    if refusal:
        return refusal
    fill = _fill(chain)
    if isinstance(fill, Skip):
        return fill
    return _with_indices(chain, pads, fill) if chain.uses_indices else _split(chain, pads, fill)


def _refusal(chain: Chain, pads: Pads) -> Skip | None:
    if chain.op.kind is Kind.TRANSPOSED:
        return Skip("the pads of a transposed convolution crop its output, a Pad node cannot")
    if chain.op.name == "MaxpoolWithMask":
        return Skip("MaxpoolWithMask has an input that depends on its own padding")
    if not chain.opset:
        return Skip("the model imports no version of the ONNX operators, so it can have no Pad")
    if chain.weight_is_padded and isinstance(chain.padding, AutoPad):
        return Skip("its auto_pad keeps onnxruntime from fusing the Pad of its weight, wrongly")
    if any(pad < 0 for pad in pads.flat):
        return Skip(f"the pads {list(pads.flat)} are negative, onnxruntime and the checker refuse")
    if chain.uses_indices and (refusal := _indices_refusal(chain, pads)):
        return refusal
    if chain.ceil_mode and chain.padding not in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER):
        return _ceil_refusal(chain, pads)
    return None


def _indices_refusal(chain: Chain, pads: Pads) -> Skip | None:
    missing = [index for index, axis in enumerate(chain.axes) if not isinstance(axis.size, int)]
    if missing:
        return missing_sizes(chain, "its Indices are used and count cells: this", missing)
    if not chain.dtype.startswith("float"):
        return Skip(
            f"its Indices are used, and the lowest {chain.dtype or 'value'} is data like any "
            "other: a padded cell might win"
        )
    if reaches_kernel(chain, pads) or any(axis.dilation > 1 for axis in chain.axes):
        return Skip("its Indices are used, and a window may hold padding alone")
    return None


def _ceil_refusal(chain: Chain, pads: Pads) -> Skip | None:
    if not same_windows_when_padded(chain, pads):
        return Skip("ceil_mode drops its last window over padding; behind a Pad node it may not")
    if reaches_kernel(chain, pads):
        return Skip(f"the pads {list(pads.flat)} reach the kernel and ceil_mode is set")
    if chain.pad_in_reach is not None:
        return Skip("ceil_mode is set and another Pad stands in front")
    return None


def _fusion_would_harm(chain: Chain, pads: Pads) -> bool:
    """onnxruntime fuses Pads with 0 into a pool one after the other, past its own limit."""
    return reaches_kernel(chain, pads) or chain.pad_in_reach is not None


def _with_indices(chain: Chain, pads: Pads, fill: Fill) -> Verdict:
    split = _split(chain, pads, fill)
    step, sizes = split.pad, [axis.size for axis in chain.axes if isinstance(axis.size, int)]
    composer = Composer(chain.opset, chain.dtype)
    begins, ends = (step.pads.begins, step.pads.ends) if step else ((), ())
    data = composer.pad(Read(0), begins, ends, fill)
    removes = [name for name, _ in chain.attributes if name == "auto_pad"]
    removes += ["ceil_mode"] * (chain.ceil_mode and not split.ceil_mode)
    zeros = Pads.zero(chain.rank).flat
    node = composer.itself({0: data}, sets={"pads": zeros}, removes=removes)
    columns_first = chain.attribute("storage_order", 0) == 1
    indices = original_indices(
        composer, Made(node.step, 1), sizes, pads, columns_first=columns_first
    )
    return composer.finish(node, indices)


def _fill(chain: Chain) -> Fill | Skip:
    fill = chain.fill
    if fill is Implicit.NOTHING:
        return Skip("the average does not count padded cells, it would count those of a Pad node")
    if fill is Implicit.PER_CHANNEL:
        return Skip("the zero point has one value per channel, a Pad node writes one for all")
    if fill is Implicit.LOWEST:
        values = lowest(chain.dtype)
        if not values:
            return Skip(f"the lowest value of type '{chain.dtype or 'unknown'}' is not known")
        fill = Constant(values[0])
    if chain.opset < _PAD_HAS_ITS_VALUE_AS_INPUT and (chain.op.quantised or "int" in chain.dtype):
        return Skip(f"Pad of opset {chain.opset} takes no integers")
    return fill


def _split(chain: Chain, pads: Pads, fill: Fill) -> Chain:
    around = (0,) * chain.first_axis, (0,) * (2 - chain.first_axis)
    full = Pads(around[0] + pads.begins + around[1], around[0] + pads.ends + around[1])
    same = chain.padding in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)
    protect = chain.op.is_pool and fill == Constant(0) and _fusion_would_harm(chain, pads)
    return replace(
        chain,
        axes=axes_behind(chain, pads),
        padding=AutoPad.VALID if protect else Pads.zero(chain.rank),
        ceil_mode=chain.ceil_mode and not same,
        pad=PadStep(full, fill, is_new=True),
        ambiguous=False,
    )
