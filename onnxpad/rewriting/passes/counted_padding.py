"""Write averages that count their padding so that it is data: count_include_pad=1 with pads.

What: a Pad node in front writes what the average counts, 0 or the zero point, and the average is
left without padding of its own. With ceil_mode, what the last window reads beyond that becomes end
pads that are not counted, and ceil_mode goes. Where there is no padding to count, only
count_include_pad goes.

Exact: always. onnxruntime itself divides by too much in QLinearAveragePool with ceil_mode and
count_include_pad where the last window hangs over; what this writes follows the ONNX text.

Refuses: sizes that matter and are not known; integer averages before opset 11 (Pad had floats
only).

Cost: one Pad node and a padded copy of the input for each operator.

Example: AveragePool k3 s2 pads=[1, 1] ceil_mode=1 count_include_pad=1 on 6 cells becomes
Pad [0,0,1, 0,0,1] and AveragePool pads=[0, 1].
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.padding.chain import Chain, Pads, is_same
from onnxpad.padding.effective_pads import axes_behind, short_axis
from onnxpad.padding.fills import Implicit
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.divisors import beyond_the_end
from onnxpad.rewriting.steps.pads import new_pad, pad_value, stands_behind_pad
from onnxpad.rewriting.steps.refusals import known, refuse, require, require_pads
from onnxpad.rewriting.steps.run_time_pads import pads_or_run_time

REMOVES = {Form.COUNTS_PADDING}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE, Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}
ADDS = {
    Form.PAD_NODE,
    Form.PAD_VALUE,
    Form.AUTO_PAD,
    Form.PADS,
    Form.ASYMMETRIC,
    Form.IGNORES_PADDING,
    Form.WIDER_THAN_KERNEL,
}


def rewrite(chain: Chain) -> Chain:
    """Let a Pad node write the cells that the average counts."""
    counts = chain.op.kind is Kind.AVERAGE and chain.counts_padding
    require(counts, "no average that counts its padding", moot=True)
    pads = pads_or_run_time(chain)
    require_pads(pads)
    known(short_axis(chain, pads))
    if not any(pads.flat):
        return _without_padding(chain, pads)
    require(chain.opset, "no version of the ONNX operators is imported, so it can have no Pad")
    step = new_pad(chain, pads, pad_value(chain))
    beyond, axes = beyond_the_end(chain, pads), axes_behind(chain, pads)
    after = replace(chain.with_padding(beyond), axes=axes, ceil_mode=False, pad=step)
    return replace(after, fill=Implicit.NOTHING) if any(beyond.flat) else after


def _without_padding(chain: Chain, pads: Pads) -> Chain:
    """Nothing is counted, not even what ceil_mode reads beyond the end.

    SAME with windows that leave cells out becomes pads: runtimes do not agree on it.
    Behind a Pad, with idle operators between or not, all stays, for so this pass leaves averages.
    """
    before_group = chain.far_pad is not None and chain.around.dequantised is not None
    if stands_behind_pad(chain) or before_group:
        refuse("it has no padding of its own", moot=True)
    plain = replace(chain, fill=Implicit.NOTHING)
    if is_same(chain.padding) and any(axis.span < axis.stride for axis in chain.axes):
        return replace(plain.with_padding(pads), ceil_mode=False)
    return plain
