"""Write the dilations of a convolution as taps of 0 between those of its kernel.

What: dilations become 1, and the kernel spans as many cells as before; the taps between its own are
0, or the zero point of the weight. odd-kernels adds a tap of 0 to an even kernel in that way, on
the side with the smaller pad, and as many cells to that pad. even-dilations gives an axis along
which the kernel has one cell the dilation of the others: one cell has no gaps, and some runtimes
have one number for all axes.

Exact: for every size of the input. The new taps add 0 times a cell: nothing, unless the cell is
infinite or not a number.

Refuses: weights and weight zero points that are no constants of the model; output_padding that only
the dilation allows; inputs shorter than the window; pools; DeformConv.

Cost: the multiply-adds and the bytes of the new taps; no operator.

Example: Conv k3 d2 pads=[2, 2] becomes Conv k5 pads=[2, 2] with the kernel [a, 0, b, 0, c].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onnxpad.padding.chain import Chain, Pads, PassResult
from onnxpad.padding.effective_pads import effective_pads, short_axis
from onnxpad.padding.expansion import Made
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.kernels import require_kernel, require_weight, unsaid, with_taps
from onnxpad.rewriting.steps.refusals import Refused, known, refuse, require, require_windows
from onnxpad.rewriting.steps.transposed import Crop, standard_crop, written

REMOVES: set[Form] = set()
ADDS = {Form.WIDER_THAN_KERNEL}


def rewrite(chain: Chain) -> PassResult:
    """Spread the kernel."""
    dilations = tuple(axis.dilation for axis in chain.axes)
    is_dilated = chain.op.has_windows and any(one > 1 for one in dilations)
    require(is_dilated, "it has no dilation above 1", moot=True)
    if chain.trouble:
        raise Refused(chain.trouble.as_skip())
    require_weight(chain)
    require_windows(chain)
    pairs = zip(chain.output_padding, chain.axes, strict=False)
    if any(extra >= axis.stride for extra, axis in pairs):
        refuse("its output_padding reaches the stride, which the dilation alone allows")
    plain = replace(chain, axes=tuple(axis._replace(dilation=1) for axis in chain.axes))
    none = (0,) * chain.rank
    require_kernel(plain, none, [axis.span - axis.kernel for axis in chain.axes])
    return with_taps(chain, none, none, {"dilations": (1,) * chain.rank}, steps=dilations)


def _even(chain: Chain) -> Sequence[PassResult]:
    """Give axes with a kernel of one cell the dilation of the others."""
    differ = chain.op.has_windows and len({axis.dilation for axis in chain.axes}) > 1
    require(differ, "its dilations are equal", moot=True)
    if chain.trouble:
        raise Refused(chain.trouble.as_skip())
    bound = {axis.dilation for axis in chain.axes if axis.kernel > 1}
    if len(bound) > 1:
        refuse("its dilations differ along axes of which each has several cells of the kernel")
    require_windows(chain)
    composer = Composer(chain.opset, chain.dtype)
    node = composer.itself(sets={"dilations": (bound.pop() if bound else 1,) * chain.rank})
    return [
        composer.finish(*(Made(node.step, place) for place in range(len(chain.written.outputs))))
    ]


def _odd(chain: Chain) -> PassResult:
    """Add a tap along each axis that has an even number of them."""
    is_even = chain.op.has_windows and any(axis.kernel % 2 == 0 for axis in chain.axes)
    require(is_even, "its kernel is odd", moot=True)
    crop = standard_crop(chain) if chain.op.kind is Kind.TRANSPOSED else None
    pads = known(effective_pads(chain)) if crop is None else crop.pads
    require_weight(chain)
    if crop is None:
        known(short_axis(chain, pads))
    require(min(pads.flat) >= 0, f"the pads {list(pads.flat)} are negative")
    taps = Pads.of(
        [
            (0, 0) if axis.kernel % 2 else (1, 0) if begin < end else (0, 1)
            for axis, begin, end in chain.sides(pads)
        ]
    )
    require_kernel(chain, taps.begins, taps.ends)
    cells = [
        (front * axis.dilation, back * axis.dilation) for axis, front, back in chain.sides(taps)
    ]
    wider = pads + Pads.of(cells)
    if crop is None:
        own = {"pads": wider.flat}
        return with_taps(chain, taps.begins, taps.ends, own, removes=unsaid(chain))
    sets, gone = written(chain, Crop(wider, crop.extra))
    return with_taps(chain, taps.begins, taps.ends, sets, removes=gone)


WAYS = {
    "even-dilations": Way(
        "Write one dilation for all axes, where a kernel of one cell leaves an axis free to have "
        "any.",
        _even,
    ),
    "odd-kernels": Way(
        "Give a convolution an odd number of taps along each axis, by a tap of 0.",
        _odd,
        may_remove={Form.ASYMMETRIC, Form.AUTO_PAD, Form.OUTPUT_SHAPE},
        adds={Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL},
    ),
}
