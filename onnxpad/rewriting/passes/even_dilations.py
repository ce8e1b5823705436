"""Write one dilation for all axes, where a kernel of one cell leaves an axis free to have any.

What: an axis along which the kernel has one cell gets the dilation of the others; where no axis has
more, dilations become 1. Some runtimes have one number for all axes.

Exact: always; one cell has no gaps.

Refuses: axes with more than one cell whose dilations differ; padding that cannot be read, inputs
shorter than the window.

Cost: none.

Example: Conv 1x3 with dilations=[1, 4] becomes Conv 1x3 with dilations=[4, 4].
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.effective_pads import effective_pads, short_axis
from onnxpad.padding.expansion import Made
from onnxpad.padding.forms import Form
from onnxpad.rewriting.steps.composer import Composer

REMOVES: set[Form] = set()
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """Give axes with a kernel of one cell the dilation of the others."""
    dilations = {axis.dilation for axis in chain.axes}
    if not chain.op.has_windows or len(dilations) < 2:
        return Skip("its dilations are equal", moot=True)
    if chain.trouble:
        return chain.trouble.as_skip()
    bound = {axis.dilation for axis in chain.axes if axis.kernel > 1}
    if len(bound) > 1:
        return Skip("its dilations differ along axes of which each has several cells of the kernel")
    pads = effective_pads(chain)
    if not isinstance(pads, Skip) and (short := short_axis(chain, pads)):
        return short
    composer = Composer(chain.opset, chain.dtype)
    node = composer.itself(sets={"dilations": (bound.pop() if bound else 1,) * chain.rank})
    return composer.finish(*(Made(node.step, place) for place in range(len(chain.outputs))))
