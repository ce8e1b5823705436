"""Make asymmetric pads symmetric, in the cheapest exact way.

What: begin and end pads that differ become equal pads. Where that gives other windows, a Slice
drops them, else the kernel gets taps of 0, else a Pad node adds the difference. Transposed
convolutions get output_padding first. One pass for each way does the same without the choice:
symmetric-pads-by-slice, symmetric-pads-by-kernel and symmetric-pads-by-pad. Many runtimes read one
pad for both sides of an axis, cuDNN among them.

Exact: always, with what the three say about it. auto_pad counts as the pads that it stands for.

Refuses: where none of the ways is exact, with the reason of each. A Pad node in front whose
begin and end differ is left alone and named: absorb-pad makes it the operator's own padding.

Cost: nothing where equal pads give the same windows, otherwise what the way says.

Example: Conv k3 s2 pads=[1, 0] on 6 cells becomes pads=[1, 1], which gives the same windows.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.symmetric import cheapest_first, first, others, ways, without

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


def rewrite(chain: Chain) -> PassResult:
    """Write equal begin and end pads in the first way there is."""
    found = first(cheapest_first(chain))
    moot = isinstance(found, Skip) and found.moot
    return _about_pad(chain) if moot and _follows_uneven_pad(chain) else found


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """The dearer ways, and why there are no more."""
    yield from others(cheapest_first(chain))
    yield without(ways(chain))


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
