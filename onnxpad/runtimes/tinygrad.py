"""Cells of padding that tinygrad's kernels leave unwritten.

tinygrad makes padding part of the kernel that computes what is padded. An index that lies in the
padding is Invalid there, and so is a number that is computed of it: the cells that an average
divides by, and what Resize reads. pm_data_invalid (tinygrad/uop/symbolic.py) moves Invalid out of
sums, products and selections towards the padding, which writes its value instead. Where a number
that is compared to select one of two is Invalid, as in Relu, it comes out as a condition of the
store: the cells keep what was in memory before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd
from typing import Any, NamedTuple

from onnxpad.geometry.windows import Axis, same_totals
from onnxpad.padding.chain import Chain, Pads
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, Operator
from onnxpad.padding.surroundings import Neighbour, Question, Surroundings

Axes = frozenset[int]
"""Positions from the end, so that tensors of several ranks can be added."""
_NO_AXES: Axes = frozenset()
_FAR = 12
_SELECTS = frozenset(
    {
        *("Abs", "Clip", "HardSigmoid", "LeakyRelu", "PRelu", "Relu", "Selu", "Sign", "Softsign"),
        "ThresholdedRelu",
    }
)
"""What compares what it reads, and writes one of two numbers."""
_OF_CELLS = frozenset(
    {
        *("Add", "BatchNormalization", "Cast", "Ceil", "Celu", "Cos", "DequantizeLinear", "Div"),
        *(
            "Dropout",
            "Elu",
            "Equal",
            "Erf",
            "Exp",
            "Expand",
            "Floor",
            "Gelu",
            "Greater",
            "HardSwish",
        ),
        *("Identity", "IsInf", "IsNaN", "Less", "Log", "Max", "Mean", "Min", "Mish", "Mul", "Neg"),
        *("Not", "Pow", "Reciprocal", "Round", "Shrink", "Sigmoid", "Sin"),
        *("Slice", "Softplus", "Sqrt", "Sub", "Sum", "Tanh"),
    }
)
_RESHAPES = frozenset(
    {"DepthToSpace", "Flatten", "Reshape", "SpaceToDepth", "Squeeze", "Unsqueeze"}
)
_RESIZES = frozenset({"Resize", "Upsample"})
_POOLS = frozenset({"AveragePool", "MaxPool"})
_NOTSET = "NOTSET"


class _Read(NamedTuple):
    """Axes along which a tensor is computed of indices, and of those, compared ones."""

    computed: Axes = _NO_AXES
    compared: Axes = _NO_AXES

    def joined(self, other: _Read) -> _Read:
        """Of a result of both."""
        return _Read(self.computed | other.computed, self.compared | other.compared)


_PLAIN = _Read()


def _read(
    around: Surroundings, name: str, left: int = _FAR, known: dict[str, _Read] | None = None
) -> _Read:
    """What a tensor is made of, as far as one kernel makes it: a result has a kernel of its own.

    `known` are tensors that were read before, so that none is twice.
    """
    known = {} if known is None else known
    if name not in known:
        known[name] = _made(around, name, left, known) if name and left else _PLAIN
    return known[name]


def _made(around: Surroundings, name: str, left: int, known: dict[str, _Read]) -> _Read:
    maker = next(around.makers(name), None)
    if maker is None or maker.domain not in PLAIN_DOMAINS or around.leaves(name):
        return _PLAIN
    written = around.attributes(maker)
    if maker.op_type in _RESIZES:
        return _Read(_all_axes(around, name, outer=2))
    if maker.op_type == "AveragePool" and (counted := _counted(around, maker, written)):
        return _Read(counted)
    if not _is_of_cells(around, maker, written):
        return _PLAIN
    parts = [_read(around, each, left - 1, known) for each in maker.inputs]
    found = _PLAIN
    for part in parts:
        found = found.joined(part)
    if maker.op_type == "Where":
        chosen = parts[0].computed if any(one.computed for one in parts[1:]) else _NO_AXES
        return _Read(found.computed, found.compared | chosen)
    return _passed(around, maker, written, found)


def _passed(
    around: Surroundings, maker: Neighbour, written: Mapping[str, Any], found: _Read
) -> _Read:
    """What a node makes of what it reads."""
    if not found.computed:
        return found
    if maker.op_type in _SELECTS:
        return _Read(found.computed, found.computed)
    if maker.op_type == "Pad":
        return _Read(found.compared, found.compared)
    if maker.op_type in _RESHAPES:
        every = _all_axes(around, maker.outputs[0])
        return _Read(every, every if found.compared else _NO_AXES)
    if maker.op_type == "Transpose":
        return _Read(*(_transposed(around, maker, written, axes) for axes in found))
    return found


def _transposed(
    around: Surroundings, maker: Neighbour, written: Mapping[str, Any], axes: Axes
) -> Axes:
    shape, order = around.shape(maker.inputs[0]), written.get("perm")
    if not isinstance(order, tuple):
        return _all_axes(around, maker.outputs[0]) if axes else _NO_AXES
    rank = len(order) if shape is None else len(shape)
    return frozenset(to - rank for to, at in enumerate(order) if at - rank in axes)


def _all_axes(around: Surroundings, name: str, outer: int = 0) -> Axes:
    shape = around.shape(name)
    return frozenset(range(-_FAR if shape is None else outer - len(shape), 0))


def _is_of_cells(around: Surroundings, node: Neighbour, written: Mapping[str, Any]) -> bool:
    """Whether one kernel may make the node, and what it reads and what reads it as well."""
    if node.op_type in _POOLS:
        return all(one == 1 for one in written.get("kernel_shape", ()))
    if node.op_type == "Conv":
        weight = around.shape(node.inputs[1])
        return weight is not None and all(one == 1 for one in weight[1:])
    more = ("Concat", "Pad", "Transpose", "Where")
    return node.op_type in _SELECTS | _OF_CELLS | _RESHAPES or node.op_type in more


def _counted(around: Surroundings, node: Neighbour, written: Mapping[str, Any]) -> Axes:
    """Along which axes an average does not divide by the same number everywhere."""
    return frozenset(
        at
        for at, axis, begin, end in _windows(around, node, written)
        if _differs(axis, begin, end, written)
    )


def _windows(
    around: Surroundings, node: Neighbour, written: Mapping[str, Any]
) -> Iterator[tuple[int, Axis, int, int]]:
    """The axes of a pool, each with its position and its pads; those of SAME all at the end."""
    kernel = written.get("kernel_shape", ())
    rank = len(kernel)
    shape = (around.shape(node.inputs[0]) or ())[-rank:] if rank else ()
    sizes = shape if len(shape) == rank else (None,) * rank
    ones, zeros = (1,) * rank, (0,) * 2 * rank
    strides, dilations = (written.get(name, ones) for name in ("strides", "dilations"))
    pads, auto_pad = written.get("pads", zeros), written.get("auto_pad", _NOTSET)
    for at in range(rank):
        axis = Axis(sizes[at], kernel[at], strides[at], dilations[at])
        sides = (pads[at], pads[at + rank]) if auto_pad == _NOTSET else (0, 0)
        if auto_pad.startswith("SAME"):
            sides = (0, max((0, *same_totals(axis))))
        yield at - rank, axis, *sides


def _differs(axis: Axis, begin: int, end: int, written: Mapping[str, Any]) -> bool:
    """Whether tinygrad computes, of the index, how many cells of a window count.

    It counts ones among padding, which its reduce_collapse (tinygrad/codegen/simplify.py) solves.
    By 179 averages without dilations it does not where the stride and one more than the padded
    size have a divisor in common. Dilated ones are thought to be solved.
    """
    rounds_up, counts = written.get("ceil_mode", 0), written.get("count_include_pad", 0)
    if not isinstance(axis.size, int):
        return bool(rounds_up or (not counts and (begin or end)))
    padded, stride = axis.size + begin + end, axis.stride
    more = 0
    if rounds_up:
        last = -(-(padded - axis.span) // stride) * stride
        more = last + axis.span - padded - max(0, last - (begin + axis.size - 1))
    if not (more or (not counts and (begin or end))):
        return False
    padded += more
    windows = -(-(padded - axis.span + 1) // stride)
    repeats = max(1, -(-(windows * stride - axis.dilation) // padded))
    return windows > 1 and (axis.dilation > 1 or gcd(repeats * padded + 1, stride) == 1)


def _compared(around: Surroundings, node: Neighbour, _: Operator) -> Axes:
    return _read(around, node.inputs[0]).compared


COMPARED = Question(frozenset({Kind.PAD, Kind.MAX, Kind.CONVOLUTION}), _compared, _NO_AXES)
"""Axes along which padding of what a node reads may stay unwritten."""


def joins_compared(around: Surroundings, node: Neighbour) -> bool:
    """Whether a Concat pads such a tensor: it does where the parts are not of one size."""
    shapes = [around.shape(name) for name in node.inputs]
    axis = around.attributes(node).get("axis", 0)
    rank = next((len(shape) for shape in shapes if shape is not None), 0)
    at = axis if axis < 0 else axis - rank
    sizes = {shape[at] if shape else None for shape in shapes}
    if len(sizes - {None}) == 1 and None not in sizes:
        return False
    return any(at in _read(around, name).compared for name in node.inputs)


def leaves_padding(chain: Chain) -> bool:
    """Whether a Pad, of which only constant ones count, makes such an axis longer."""
    step, compared = chain.pad, chain.around.told(COMPARED)
    if step is None or not compared:
        return False
    if step.unclear:
        return True
    rank = len(step.pads.begins)
    return any(max(sides) > 0 and at - rank in compared for at, sides in enumerate(step.pads.sides))


def leaves_own_padding(chain: Chain, own: Pads) -> bool:
    """Whether a window pads such an axis, a max pool at its begin."""
    compared = chain.around.told(COMPARED)
    begins_alone = chain.op.kind is Kind.MAX
    return any(
        (begin > 0 or (end > 0 and not begins_alone)) and at - chain.rank in compared
        for at, (begin, end) in enumerate(own.sides)
    )
