"""What the measured runtimes take, where they have the operator: the common safe subset.

Not looked at are operators that one runtime lacks altogether (ConvTranspose in jaxonnxruntime), a
Pad alone (in the OpenVINO provider) and batches above 1: `onnxpad inspect --target RUNTIME` says
what the runtime at hand does.
"""

from __future__ import annotations

from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.opencv import (
    DEPTHWISE_READS_BEYOND,
)
from onnxpad.runtimes.conditions.plain_facts import (
    BLOCKS,
    BRANCH,
    COMPUTED_SIZES,
    CROP,
    FACTOR,
    LIMIT,
    LONE_CROP,
    LOOKUP,
    LOOSE_PIECES,
    OUTER_BLOCKS,
    PIECES,
    QUANTISED_BYTES,
)
from onnxpad.runtimes.conditions.rows import Condition, measured, miscomputes, refuses, takes
from onnxpad.runtimes.onnxruntime.rows import fusion_rows
from onnxpad.runtimes.targets import Target

_mnn = measured("MNN 3.6.1")
_ncnn = measured("ncnn 1.0.20261020")
_new, _classic = (measured(f"OpenCV 5.0.0, ENGINE_{name}") for name in ("NEW", "CLASSIC"))
_torch = measured("onnx2torch 1.5.15")
_keras = measured("onnx2keras 0.0.25")
_tflite = measured("onnx2tf 1.29.24")
_qnn = measured("onnxruntime-qnn 2.7.0")
_rknn = measured("rknn-toolkit2 2.5.0")
_iree = measured("IREE 3.13.0")
_jax = measured("jaxonnxruntime 0.3.0")
_ort = measured("onnxruntime 1.31.1")
_KEEPS_ONE_SIZE = Condition.remedy(
    "a runtime writes the numbers of one size into it", "give every size with --dim NAME=NUMBER"
)

TARGET = Target(
    "the runtimes measured in 2026",
    (
        takes(w.WINDOWS, by=_ort("convolutions and pools of 1 to 3 axes")),
        takes(p.PAD, by=_ort("Pad of mode constant that writes 0")),
        takes((*CROP, *LIMIT), by=_ncnn("rewritten forms")),
        miscomputes(FACTOR, by=_tflite("Mul with a constant for each cell")),
        miscomputes(LONE_CROP, by=_ncnn("Slice of an input")),
        takes(PIECES, by=_ncnn("Concat of Slices of what the model computes")),
        refuses(LOOSE_PIECES, by=_ncnn("Concat at the end of a model: it ends")),
        miscomputes((*BLOCKS, *OUTER_BLOCKS), by=_ncnn("Concat with a constant")),
        refuses(LOOKUP, by=_ncnn("Gather")),
        miscomputes(
            COMPUTED_SIZES,
            _KEEPS_ONE_SIZE,
            by=_ncnn("Slice, Resize, Reshape and Expand to sizes that are open: they keep one"),
        ),
        refuses(BRANCH, by=_torch("If")),
        miscomputes(QUANTISED_BYTES, by=_classic("uint8 inputs and results: 128 apart")),
        refuses(("LpPool", *w.QUANTISED), by=_ncnn("operators that it has")),
        refuses("Conv", f.DEQUANTISED, by=_ncnn("convolutions behind DequantizeLinear")),
        refuses(w.WINDOWS, w.AUTO_PAD, by=_torch("auto_pad")),
        refuses((*w.WINDOWS, *p.PAD), t.SIZES_LEFT_OPEN, by=_qnn("sizes that are not fixed")),
        refuses((*w.WINDOWS, *p.PAD), t.opset_above(19), by=_rknn("models of opset 21")),
        refuses("AveragePool", t.opset_above(18), by=_torch("averages of opset 19 and newer")),
        refuses(p.PAD, t.opset_above(17), by=_torch("Pad of opset 18 and newer")),
        refuses("Identity", t.opset_above(18), by=_torch("Identity of opset 19 and newer")),
        refuses("MaxPool", t.opset_below(12), by=_iree("MaxPool of opset 11")),
        refuses(CROP, t.opset_below(13), by=_iree("Slice of opset 11")),
        refuses((*w.WINDOWS, *p.PAD), t.EIGHT_BIT, by=_qnn("int8 and uint8")),
        refuses((*w.WINDOWS,), t.THREE_D, by=_qnn("3-D convolutions and pools")),
        miscomputes("Conv", t.ONE_D, w.PADDED, by=_keras("1-D pads: ignored")),
        refuses((*w.TRANSPOSED, *w.POOLS), t.ONE_D, by=_keras("1-D ConvTranspose and pools")),
        refuses(w.WINDOWS, w.NEGATIVE_PADS, by=_ort("negative pads attributes")),
        refuses("Conv", w.WEIGHT_COMPUTED, by=_ncnn("convolutions with computed weights")),
        refuses("Conv", w.STRIDED_AND_DILATED, by=_tflite("strides with dilations")),
        miscomputes("Conv", w.KERNEL_OF_ONE, w.PADDED, by=_new("1x1 convolutions with pads")),
        refuses(("Conv", "AveragePool"), f.BEHIND_ZEROS, by=_rknn("Pad in front of Conv")),
        refuses("Conv", f.BEHIND_REFLECT, by=_qnn("reflect in front of a convolution")),
        miscomputes(
            "Conv", DEPTHWISE_READS_BEYOND, by=_classic("depthwise convolutions: rows behind")
        ),
        refuses("Conv", w.SEVERAL_PER_CHANNEL, by=_keras("depthwise, several outputs each")),
        refuses("Conv", w.DILATIONS_DIFFER, by=_keras("dilations that differ")),
        refuses(w.TRANSPOSED, w.FIRST_UNPADDED, by=_keras("ConvTranspose, first axis unpadded")),
        refuses(w.TRANSPOSED, w.EXPLICIT_ASYMMETRIC, by=_ncnn("asymmetric ConvTranspose")),
        refuses(w.TRANSPOSED, w.PADS_LIKE_KERNEL, by=_rknn("ConvTranspose with wide pads")),
        refuses(w.TRANSPOSED, w.OUTPUT_PADDING, by=_keras("output_padding")),
        miscomputes(w.TRANSPOSED, w.OUTPUT_SHAPE, by=_new("output_shape")),
        refuses(w.TRANSPOSED, w.DILATED, by=_qnn("ConvTranspose with dilations")),
        refuses(w.TRANSPOSED, w.GROUPED, by=_keras("ConvTranspose with groups")),
        refuses(w.POOLS, w.STRIDES_UNWRITTEN, by=_mnn("pools without strides: it ends")),
        refuses(w.POOLS, w.DILATED, by=_qnn("pools with dilations")),
        miscomputes(w.POOLS, w.CEIL_MODE, by=_qnn("pools with ceil_mode")),
        miscomputes("MaxPool", w.INDICES, by=_iree("MaxPool with Indices")),
        miscomputes("MaxPool", w.EXPLICIT_ASYMMETRIC, by=_ncnn("asymmetric MaxPool")),
        refuses(w.POOLS, w.PADS_OVER_HALF, by=_torch("pads wider than half the kernel")),
        miscomputes(
            "MaxPool", w.PADDED, ~f.NEVER_NEGATIVE, by=_qnn("padded MaxPool: the padding is 0")
        ),
        miscomputes("AveragePool", w.PADDED, by=_keras("padded averages")),
        refuses(p.PAD, t.opset_is(11, 12), by=_jax("Pad of opset 11")),
        refuses(p.PAD, ~p.CONSTANT, by=_qnn("Pad in modes edge and wrap")),
        refuses(
            p.PAD,
            p.MODE_UNWRITTEN,
            by=_ncnn("Pad without mode"),
            says="Pad omits `mode`, which ncnn requires",
        ),
        refuses(p.PAD, p.VALUE_GIVEN, by=_tflite("Pad with constant_value")),
        refuses(p.PAD, p.CROPS, by=_iree("negative pads")),
        refuses(p.PAD, p.LISTS_AXES, by=_ncnn("Pad with axes")),
        refuses(p.PAD, p.COMPUTED, by=_tflite("computed pads")),
        refuses(p.PAD, p.OUTER_AXES, by=_keras("Pad of batch and channels")),
        refuses(p.PAD, ~t.tensor_rank(4), by=_keras("Pad of 2 and 3 axes")),
        *fusion_rows(_ort),
    ),
)
