"""Move the pads of an operator into a Pad node in front of it.

What: the pads attribute becomes zeros and a Pad node does the padding, with the value that the
operator's own padding stands for: 0 for convolutions, LpPool and averages that count padding,
the lowest value of the type for max pools, the zero point (number or tensor) for integer ones.

ceil_mode stays where it gives the same windows behind the Pad; otherwise the Pad also writes the
cells that it reads.

Indices of a max pool that are used are counted over the unpadded input by integer arithmetic
behind it.

Behind a DequantizeLinear the Pad goes in front of it and writes the zero point, or in front of
QuantizeLinear, so that runtimes still see one quantised operator.

Exact: always; max pools agree up to NaN, and up to -inf against the lowest finite float where
a window holds padding alone. Indices are those of windows with a cell above -inf.

Refuses: averages that do not count padded cells (their divisor would change), used Indices where
a size is not known, or where padding may win (integers, whose lowest value is a number like any
other; windows of padding alone; a Pad(-inf) in front), averages that count padding, of which
ceil_mode drops a window while another hangs over, transposed convolutions (their pads crop),
unknown element types, integer data before opset 11 (Pad had floats only).

Cost: one Pad node and a padded copy of the input for each operator; 4 or more operators over the
Indices where they are used.

Example: Conv pads=[0, 0, 1, 1] becomes Pad [0,0,0,0, 0,0,1,1] and Conv pads=[0, 0, 0, 0].
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from math import prod

from onnxpad.geometry.budgets import LARGEST_SIZE
from onnxpad.geometry.windows import holds_padding_alone
from onnxpad.padding.chain import Chain, Pads, PassResult, Skip
from onnxpad.padding.effective_pads import (
    axes_behind,
    effective_pads,
    floored,
    missing_sizes,
    output_sizes,
    rounds_up,
    short_axis,
)
from onnxpad.padding.expansion import Made, Read
from onnxpad.padding.fills import Constant, Fill
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.indices import original_indices
from onnxpad.rewriting.steps.pads import ceil_refusal, new_pad, pad_refusal, pad_value
from onnxpad.rewriting.steps.run_time_pads import offering_run_time

REMOVES = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL, Form.COUNTS_PADDING}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE}
ADDS = {Form.PAD_NODE, Form.PAD_VALUE, Form.AUTO_PAD}


def rewrite(chain: Chain) -> PassResult:
    """Put the operator's own pads into a Pad node."""
    if chain.op.kind in (Kind.PAD, Kind.FOLD):
        return Skip("a Pad node, or pads that crop", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return offering_run_time(chain, pads)
    if not any(pads.flat):
        return Skip("it does not pad", moot=True)
    refusal = _refusal(chain, pads) or short_axis(chain, pads)
    if refusal:
        return refusal
    fill = pad_value(chain)
    if isinstance(fill, Skip):
        return fill
    if rounds_up(chain) and (refusal := ceil_refusal(chain, pads)):
        wider = floored(chain, pads)
        if isinstance(wider, Skip):
            return replace(refusal, hints=wider.hints)
        chain, pads = replace(chain, ceil_mode=False), wider
    return _with_indices(chain, pads, fill) if chain.uses_indices else _split(chain, pads, fill)


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """Without ceil_mode."""
    pads, fill = effective_pads(chain), pad_value(chain)
    if isinstance(pads, Skip) or isinstance(fill, Skip) or not rounds_up(chain):
        return
    wider = floored(chain, pads)
    if isinstance(wider, Skip):
        yield Skip("", wider.hints)
        return
    down = replace(chain, ceil_mode=False)
    yield _with_indices(down, wider, fill) if chain.uses_indices else _split(down, wider, fill)


def _refusal(chain: Chain, pads: Pads) -> Skip | None:
    if chain.op.kind is Kind.TRANSPOSED:
        return Skip("the pads of a transposed convolution crop its output, a Pad node cannot")
    if chain.op.name == "MaxpoolWithMask":
        return Skip("MaxpoolWithMask has an input that depends on its own padding")
    if refusal := pad_refusal(chain, pads):
        return refusal
    return _indices_refusal(chain, pads) if chain.uses_indices else None


def _indices_refusal(chain: Chain, pads: Pads) -> Skip | None:
    missing = [index for index, axis in enumerate(chain.axes) if not isinstance(axis.size, int)]
    if missing:
        counted = "counting its Indices, which are used, over the unpadded cells"
        return missing_sizes(chain, counted, missing, exact=True)
    if not chain.dtype.startswith("float"):
        return Skip(
            f"its Indices are used, and the lowest {chain.dtype or 'value'} is data like any "
            "other: a padded cell might win"
        )
    windows = zip(chain.axes, pads.begins, output_sizes(chain), strict=True)
    if any(
        isinstance(count, int) and holds_padding_alone(axis, begin, count)
        for axis, begin, count in windows
    ):
        return Skip("its Indices are used, and a window may hold padding alone")
    sizes = [axis.size for axis in axes_behind(chain, pads) if isinstance(axis.size, int)]
    if prod(sizes) > LARGEST_SIZE:
        return Skip("its Indices are used, and no int64 counts so many cells")
    if _follows_infinity(chain):
        return Skip("its Indices are used, and the Pad in front may fill a window with -inf")
    return None


def _follows_infinity(chain: Chain) -> bool:
    step = chain.pad or chain.far_pad
    if step is None or step.mode != "constant":
        return False
    return not isinstance(step.fill, Constant) or math.isinf(step.fill.value)


def _with_indices(chain: Chain, pads: Pads, fill: Fill) -> PassResult:
    split = _split(chain, pads, fill)
    step, sizes = split.pad, [axis.size for axis in chain.axes if isinstance(axis.size, int)]
    composer = Composer(chain.opset, chain.dtype)
    begins, ends = (step.pads.begins, step.pads.ends) if step else ((), ())
    data = composer.pad(Read(0), begins, ends, fill)
    removes = [name for name, _ in chain.attributes if name == "auto_pad"]
    removes += ["ceil_mode"] * (chain.attribute("ceil_mode", 0) == 1 and not split.ceil_mode)
    zeros = Pads.zero(chain.rank).flat
    node = composer.itself({0: data}, sets={"pads": zeros}, removes=removes)
    columns_first = chain.attribute("storage_order", 0) == 1
    indices = original_indices(
        composer, Made(node.step, 1), sizes, pads, columns_first=columns_first
    )
    return composer.finish(node, indices)


def _split(chain: Chain, pads: Pads, fill: Fill) -> Chain:
    return replace(
        chain.with_padding(Pads.zero(chain.rank)),
        axes=axes_behind(chain, pads),
        ceil_mode=rounds_up(chain),
        pad=new_pad(chain, pads, fill),
    )
