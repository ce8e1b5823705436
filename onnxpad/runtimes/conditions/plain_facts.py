"""Names, for rows of targets, of operators that passes write and of nine facts about models."""

from __future__ import annotations

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
JOIN = (*PIECES, *LOOSE_PIECES, *BLOCKS, *OUTER_BLOCKS)
QUOTIENT = ("Div by one computed channel",)
"""Of several channels."""
ARITHMETIC = ("Abs", "Add", "Div", "Mul", "Pow", "Sqrt", "Sub", *QUOTIENT)
LIMIT = ("Clip",)
OPEN_BATCH_RANKS = ("Squeeze or Unsqueeze of an open batch",)
"""The first axis of what it reads has no number."""
RANK = ("Squeeze", "Unsqueeze", *OPEN_BATCH_RANKS)
LOOKUP = ("Gather",)
SHAPES = ("ConstantOfShape", "Expand", "Greater", "Max", "Mod", "Neg", "Reshape", "Shape", "Where")
CONVERSIONS = ("DequantizeLinear", "QuantizeLinear")
"""Copies of those around a Pad that moved in front of them."""

BRANCH = ("If",)
COMPUTED_BRANCH = ("If with a condition that is no constant",)
CALLS = ("call of a local function",)
DISORDER = ("node in front of what it reads",)
"""The file lists its nodes in no order in which each reads what earlier ones made."""
UNSHAPED = ("input or result of a graph, declared without a shape",)
"""Of the model, or of a branch or body in it; a shape of open sizes is one."""
DEQUANTISES = ("DequantizeLinear of a computed tensor",)
QUANTISED_BYTES = ("uint8 input or result of the model on a quantised operator",)
BYTES_GIVEN = ("uint8 as a result of the model",)
OUTSIDE = ("weights in a file beside the model",)
"""External data; said of the first node of the main graph."""
COMPUTED_SIZES = ("Slice, Resize, Reshape or Expand to an open size that is computed",)
"""ConstantOfShape too; of a Reshape those by -1. Sizes of tensors of cells, the batch apart."""
FACTS = (
    *(*BRANCH, *COMPUTED_BRANCH, *CALLS, *DISORDER, *UNSHAPED, *DEQUANTISES),
    *(*QUANTISED_BYTES, *BYTES_GIVEN, *OUTSIDE, *COMPUTED_SIZES),
)
"""What no pass writes."""
WRITTEN = (*CROP, *JOIN, *ARITHMETIC, *LIMIT, *RANK, *LOOKUP, *SHAPES, *CONVERSIONS)
EVERYTHING = (*WRITTEN, *FACTS)
