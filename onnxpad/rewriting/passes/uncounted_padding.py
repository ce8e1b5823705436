"""Write averages that do not count their padding as averages without padding, corrected behind.

What: a Pad node writes 0, the average divides by the whole kernel, and a Mul behind makes up for
the padded cells. Where a size is not known, a Div by the average of padded ones does the same while
the model runs. counted-padding does the same of averages that count their padding, without a
correction: what ceil_mode reads beyond the Pad becomes end pads that are not counted.

Exact: up to float rounding.

Refuses: integer averages, which cannot be corrected; SAME whose size is not known (use
runtime-pads); ceil_mode over end pads as wide as a window; opsets before 7, or before 8 where a
size is not known; unknown element types.

Cost: a Pad node, one Mul over the output, and a constant as large as one channel of the output.

Example: AveragePool k3 pads=[1, 1] on 5 cells becomes Pad, AveragePool k3 without pads and Mul by
[1.5, 1, 1, 1, 1.5].
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.padding.chain import Chain, Pads, PassResult, is_same
from onnxpad.padding.effective_pads import axes_behind, short_axis
from onnxpad.padding.expansion import Made, Operand, Read
from onnxpad.padding.fills import Constant, Implicit
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import AttributeValue, Kind, Since
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.divisors import (
    beyond_the_end,
    corrected,
    counted_share,
    ones_of_input,
)
from onnxpad.rewriting.steps.pads import (
    full_pads,
    new_pad,
    pad_value,
    stands_behind_pad,
)
from onnxpad.rewriting.steps.refusals import known, refuse, require, require_pads, require_type
from onnxpad.rewriting.steps.run_time_pads import pads_or_run_time

REMOVES = {Form.IGNORES_PADDING}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE, Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}
ADDS = {Form.PAD_NODE, Form.AUTO_PAD}

_OLD = ("auto_pad", "pads", "ceil_mode")


def rewrite(chain: Chain) -> PassResult:
    """Pad with zeros, average, and make up for the zeros."""
    is_one = chain.op.kind is Kind.AVERAGE and chain.fill is Implicit.NOTHING
    require(is_one, "no average that leaves out its padding", moot=True)
    pads = pads_or_run_time(chain)
    require(any(pads.flat), "it does not pad", moot=True)
    if chain.op.quantised:
        refuse("an integer average cannot be corrected behind")
    opset, sizes_known = chain.opset, chain.has_fixed_sizes
    require(opset >= Since.BROADCASTING, f"Mul of opset {opset} does not broadcast shapes")
    reason = f"a size is not known, and opset {opset} has no Expand"
    require(sizes_known or opset >= Since.EXPAND, reason)
    require_type(chain)
    require_pads(pads)
    known(short_axis(chain, pads))
    whole = pads + beyond_the_end(chain, pads)
    composer = Composer(opset, chain.dtype)
    bare: dict[str, AttributeValue] = {"pads": (0,) * (2 * chain.rank)}
    old = [name for name, _ in chain.attributes if name in _OLD and name not in bare]
    padded = _padded(composer, chain, Read(0), whole, "pad")
    average = composer.itself({0: padded}, sets=bare, removes=old)
    if sizes_known:
        none = Pads.zero(chain.rank)
        return composer.finish(corrected(composer, chain, average, whole, none))
    ones = _padded(composer, chain, ones_of_input(composer, chain), whole, "share_pad")
    share = counted_share(composer, chain, ones, bare, whole)
    return composer.finish(composer.add("Div", average, share, role="average"))


def _padded(composer: Composer, chain: Chain, data: Operand, pads: Pads, role: str) -> Made:
    full = full_pads(chain, pads)
    return composer.pad(data, full.begins, full.ends, Constant(0), role=role)


def _counted(chain: Chain) -> Chain:
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


WAYS = {
    "counted-padding": Way(
        "Write averages that count their padding so that it is data.",
        _counted,
        removes={Form.COUNTS_PADDING},
        adds={
            Form.PAD_NODE,
            Form.PAD_VALUE,
            Form.AUTO_PAD,
            Form.PADS,
            Form.ASYMMETRIC,
            Form.IGNORES_PADDING,
            Form.WIDER_THAN_KERNEL,
        },
    ),
}
