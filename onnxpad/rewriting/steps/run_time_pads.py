"""Pads that follow from sizes, computed while the model runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onnxpad.geometry.windows import same_totals
from onnxpad.padding.chain import Chain, Pads, Skip, is_same
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.expansion import Made, Numbers, Read
from onnxpad.padding.fills import Constant, Fill, Implicit
from onnxpad.padding.operators import Since
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import pad_value
from onnxpad.rewriting.steps.refusals import Refused, attempted, refuse, require, require_type

RUN_TIME = "--pass runtime-pads for runtimes that take computed pads"


def pads_or_run_time(chain: Chain) -> Pads:
    """The pads of the operator; where they are not known, what computes them is named."""
    pads = effective_pads(chain)
    if isinstance(pads, Pads):
        return pads
    hangs = not chain.trouble and is_same(chain.padding)
    if hangs and not isinstance(attempted(value_while_running, chain), Skip):
        pads = replace(pads, hints=(*pads.hints, RUN_TIME))
    raise Refused(pads)


def value_while_running(chain: Chain) -> Fill:
    """What a Pad with computed pads writes in front of the operator, which may be SAME.

    Averages that do not count padding are divided again behind it.
    """
    if chain.opset < Since.PAD_INPUTS:
        reason = f"the pads of Pad are attributes in opset {chain.opset}: they cannot be computed"
        refuse(reason, f"raise the model's opset to {Since.PAD_INPUTS} or newer")
    require(not chain.uses_indices, "its Indices are used and would count the padded cells")
    if chain.fill is not Implicit.NOTHING:
        return pad_value(chain)
    if chain.op.quantised:
        refuse("an integer average that does not count padding cannot be divided again")
    require_type(chain)
    return Constant(0)


def same_pads_of_input(composer: Composer, chain: Chain, *, lower: bool) -> Made:
    """SAME pads of the node's input over all axes, as Pad reads them.

    total = max(0, span - r) with r = (size-1) mod stride + 1 (ONNX Operators, Conv-22).
    """
    sizes = sizes_of_input(composer, range(chain.first_axis, chain.first_axis + chain.rank))
    before = composer.add("Sub", sizes, int64s("pads_one", (1,)), role="pads_before")
    strides = int64s("pads_strides", tuple(axis.stride for axis in chain.axes))
    rest = composer.add("Mod", before, strides, role="pads_rest")
    spans = int64s("pads_spans", tuple(axis.span - 1 for axis in chain.axes))
    total = composer.add("Sub", spans, rest, role="pads_total")
    if any(min(same_totals(axis)) < 0 for axis in chain.axes):
        total = _clamped(composer, total)
    small = composer.add("Div", total, int64s("pads_two", (2,)), role="pads_small")
    large = composer.add("Sub", total, small, role="pads_large")
    outer = int64s("pads_outer", (0, 0))
    begins, ends = (large, small) if lower else (small, large)
    pieces = (outer, begins, outer, ends)
    return composer.add("Concat", *pieces, attributes={"axis": 0}, role="pads")


def _clamped(composer: Composer, total: Made) -> Made:
    zero = int64s("pads_zero", (0,))
    if composer.opset >= Since.MAX_INTEGERS:
        return composer.add("Max", total, zero, role="pads_clamped")
    positive = composer.add("Greater", total, zero, role="pads_positive")
    return composer.add("Where", positive, total, zero, role="pads_clamped")


def sizes_of_input(composer: Composer, axes: range, role: str = "pads_sizes") -> Made:
    """Sizes of neighbouring axes of the node's input."""
    if composer.opset >= Since.SHAPE_START:
        some = {"start": axes.start, "end": axes.stop}
        return composer.add("Shape", Read(0), attributes=some, role=role)
    shape = composer.add("Shape", Read(0), role=f"{role}_shape")
    return composer.add("Gather", shape, int64s(f"{role}_axes", tuple(axes)), role=role)


def int64s(role: str, values: Sequence[int]) -> Numbers:
    """A constant list of integers."""
    return Numbers(role, "int64", (len(values),), tuple(values))
