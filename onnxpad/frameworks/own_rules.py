"""Rules that one framework has alone, under the framework's name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from onnxpad.errors import RequestError
from onnxpad.frameworks import rules
from onnxpad.frameworks.layer import AxisCrop, CropRule, Given, PadRule, Pair
from onnxpad.frameworks.rules import crop_both, full_extent, same_multiple, same_upper
from onnxpad.geometry.windows import Axis, same_crop, shape_crop


def caffe2_same(axis: Axis, _given: Given) -> Pair:
    """C++ divides towards 0; CAFFE2_PAD_HEAD_MORE is false."""
    if not isinstance(axis.size, int):
        return (0, 0)
    needed = (-(-axis.size // axis.stride) - 1) * axis.stride + axis.kernel - axis.size
    head = needed // 2 if needed >= 0 else -(-needed // 2)
    return (head, needed - head)


def cntk_auto(axis: Axis, _given: Given) -> Pair:
    """GetLowerPad and GetUpperPad."""
    if not isinstance(axis.size, int) or axis.span > axis.size:
        raise RequestError(f"autoPad needs a kernel of at most the size, not {axis.span} cells")
    extra = axis.size - ((axis.size - 1) // axis.stride * axis.stride + 1)
    centre = extra // 2
    reach = axis.span - 1
    return (reach // 2 - centre, reach - reach // 2 - (extra - centre))


def cntk_auto_cut(axis: Axis, size: int, given: Given) -> AxisCrop:
    """What autoPad of a convolution over the output pads in front is cut in front."""
    output = given.extent if given.extent is not None else (size - 1) * axis.stride + 1
    if (output - 1) // axis.stride + 1 != size:
        raise RequestError(f"output_shape {output} does not fit stride {axis.stride}")
    begin, _ = cntk_auto(Axis(output, axis.kernel, axis.stride, axis.dilation), given)
    return AxisCrop(begin, output)


def half_kernel(axis: Axis, _given: Given) -> Pair:
    """kernel//2 cells at both sides (Darknet, TensorNets)."""
    return (axis.kernel // 2, axis.kernel // 2)


def tensornets_less_in_front(axis: Axis, _given: Given) -> Pair:
    """kernel//2 cells at the end, one less in front."""
    return (max(0, axis.kernel // 2 - 1), axis.kernel // 2)


def timm_symmetric(axis: Axis, _given: Given) -> Pair:
    """padding='' of timm: ((stride-1)+span-1)//2 cells at both sides."""
    pad = (axis.stride - 1 + axis.span - 1) // 2
    return (pad, pad)


def timm_undilated_same(axis: Axis, given: Given) -> Pair:
    """MaxPool2dSame pads for the kernel without its dilation."""
    return same_upper(axis._replace(dilation=1), given)


def _mps_centred(axis: Axis, _given: Given, *, style: int, policy: int) -> Pair:
    """`style` -1, 0, 1 is ValidOnly, Same, Full; `policy` 0 puts the odd cell last, 1 first."""
    size = axis.size if isinstance(axis.size, int) else 1
    count = -(-(size + style * (axis.span - 1)) // axis.stride)
    extra = (count - 1) * axis.stride + axis.span - size
    total = extra + policy
    left = total // 2 if total >= 0 else -(-total // 2)
    return (left, extra - left)


def uncropped(axis: Axis, size: int, _given: Given) -> AxisCrop:
    """All cells (CNTK, Core ML)."""
    return AxisCrop(0, full_extent(axis, size))


def jax_same_cut(axis: Axis, size: int, _given: Given) -> AxisCrop:
    """SAME of lax.conv_transpose: size*stride cells."""
    total = axis.span + axis.stride - 2
    wide = axis.stride > axis.span - 1
    before = axis.span - 1 if wide else -(-total // 2)
    return AxisCrop(axis.span - 1 - before, size * axis.stride)


def jax_pairs_cut(axis: Axis, size: int, given: Given) -> AxisCrop:
    """Explicit pairs pad the spread input: span-1 less of them is the crop."""
    begin, end = given.pads or (0, 0)
    most = axis.span - 1
    return AxisCrop(most - begin, full_extent(axis, size) - 2 * most + begin + end)


def keras_same_cut(axis: Axis, size: int, given: Given) -> AxisCrop:
    """size*stride, or with output_padding (size-1)*stride + span%2 + output_padding."""
    if given.growth is None:
        return same_multiple(axis, size, given)
    output = (size - 1) * axis.stride + axis.span % 2 + given.growth
    return AxisCrop(max(0, full_extent(axis, size) - output) // 2, output)


def keras_valid_cut(axis: Axis, size: int, given: Given) -> AxisCrop:
    """All cells, at least size*stride of them."""
    extra = max(axis.stride - axis.span, 0) if given.growth is None else given.growth
    return AxisCrop(0, full_extent(axis, size) + extra)


def mxnet_target(axis: Axis, size: int, given: Given) -> AxisCrop:
    """target_shape takes the place of pad and adj, the odd cell is cut in front."""
    if given.extent is None:
        return crop_both(axis, size, given)
    return AxisCrop((full_extent(axis, size) - given.extent + 1) // 2, given.extent)


def paddle_same_cut(axis: Axis, size: int, given: Given) -> AxisCrop:
    """What SAME of a convolution over the input would pad."""
    begin, end = same_upper(axis, given)
    return AxisCrop(begin, full_extent(axis, size) - begin - end + (given.growth or 0))


def paddle_valid_cut(axis: Axis, size: int, given: Given) -> AxisCrop:
    """All cells, and what they grow by."""
    return AxisCrop(0, full_extent(axis, size) + (given.growth or 0))


def _onnx_cut(axis: Axis, size: int, given: Given, *, auto_pad: str) -> AxisCrop:
    """ConvTranspose-22 with this auto_pad."""
    growth, upper = given.growth or 0, auto_pad == "SAME_UPPER"
    full = full_extent(axis, size) + growth
    if given.extent is not None:
        begin, _ = shape_crop(full - growth, growth, given.extent, upper=upper)
        return AxisCrop(begin, given.extent)
    begin, end = given.pads or (0, 0)
    if auto_pad.startswith("SAME"):
        begin, end = same_crop(axis, growth, upper=upper)
    return AxisCrop(begin, full - begin - end)


_PADS = (
    *(rules.valid, rules.explicit, rules.same_upper, rules.same_lower, rules.unstrided_same),
    *(rules.window_less_one, rules.causal, rules.total_or_kernel_less_one, rules.half_span),
    *(rules.full, caffe2_same, cntk_auto, half_kernel, tensornets_less_in_front),
    *(timm_symmetric, timm_undilated_same),
)
_CUTS = (
    *(rules.crop_both, rules.same_gradient, rules.valid_gradient, rules.same_multiple),
    *(uncropped, cntk_auto_cut, jax_same_cut, jax_pairs_cut, keras_same_cut, keras_valid_cut),
    *(mxnet_target, paddle_same_cut, paddle_valid_cut),
)
PADS: Mapping[str, PadRule] = {rule.__name__: rule for rule in _PADS} | {
    f"mps_{name}_{side}": partial(_mps_centred, style=style, policy=policy)
    for style, name in ((-1, "valid"), (0, "same"), (1, "full"))
    for policy, side in ((1, "first"), (0, "last"))
}
CUTS: Mapping[str, CropRule] = {rule.__name__: rule for rule in _CUTS} | {
    f"onnx_{auto_pad.casefold()}": partial(_onnx_cut, auto_pad=auto_pad)
    for auto_pad in ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
}
"""What the files of conventions call rules, by name: where cells are padded, and what is cut."""
