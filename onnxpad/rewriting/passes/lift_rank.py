"""Write 1-D convolutions and pools as 2-D ones.

What: the input gets an axis of size 1 in front of its spatial axis (Unsqueeze), the kernel too,
and the output loses it again (Squeeze). Along it there is nothing to pad and one window.

Exact: always.

Refuses: operators whose further inputs have a spatial axis as well,
padding that cannot be read, inputs shorter than the window, an output_shape below the input's size.

Cost: an Unsqueeze and a Squeeze for each such operator, which move no data.

Example: Conv k3 pads=[1, 1] on [1, 8, 100] becomes Unsqueeze, Conv 1x3 pads=[0, 1, 0, 1], Squeeze.
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PassResult, Weight
from onnxpad.padding.expansion import Made, Operand, Read, Reshaped
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import AttributeValue
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.refusals import Refused, refuse, require, require_windows
from onnxpad.rewriting.steps.transposed import require_axes

REMOVES = {Form.ONE_AXIS}
ADDS: set[Form] = set()

_WEIGHT_AXIS = 2
_ALONG_NEW_AXIS = {
    "kernel_shape": 1,
    "strides": 1,
    "dilations": 1,
    "pads": 0,
    "output_padding": 0,
    "output_shape": 1,
}


def rewrite(chain: Chain) -> PassResult:
    """Let the operator slide over an image of one row."""
    may_be_one = chain.op.has_windows and chain.rank <= 1
    require(may_be_one, "no 1-D convolution or pool", moot=True)
    if chain.trouble:
        moot = chain.shape is not None and len(chain.shape) != 3
        raise Refused(chain.trouble.as_skip(moot=moot))
    if chain.op.name == "DeformConv":
        refuse("DeformConv has more inputs with a spatial axis")
    require_windows(chain)
    require_axes(chain)
    composer = Composer(chain.opset, chain.dtype)
    axis = (chain.first_axis,)
    inputs: dict[int, Operand] = {0: composer.unsqueeze(Read(0), axis)}
    if chain.op.weight is not None:
        inputs[chain.op.weight] = _weight(composer, chain.weight, chain.op.weight)
    node = composer.itself(inputs, sets=_attributes(chain))
    results = [
        composer.squeeze(Made(node.step, output), axis, role=f"squeeze{output or ''}")
        for output in range(max(1, len(chain.written.outputs)))
        if output == 0 or chain.written.outputs[output]
    ]
    return composer.finish(*results)


def _weight(composer: Composer, weight: Weight, position: int) -> Operand:
    sizes = [size for size in weight.shape or () if isinstance(size, int)]
    if weight.is_constant and weight.shape and len(sizes) == len(weight.shape):
        dims = (*sizes[:_WEIGHT_AXIS], 1, *sizes[_WEIGHT_AXIS:])
        return Reshaped(Read(position), dims)
    return composer.unsqueeze(Read(position), (_WEIGHT_AXIS,), role="weight_unsqueeze")


def _attributes(chain: Chain) -> dict[str, AttributeValue]:
    """What is written for one axis, written for two."""
    written: dict[str, AttributeValue] = {}
    for name, value in chain.written.attributes:
        new = _ALONG_NEW_AXIS.get(name)
        if new is None or not isinstance(value, tuple):
            continue
        half = len(value) // 2
        if name == "pads":
            written[name] = (new, *value[:half], new, *value[half:])
        elif value:
            written[name] = (*value[:-1], new, value[-1])
    return written
