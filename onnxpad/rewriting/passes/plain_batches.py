"""Write a convolution over batches of every n-th cell as a dilated convolution.

What: where cells of the input are put into batches (SpaceToBatchND of TensorFlow, as Reshape,
Transpose and Reshape), a convolution of stride 1 reads them, and its cells are put back, one
Conv reads the input with dilations n times as large. Its own pads grow n times too.

Exact: always; where each cell comes from is compared, not how it is moved.

Refuses: strides, sizes that are not known, results in between that others read.

Cost: none; six nodes less, and as many windows.

Example: Reshape, Transpose, Reshape to 4 batches, Conv k3, and back, becomes Conv k3 d2.
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Pads, PassResult, Skip
from onnxpad.padding.expansion import Named
from onnxpad.padding.forms import Form
from onnxpad.rewriting.steps.composer import Composer

REMOVES = {Form.BATCHES}
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """One Conv of what stands in front of the batches."""
    pads = chain.padding
    if not chain.reads or not chain.axes or not isinstance(pads, Pads):
        return Skip("no convolution over batches", moot=True)
    composer = Composer(chain.opset, chain.dtype)
    attributes = {
        "kernel_shape": tuple(axis.kernel for axis in chain.axes),
        "dilations": tuple(axis.dilation for axis in chain.axes),
        "pads": pads.flat,
        "group": chain.attribute("group", 1),
    }
    return composer.finish(
        composer.add("Conv", *map(Named, chain.reads), attributes=attributes, role="dilated")
    )
