"""Output types of operators without padding, where they follow from symbolic input types.

Only rules that keep or combine sizes exactly; whatever is missing here is left to the types
that the model declares and to onnx's own inference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnxpad.geometry.size import Size
from onnxpad.geometry.sums import Sum, added, size_of, sum_of
from onnxpad.graph.reading.attributes import Value
from onnxpad.graph.reading.types import Type, dtype_name


class Facts:
    """What a rule may ask about the node that it is applied to."""

    def attributes(self) -> dict[str, Value]:
        """Attributes of the node."""
        raise NotImplementedError

    def integers(self, position: int) -> tuple[int, ...] | None:
        """Constant integers at an input, or None."""
        raise NotImplementedError

    def floats(self, position: int) -> tuple[float, ...] | None:
        """Constant numbers of floating point at an input, or None."""
        raise NotImplementedError

    def sizes(self, position: int) -> tuple[Size | None, ...] | None:
        """Integers at an input as far as they are known; None where not even their number is."""
        raise NotImplementedError


Rule = Callable[[Sequence[Type], Facts], Type]

_KEEP = (
    *("Relu", "LeakyRelu", "PRelu", "Elu", "Selu", "Celu", "Sigmoid", "HardSigmoid", "HardSwish"),
    *("Tanh", "Softplus", "Softsign", "Gelu", "Mish", "Swish", "ThresholdedRelu", "Clip", "Shrink"),
    *("Erf", "Exp", "Log", "Neg", "Abs", "Sqrt", "Reciprocal", "Sin", "Cos", "Sign"),
    *("Floor", "Ceil", "Round", "Identity", "Dropout", "CumSum", "Trilu"),
    *("BatchNormalization", "InstanceNormalization", "GroupNormalization", "LRN"),
    *("LayerNormalization", "LpNormalization", "MeanVarianceNormalization"),
    *("Softmax", "LogSoftmax", "Hardmax"),
)
_BROADCAST = ("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum", "Mean", "Mod")
_LOGIC = ("And", "Or", "Xor", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")


def keep(inputs: Sequence[Type], _: Facts) -> Type:
    """The type of the first input."""
    return inputs[0]


def _cast(inputs: Sequence[Type], facts: Facts) -> Type:
    to = facts.attributes().get("to")
    return Type(dtype_name(to) if isinstance(to, int) else "", inputs[0].dims)


def quantize(inputs: Sequence[Type], facts: Facts) -> Type:
    """The zero point's element type, uint8 without one."""
    wanted = facts.attributes().get("output_dtype", 0)
    if len(inputs) > 2:
        return Type(inputs[2].dtype, inputs[0].dims)
    if not isinstance(wanted, int):
        return Type("", inputs[0].dims)
    return Type(dtype_name(wanted) if wanted else "uint8", inputs[0].dims)


def dequantize(inputs: Sequence[Type], _: Facts) -> Type:
    """The scale's element type."""
    return Type(inputs[1].dtype or "float32", inputs[0].dims)


def broadcast(inputs: Sequence[Type], _: Facts) -> Type:
    """The joint shape of all inputs (ONNX Broadcasting.md)."""
    dtype = next((one.dtype for one in inputs if one.dtype), "")
    shapes = [one.dims for one in inputs]
    if any(dims is None for dims in shapes):
        return Type(dtype)
    known = [dims for dims in shapes if dims is not None]
    rank = max(len(dims) for dims in known)
    padded = [(1,) * (rank - len(dims)) + dims for dims in known]
    return Type(dtype, tuple(_joint(sizes) for sizes in zip(*padded, strict=True)))


def _joint(sizes: Sequence[Size | None]) -> Size | None:
    """The broadcast of sizes that fit each other; None where it depends on what is not known."""
    fixed = [size for size in sizes if isinstance(size, int) and size != 1]
    if fixed:
        return fixed[0]
    others = {size for size in sizes if size != 1}
    return 1 if not others else others.pop() if len(others) == 1 else None


def _logic(inputs: Sequence[Type], facts: Facts) -> Type:
    return Type("bool", broadcast(inputs, facts).dims)


def _where(inputs: Sequence[Type], facts: Facts) -> Type:
    return Type(inputs[1].dtype, broadcast(inputs, facts).dims)


def _transpose(inputs: Sequence[Type], facts: Facts) -> Type:
    dtype, dims = inputs[0]
    if dims is None:
        return inputs[0]
    perm = facts.attributes().get("perm") or tuple(reversed(range(len(dims))))
    if not isinstance(perm, tuple) or sorted(perm) != list(range(len(dims))):
        return Type(dtype)
    return Type(dtype, tuple(dims[int(axis)] for axis in perm))


def _concat(inputs: Sequence[Type], facts: Facts) -> Type:
    axis = facts.attributes().get("axis", 1)
    shapes = [one.dims for one in inputs if one.dims is not None]
    dtype = next((one.dtype for one in inputs if one.dtype), "")
    if len(shapes) < len(inputs) or not isinstance(axis, int):
        return Type(dtype)
    rank = len(shapes[0])
    sizes: list[Size | None] = []
    for position in range(rank):
        column = [dims[position] for dims in shapes]
        sizes.append(_sum(column) if position == axis % rank else _agreed(column))
    return Type(dtype, tuple(sizes))


def _agreed(column: Sequence[Size | None]) -> Size | None:
    fixed = next((size for size in column if isinstance(size, int)), None)
    return fixed if fixed is not None else next((size for size in column if size is not None), None)


def _sum(column: Sequence[Size | None]) -> Size | None:
    """Sizes side by side; None where one is not known, or names add up that do not fit."""
    total: Sum | None = Sum()
    for size in column:
        total = None if size is None or total is None else added(total, sum_of(size))
    return None if total is None else size_of(total)


def _axes(facts: Facts, rank: int) -> tuple[int, ...] | None:
    axes = facts.attributes().get("axes") or facts.integers(1)
    if not isinstance(axes, tuple) or any(isinstance(axis, float) for axis in axes):
        return None
    return tuple(int(axis) % rank for axis in axes)


def _unsqueeze(inputs: Sequence[Type], facts: Facts) -> Type:
    dtype, dims = inputs[0]
    given = facts.attributes().get("axes") or facts.integers(1)
    if dims is None or not isinstance(given, tuple):
        return Type(dtype)
    axes = _axes(facts, len(dims) + len(given)) or ()
    rest = iter(dims)
    return Type(dtype, tuple(1 if i in axes else next(rest) for i in range(len(dims) + len(axes))))


def _squeeze(inputs: Sequence[Type], facts: Facts) -> Type:
    dtype, dims = inputs[0]
    axes = _axes(facts, len(dims)) if dims else None
    if dims is None or axes is None:
        return Type(dtype)
    return Type(dtype, tuple(size for i, size in enumerate(dims) if i not in axes))


def _global_pool(inputs: Sequence[Type], _: Facts) -> Type:
    dtype, dims = inputs[0]
    return Type(dtype, None if dims is None else dims[:2] + (1,) * (len(dims) - 2))


RULES: dict[str, Rule] = {
    **dict.fromkeys(_KEEP, keep),
    **dict.fromkeys(_BROADCAST, broadcast),
    **dict.fromkeys(_LOGIC, _logic),
    "Cast": _cast,
    "QuantizeLinear": quantize,
    "DequantizeLinear": dequantize,
    "Where": _where,
    "Transpose": _transpose,
    "Concat": _concat,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "GlobalAveragePool": _global_pool,
    "GlobalMaxPool": _global_pool,
    "GlobalLpPool": _global_pool,
}
