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

border-pads repeats the border cells of a max pool (Pad in mode edge) in the place of the lowest
value, for runtimes that pad with 0, or have no Pad with a value.

Exact: always; max pools agree up to NaN, and up to -inf against the lowest finite float where
a window holds padding alone. Indices are those of windows with a cell above -inf.

Refuses: averages that do not count padded cells (their divisor would change), used Indices where a
size is not known, or where padding may win (integers, whose lowest value is a number like any
other; windows of padding alone; a Pad(-inf) in front), averages that count padding, of which
ceil_mode drops a window while another hangs over, transposed convolutions (their pads crop),
unknown element types, integer data before opset 11 (Pad had floats only). border-pads: all but max
pools, windows that may hold padding alone, dilations, used Indices.

Cost: one Pad node and a padded copy of the input for each operator; 4 or more operators over the
Indices where they are used.

Example: Conv pads=[0, 0, 1, 1] becomes Pad [0,0,0,0, 0,0,1,1] and Conv pads=[0, 0, 0, 0].
"""

from __future__ import annotations

import math
from dataclasses import replace
from math import prod

from onnxpad.geometry.budgets import LARGEST_SIZE
from onnxpad.geometry.windows import holds_padding_alone
from onnxpad.padding.chain import Chain, NewPad, Pads, PassResult, Skip
from onnxpad.padding.effective_pads import (
    axes_behind,
    effective_pads,
    floored,
    missing_sizes,
    output_sizes,
    rounds_up,
    short_axis,
)
from onnxpad.padding.expansion import Made, Numbers, Operand, Read
from onnxpad.padding.fills import Constant, Fill
from onnxpad.padding.forms import Form, reaches_kernel
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
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


def rewrite(chain: Chain) -> PassResult:
    """Put the operator's own pads into a Pad node."""
    pads_in_front = chain.op.kind not in (Kind.PAD, Kind.FOLD)
    require(pads_in_front, "a Pad node, or pads that crop", moot=True)
    pads = pads_or_run_time(chain)
    require(any(pads.flat), "it does not pad", moot=True)
    if chain.op.kind is Kind.TRANSPOSED:
        refuse("the pads of a transposed convolution crop its output, a Pad node cannot")
    if chain.op.name == "MaxpoolWithMask":
        refuse("MaxpoolWithMask has an input that depends on its own padding")
    require_pad(chain, pads)
    if chain.uses_indices:
        _require_indices(chain, pads)
    known(short_axis(chain, pads))
    fill = pad_value(chain)
    if rounds_up(chain) and (refusal := ceil_refusal(chain, pads)):
        wider = floored(chain, pads)
        if isinstance(wider, Skip):
            return replace(refusal, hints=wider.hints)
        chain, pads = replace(chain, ceil_mode=False), wider
    return _apart(chain, pads, fill)


def _require_indices(chain: Chain, pads: Pads) -> None:
    """Leave alone a max pool whose Indices may be those of padded cells."""
    missing = [index for index, axis in enumerate(chain.axes) if not isinstance(axis.size, int)]
    if missing:
        what = "counting its Indices, which are used, over the unpadded cells"
        known(missing_sizes(chain, what, missing, exact=True))
    if not chain.dtype.startswith("float"):
        refuse(
            f"its Indices are used, and the lowest {chain.dtype or 'value'} is data like any "
            "other: a padded cell might win"
        )
    windows = zip(chain.axes, pads.begins, output_sizes(chain), strict=True)
    if any(
        isinstance(count, int) and holds_padding_alone(axis, begin, count)
        for axis, begin, count in windows
    ):
        refuse("its Indices are used, and a window may hold padding alone")
    cells = prod(axis.size for axis in axes_behind(chain, pads) if isinstance(axis.size, int))
    require(cells <= LARGEST_SIZE, "its Indices are used, and no int64 counts so many cells")
    step = chain.pad or chain.far_pad
    if step is not None and step.mode == "constant":
        is_finite = isinstance(step.fill, Constant) and not math.isinf(step.fill.value)
        reason = "its Indices are used, and the Pad in front may fill a window with -inf"
        require(is_finite, reason)


def _apart(chain: Chain, pads: Pads, fill: Fill) -> PassResult:
    """The operator behind a new Pad."""
    split = replace(
        chain.with_padding(Pads.zero(chain.rank)),
        axes=axes_behind(chain, pads),
        ceil_mode=rounds_up(chain),
        pad=new_pad(chain, pads, fill),
    )
    if not chain.uses_indices or split.pad is None:
        return split
    composer = Composer(chain.opset, chain.dtype)
    data = composer.pad(Read(0), split.pad.pads.begins, split.pad.pads.ends, fill)
    removes = [name for name, _ in chain.attributes if name == "auto_pad"]
    removes += ["ceil_mode"] * (chain.attribute("ceil_mode", 0) == 1 and not split.ceil_mode)
    zeros = Pads.zero(chain.rank).flat
    node = composer.itself({0: data}, sets={"pads": zeros}, removes=removes)
    return composer.finish(node, _original_indices(composer, Made(node.step, 1), chain, pads))


def _original_indices(composer: Composer, indices: Operand, chain: Chain, pads: Pads) -> Made:
    """Flat indices over padded cells as flat indices over the cells inside.

    storage_order=1 lets the first spatial axis run fastest (MaxPool-12). Each index must lie
    inside, which the largest of a window with a finite cell does. An index is nc*P + sum(q*p) over
    padded strides p and becomes nc*S + sum((q-begin)*s).
    """
    sizes = [axis.size for axis in chain.axes if isinstance(axis.size, int)]
    padded = [size + sum(pair) for size, pair in zip(sizes, pads.sides, strict=True)]
    columns_first = chain.attribute("storage_order", 0) == 1
    order = list(range(len(sizes)))[:: -1 if columns_first else 1]
    planes = [(prod(padded), prod(sizes), 0)]
    for place, axis in enumerate(order):
        faster = order[place + 1 :]
        strides = (prod(cells[one] for one in faster) for cells in (padded, sizes))
        planes.append((*strides, pads.begins[axis]))  # type: ignore[arg-type] # two strides
    inside = rest = indices
    offset = sum(begin * narrow for _, narrow, begin in planes)
    for number, (wide, narrow, _) in enumerate(planes):
        if wide == 1 or all(w == n for w, n, _ in planes[number:]):
            continue
        cells = _number(f"cells{number}", wide)
        count = composer.add("Div", rest, cells, role=f"place{number}")
        if wide != narrow:
            lost = _number(f"lost{number}", wide - narrow)
            shift = composer.add("Mul", count, lost, role=f"shift{number}")
            inside = composer.add("Sub", inside, shift, role=f"shifted{number}")
        if any(w != n for w, n, _ in planes[number + 1 :]):
            whole = composer.add("Mul", count, cells, role=f"whole{number}")
            rest = composer.add("Sub", rest, whole, role=f"rest{number}")
    return composer.add("Sub", inside, _number("begin", offset), role="indices")


def _number(role: str, value: int) -> Numbers:
    return Numbers(f"indices_{role}", "int64", (), (value,))


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
    if chain.op.name == "MaxpoolWithMask":
        refuse("MaxpoolWithMask has an input that depends on its own padding")
    require(not chain.uses_indices, "its Indices are used, and would be those of the padded cells")
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
