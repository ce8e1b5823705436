"""Operators without padding, by what they do to cells (ONNX Operators)."""

from __future__ import annotations

MOVES = frozenset(
    {
        *("Identity", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Gather"),
        *("Expand", "Tile", "DepthToSpace", "SpaceToDepth", "Split"),
    }
)
"""Each cell of the result is one of the first input."""
CELL_BY_CELL = frozenset(
    {
        *("Abs", "Ceil", "Celu", "Clip", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "Log"),
        *("HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Neg", "Reciprocal", "Relu", "Round"),
        *("Selu", "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Sqrt", "Tanh"),
    }
)
"""Each cell of the result hangs on the same cell of the first input, and keeps its type."""
ARITHMETIC = frozenset(
    {"Add", "Div", "Max", "Mean", "Min", "Mod", "Mul", "Pow", "Sub", "Sum"},
)
COMPARISONS = frozenset(
    {
        *("And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Or", "Xor"),
    }
)
"""These and arithmetic work on one cell of each input, which broadcast."""
