"""New Pads of operators whose input comes from DequantizeLinear.

A Pad between both would part what runtimes compute as one quantised operator. So it goes before
DequantizeLinear and writes the zero point, or before QuantizeLinear.
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.padding.chain import Chain, Dequantised, NewPad, Pads
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.expansion import Expansion
from onnxpad.padding.fills import Constant, Fill, lowest
from onnxpad.padding.forms import windows_hold_data
from onnxpad.rewriting.steps.refusals import refuse, require


def outside_group(chain: Chain, after: Chain | Expansion) -> Chain | Expansion:
    """The result of a pass with its new Pad before DequantizeLinear; refuses an unwritable fill."""
    dequantised = chain.around.dequantised
    if dequantised is None or isinstance(after, Expansion) or not isinstance(after.pad, NewPad):
        return after
    require(not dequantised.refusal, dequantised.refusal)
    if after.pad.mode != "constant":
        return after
    fill = _fill(chain, dequantised, after.pad)
    return replace(after, pad=replace(after.pad, fill=fill))


def _fill(chain: Chain, dequantised: Dequantised, step: NewPad) -> Fill:
    """What the Pad writes in its place for what it would write in front of the operator."""
    fill = step.fill
    value = fill.value if isinstance(fill, Constant) else None
    if value == 0:
        return Constant(0) if dequantised.zero is None else dequantised.zero
    if value is None or value not in lowest(chain.dtype) or not chain.is_max:
        refuse(f"its input comes from DequantizeLinear, in front of which no {fill} can be")
    if chain.uses_indices:
        refuse(
            "its Indices are used and its input comes from DequantizeLinear, where a padded cell "
            "is as low as data may be"
        )
    holds_cells = isinstance(effective_pads(chain), Pads) and windows_hold_data(
        chain, chain.inner(step.pads)
    )
    require(
        holds_cells,
        "its input comes from DequantizeLinear and a window may hold padding alone, whose "
        "lowest value is not that of the quantised type",
    )
    return fill if dequantised.zero is None else Constant(dequantised.lowest)
