"""Write a transposed convolution as a convolution over its input with zeros between the cells.

What: a stride becomes zeros between the cells (Unsqueeze, Pad, Reshape), the kernel is turned
around and its channels swapped, and the pads are the cells of the window that the old ones leave.
For runtimes that lack ConvTranspose of some rank, group, dilation or output_padding.

Exact: up to the order of sums. Each output is the sum of the same products, and of zeros.

Refuses: weights that are no constants, strides above 1 along axes of unknown size, quantised
operators, output_shape on an input of unknown size, pads that leave nothing.

Cost: as many multiply-adds more as the product of the strides says.

Example: ConvTranspose k2 s2 becomes zeros between the cells, then Conv k2 pads=[1, 1].
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Pads, PassResult
from onnxpad.padding.effective_pads import missing_sizes
from onnxpad.padding.expansion import Numbers, Operand, Read, Reshaped
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import CONV_BIAS, AttributeValue
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.refusals import known, require
from onnxpad.rewriting.steps.transposed import Crop, standard_crop

REMOVES = {Form.OUTPUT_PADDING, Form.OUTPUT_SHAPE}
MAY_REMOVE = {Form.AUTO_PAD, Form.ASYMMETRIC}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}

_WEIGHT = 1
_FIRST = 2


def rewrite(chain: Chain) -> PassResult:
    """Put zeros between the cells, reverse the kernel, and convolve with a stride of 1."""
    crop = standard_crop(chain)
    shape = tuple(size for size in chain.weight.shape or () if isinstance(size, int))
    is_known = len(shape) == chain.rank + _FIRST and chain.weight.is_constant and chain.dtype
    reason = "its weight is no constant, or its element type is not known"
    require(is_known and not chain.op.quantised, reason)
    spread = [n for n, axis in enumerate(chain.axes) if axis.stride > 1]
    unknown = [n for n, axis in enumerate(chain.axes) if not isinstance(axis.size, int)]
    if spread and (len(unknown) > 1 or set(unknown) & set(spread)):
        known(missing_sizes(chain, "zeros between cells need the size", unknown))
    composer = Composer(chain.opset, chain.dtype)
    data = _spread(composer, chain, spread)
    pads = [_pads(chain, crop, n) for n in range(chain.rank)]
    cells = Pads.of([(-min(0, begin), -min(0, end)) for begin, end in pads])
    if any(cells.flat):
        data = composer.cut(data, cells, _FIRST)
    groups = int(str(chain.attribute("group", 1)))
    attributes: dict[str, AttributeValue] = {
        "kernel_shape": tuple(axis.kernel for axis in chain.axes),
        "dilations": tuple(axis.dilation for axis in chain.axes),
        "group": groups,
        "pads": (*(max(0, b) for b, _ in pads), *(max(0, e) for _, e in pads)),
    }
    bias = [Read(CONV_BIAS)] if chain.written.inputs[CONV_BIAS:] == (True,) else []
    # [C, M/groups, k...] as [M, C/groups, k...], each axis of the kernel reversed.
    turned = (groups * shape[1], shape[0] // groups, *shape[_FIRST:])
    weight = Reshaped(Read(_WEIGHT), turned, groups)
    return composer.finish(composer.add("Conv", data, weight, *bias, attributes=attributes))


def _pads(chain: Chain, crop: Crop, n: int) -> tuple[int, int]:
    """Pads of the convolution along an axis whose last cell has zeros behind it as well."""
    axis = chain.axes[n]
    more = crop.extra[n] - (axis.stride - 1)
    return axis.span - 1 - crop.pads.begins[n], axis.span - 1 - crop.pads.ends[n] + more


def _spread(composer: Composer, chain: Chain, axes: list[int]) -> Operand:
    """The input with stride - 1 zeros behind each cell along `axes`."""
    if not axes:
        return Read(0)
    data: Operand = composer.unsqueeze(Read(0), [_FIRST + 1 + n + axes.index(n) for n in axes])
    ends, sizes = [0, 0], [0, 0]
    for n, axis in enumerate(chain.axes):
        ends += [0, axis.stride - 1] if n in axes else [0]
        sizes.append(axis.size * axis.stride if isinstance(axis.size, int) else -1)
    data = composer.pad(data, [0] * len(ends), ends, Constant(0), role="zeros")
    shape = Numbers("spread_shape", "int64", (len(sizes),), tuple(sizes))
    return composer.add("Reshape", data, shape, role="spread")
