"""Make asymmetric pads symmetric, in the cheapest exact way.

What: begin and end pads that differ become equal pads. Where that gives other windows, a Slice
drops them, from Indices of a max pool as well; else the kernel gets taps of 0 (integer kernels
their zero point) in front where the end pad is larger, and behind where the begin pad is; else a
Pad node adds the difference. Transposed convolutions get output_padding first.
symmetric-pads-by-slice, symmetric-pads-by-kernel and symmetric-pads-by-pad are these ways without
the choice. Many runtimes read one pad for both sides of an axis, cuDNN among them.

Exact: for every size of the input; auto_pad counts as the pads that it stands for, and ceil_mode
as the end pads that it reads. A Slice gives the same bits. New taps add 0 times a cell: nothing,
unless the cell is infinite or not a number. Behind a Pad max pools agree up to NaN, and up to -inf
against the lowest finite float where a window holds padding alone.

Refuses: where none of the ways is exact, with the reason of each. By a Slice: sizes that decide how
many windows there are to drop, pads that would reach the kernel of a pool, operators with other
inputs of the output's size. By the kernel: pads that do not differ by a multiple of the dilation,
weights that are no constants, pools. By a Pad: averages that do not count padded cells, used
Indices, transposed convolutions, integer data before opset 11. A Pad node in front whose begin and
end differ is left alone and named: absorb-pad makes it the operator's own padding.

Cost: nothing where equal pads give the same windows, otherwise the windows that are dropped and a
copy of the output, the new taps, or a Pad node and a copy of the input.

Example: Conv k3 s2 pads=[1, 0] on 6 cells becomes pads=[1, 1], which gives the same windows.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.padding.chain import Chain, NewPad, PassResult, Skip
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.refusals import attempted
from onnxpad.rewriting.steps.symmetric import (
    Written,
    by_kernel,
    by_output_padding,
    by_pad,
    by_slice,
)

REMOVES = {Form.ASYMMETRIC}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE, Form.OUTPUT_SHAPE}
ADDS = {
    Form.AUTO_PAD,
    Form.COUNTS_PADDING,
    Form.IGNORES_PADDING,
    Form.OUTPUT_PADDING,
    Form.PADS,
    Form.PAD_NODE,
    Form.PAD_VALUE,
    Form.WIDER_THAN_KERNEL,
}
WAYS = {
    "symmetric-pads-by-slice": Way(
        "Make asymmetric pads symmetric with a Slice behind the operator.", by_slice
    ),
    "symmetric-pads-by-kernel": Way(
        "Make asymmetric pads symmetric with a kernel that has more taps of 0.", by_kernel
    ),
    "symmetric-pads-by-pad": Way(
        "Make asymmetric pads symmetric with a Pad node that adds the difference.", by_pad
    ),
}
_NAMED = {
    "a Slice": by_slice,
    "the kernel": by_kernel,
    "a Pad": by_pad,
    "output_padding": by_output_padding,
}


def rewrite(chain: Chain) -> PassResult:
    """Write equal begin and end pads in the first way there is."""
    ways, refusals = _ways(chain)
    if ways:
        return ways[0]
    first = next(iter(refusals.values()))
    if first.moot and _follows_uneven_pad(chain):
        return _about_pad(chain)
    if first.moot or len({skip.reason for skip in refusals.values()}) == 1:
        return first
    none = _joined(refusals)
    return Skip(f"no way is exact: {none.reason}", none.hints)


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """The dearer ways, and why there are no more."""
    ways, refusals = _ways(chain)
    yield from ways[1:]
    yield _joined(refusals)


def _ways(chain: Chain) -> tuple[list[Written], dict[str, Skip]]:
    """What each way writes, without another operator or tap first; and why others are none."""
    ways, refusals = list[Written](), dict[str, Skip]()
    for name, way in _NAMED.items():
        if way is not by_output_padding or chain.op.kind is Kind.TRANSPOSED:
            made = attempted(way, chain)
            if isinstance(made, Skip):
                refusals[name] = made
            else:
                ways += made
    return sorted(ways, key=lambda one: not _is_free(one)), refusals


def _is_free(way: Written) -> bool:
    """Whether it adds no work: other numbers of the operator are all there is to it."""
    return isinstance(way, Chain) and not isinstance(way.pad, NewPad)


def _joined(refusals: dict[str, Skip]) -> Skip:
    reasons = "; ".join(f"by {name}: {skip.reason}" for name, skip in refusals.items())
    hints = dict.fromkeys(hint for skip in refusals.values() for hint in skip.hints)
    return Skip(reasons, tuple(hint for hint in hints if "symmetric-pads" not in hint))


def _follows_uneven_pad(chain: Chain) -> bool:
    """Whether a Pad node in front of the operator pads one side more than the other."""
    step = chain.pad
    if step is None or chain.op.kind is Kind.PAD or step.unclear or step.mode != "constant":
        return False
    return step.pads.begins[chain.spatial] != step.pads.ends[chain.spatial]


def _about_pad(chain: Chain) -> Skip:
    pads = () if chain.pad is None else chain.pad.pads.flat
    return Skip(
        f"its pads are equal, but not those of the Pad node in front of it: {list(pads)}",
        ("--pass absorb-pad --pass symmetric-pads",),
        moot=True,
        noted=True,
    )
