"""Names of operators without padding that stand beside padded ones after a rewrite."""

LONE_CROP = ("Slice of an input in a model without convolutions and pools",)
INPUT_CROP = ("Slice of an input", *LONE_CROP)
"""Slice that reads an input of the model, for others than Concat, Clip and average pools."""
CROP = ("Slice", *INPUT_CROP, "Identity")
PIECES = ("Concat",)
"""Concat behind a convolution or a pool, or which one reads."""
LOOSE_PIECES = ("Concat with no convolution or pool in front of it or behind",)
BLOCKS = ("Concat with a constant", "Concat with an infinite constant")
OUTER_BLOCKS = (
    "Concat with a constant on axis 0 or 1",
    "Concat with an infinite constant on axis 0 or 1",
)
INFINITE_BLOCKS = (BLOCKS[1], OUTER_BLOCKS[1])
JOIN = (*PIECES, *LOOSE_PIECES, *BLOCKS, *OUTER_BLOCKS)
FACTOR = ("Mul",)
ARITHMETIC = ("Abs", "Add", "Div", "Mul", "Pow", "Sqrt", "Sub")
LIMIT = ("Clip",)
OPEN_BATCH_RANKS = ("Squeeze or Unsqueeze of an open batch",)
"""The first axis of what it reads has no number."""
RANK = ("Squeeze", "Unsqueeze", *OPEN_BATCH_RANKS)
LOOKUP = ("Gather",)
BRANCH = ("If",)
COMPUTED_BRANCH = ("If with a condition that is no constant",)
BLOCKED_BRANCH = ("arithmetic or another layout behind an If of what a convolution or a pool made",)
"""In a branch or in front of the If; activations, Pad and Slice may stand between all of them."""
SPREAD_BLOCKS = ("one channel spread over several, both of what convolutions or pools made",)
"""By a sum, product, comparison and the like; see BLOCKED_BRANCH for what may stand between."""


def ir_version(version: int) -> str:
    """The name of a file of an IR version, which is that of the first node of the main graph."""
    return f"file of IR version {version}"


_IR_VERSIONS = range(10, 15)
"""Older ones are taken by all that was tried."""
IR_VERSIONS = tuple(map(ir_version, _IR_VERSIONS))


def newer_ir_versions(version: int) -> tuple[str, ...]:
    """The names of all that are newer than a version."""
    return tuple(ir_version(one) for one in _IR_VERSIONS if one > version)


CONSTANT_WINDOWS = ("convolution or pool of what is constant",)
"""Stored, or computed of stored tensors alone."""
INLINED = ("If with a condition that is a constant, as the branch that it runs",)
"""Who takes it so sees the operators of the branch, in front of it and behind as neighbours."""
UNSHAPED = ("input or result of a graph, declared without a shape",)
"""Of the model, or of a branch or body in it; a shape of open sizes is one."""
OUTSIDE = ("weights in a file beside the model",)
"""External data; said of the first node of the main graph."""
STORED_BOOL = ("bool stored in int32_data",)
"""Whatever reads a stored tensor of bool that is written so, not as raw_data."""
LISTED_REDUCTIONS = ("reduction to one number whose axes are listed",)
"""ReduceMean or ReduceMax with keepdims=0 and all axes in its attribute."""
CALLS = ("call of a local function",)
DISORDER = ("node in front of what it reads",)
"""The file lists its nodes in no order in which each reads what earlier ones made."""
QUANTISED_BYTES = ("uint8 that enters or leaves quantised operators",)
"""uint8 of the model's inputs or results, or of a Cast, on a quantised operator."""
DEQUANTISES = ("DequantizeLinear of a computed tensor",)
BYTES_BY_FOUR = ("DequantizeLinear of bytes, off 0 in uint8 or of a multiple of 4 cells",)
"""Computed or stored; a multiple of 4, or a number that is not known, under one scale for all.

An int8 straight from a QuantizeLinear is off 0 in uint8 as well: onnxruntime makes uint8 of it.
"""
ZERO_OF_WORDS = ("DequantizeLinear of int32 with a zero point",)
BYTES_GIVEN = ("uint8 as a result of the model",)
LISTED_SCALES = ("scales or zero points in a list",)
"""Of a QuantizeLinear or DequantizeLinear, even if the list has one element."""
GATE = ("Mul by the HardSigmoid of another tensor",)
"""With alpha of 1/6 and a written beta of 0.5: Hardsigmoid as torch writes it, in MobileNetV3."""
CASTS_LEFT_OUT = ("Cast behind a Mul or Gather by a Constant node",)
"""Between integers and floats. Of Gather where nothing else reads it, and no Mul the Cast."""
ACTIVATED_TWICE = ("activation behind the activation of a Conv",)
"""Where nothing else reads the first, and both are of those that most GPUs fuse with a Conv."""
MORE_ACTIVATED_TWICE = ("Elu, Gelu and the like beside another activation of a Conv",)
"""HardSwish, Softplus and ThresholdedRelu as well."""
CHANNELWISE = ("constant for each channel that fits another axis as well",)
"""Of an Add, Sub, Mul or Div whose other input has a spatial axis as long as its channels."""
CONSTANTS_ALONE = (
    "constant of several numbers in a model without convolutions, pools and normalisations",
)
"""Of an Add, Sub, Mul or Div of tensors of 3 or 4 axes."""
AXES_ALONE = ("operator along an axis in a model without convolutions, pools and normalisations",)
"""The first of Softmax, Concat, Reshape and the like that reads a tensor of 3 axes or more."""
EVEN_INPUT = ("operator along an axis of an input of the model whose axes are all as long",)
"""Slice, Concat, Gather, Transpose or a reduction, with no convolution or pool in front.

The axes but the batch, of more than one cell each.
"""
SLICED_BYTES = ("Slice of int8 or uint8",)
SUMS = ("Add or Sub of a constant behind an Add or Sub of another",)
"""Where nothing else reads the first; behind a Sub only an Add of no scalar, or a Sub from one."""
RECTIFIED_SUMS = ("Add of a constant for each channel behind the Relu of a 2-D convolution",)
"""Or behind Clip to 0 and 6; the constant is the second input."""
SHARED_BLOCKS = ("Concat of a stored tensor that itself, or arithmetic in front, reads as well",)
"""Or another Concat; beside tensors that the model computes, in the order of the file."""
THREE_AXES = ("input of the model with three axes",)
JOINED_SUMS = ("Concat of a sum behind a convolution or a pool",)
"""Where another axis is as long as the one that it joins, and a third is not."""
RECTIFIED_RESULT = ("Relu of a convolution of three axes, as a result of the model",)
"""Or Clip to 0 and 6."""
BENT_VOLUMES = ("Sigmoid and the like of a depthwise convolution of three axes",)
TRAINING = ("BatchNormalization in training mode",)
GLOBAL_VOLUMES = ("global pool of three axes",)
LINE_NORMS = ("InstanceNormalization of one axis",)
BLOCKED_NORMS = ("InstanceNormalization of one or three axes behind a convolution or a pool",)
COMPUTED_CROP = ("Slice of an open size by computed starts or ends",)
COMPUTED_RESIZE = ("Resize or Upsample to an open size that is computed",)
"""By sizes or by scales that are no constants."""
OPEN_RESHAPE = ("Reshape to an open size",)
"""Of three axes or more, other than the batch; by -1 as well. None that keeps all sizes."""
COMPUTED_SPREAD = ("Expand or ConstantOfShape to an open size that is computed",)
FROZEN = (*COMPUTED_CROP, *COMPUTED_RESIZE, *OPEN_RESHAPE, *COMPUTED_SPREAD)
"""Where a converter that is given one size writes its numbers into the model."""
ANYWHERE = (
    *BRANCH,
    *COMPUTED_BRANCH,
    *BLOCKED_BRANCH,
    *SPREAD_BLOCKS,
    *CONSTANT_WINDOWS,
    *IR_VERSIONS,
    *UNSHAPED,
    *OUTSIDE,
    *STORED_BOOL,
    *LISTED_REDUCTIONS,
    *CALLS,
    *DISORDER,
    *QUANTISED_BYTES,
    *GATE,
    *CASTS_LEFT_OUT,
    *ACTIVATED_TWICE,
    *MORE_ACTIVATED_TWICE,
    *CHANNELWISE,
    *CONSTANTS_ALONE,
    *AXES_ALONE,
    *EVEN_INPUT,
    *SLICED_BYTES,
    *SUMS,
    *RECTIFIED_SUMS,
    *JOINED_SUMS,
    *SHARED_BLOCKS,
    *OPEN_BATCH_RANKS,
    *THREE_AXES,
    *RECTIFIED_RESULT,
    *BENT_VOLUMES,
    *TRAINING,
    *GLOBAL_VOLUMES,
    *LINE_NORMS,
    *BLOCKED_NORMS,
    *FROZEN,
    *DEQUANTISES,
    *BYTES_BY_FOUR,
    *ZERO_OF_WORDS,
    *BYTES_GIVEN,
    *LISTED_SCALES,
)
"""What some runtimes stop at wherever it stands; no pass writes it."""
UNSHOWN = (
    *("GridSample", "Unsqueeze"),
    *(*BLOCKED_BRANCH, *SPREAD_BLOCKS, *CONSTANT_WINDOWS, *UNSHAPED),
    *(*IR_VERSIONS, *CALLS, *DISORDER, *FROZEN, *OUTSIDE),
)
"""What no small model of one operator is made of."""
SHAPES = ("ConstantOfShape", "Expand", "Greater", "Max", "Mod", "Neg", "Reshape", "Shape", "Where")
CONVERSIONS = ("DequantizeLinear", "QuantizeLinear")
"""Copies of those around a Pad that moved in front of them."""
EVERYTHING = (*CROP, *JOIN, *ARITHMETIC, *LIMIT, *RANK, *LOOKUP, *SHAPES, *CONVERSIONS, *ANYWHERE)
