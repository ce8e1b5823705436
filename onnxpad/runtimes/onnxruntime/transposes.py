"""Pads that onnxruntime's transpose optimiser moves in front of a Transpose.

It puts the pads in the order of the axes there and leaves the input `axes` as it is (HandlePad and
PermuteInput of onnx_transpose_optimization.cc): pads of some axes are then looked up beyond their
end when the model runs, pads of all axes in another order are added to other axes without a word.

A Transpose is moved behind what reads it where fewer Transposes of what it reads are left, and one
stands behind it that it may meet (ProcessTranspose and CalculateCost of that file). On the CPU a
convolution of bytes has its channels on the last axis, with a Transpose in front of it and one
behind (nhwc_transformer.cc).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from onnxpad.padding.chain import Chain
from onnxpad.padding.fills import Constant
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, Operator, PadInput
from onnxpad.padding.surroundings import Neighbour, Question, Surroundings

Order = tuple[int, ...]
"""For each axis behind a Transpose the one in front of it; () where that is not known."""


class Moved(StrEnum):
    """What the optimiser makes of a Pad with axes."""

    KEPT = "kept"
    STOPS = "stops"
    DIFFERS = "differs"
    OPEN = "open"


_FAR = 100
_UNKNOWN_RANK = 5
_NHWC, _NCHW = (0, 2, 3, 1), (0, 3, 1, 2)
_OWN = "com.microsoft"
_EVERY = frozenset(
    {
        *("Cast", "Exp", "Gelu", "Identity", "LeakyRelu", "Log", "Reciprocal", "Relu", "Sigmoid"),
        *("Sqrt", "Tanh", "Abs", "Not", "Ceil", "Floor", "Neg", "Erf", "HardSigmoid", "Round"),
        *("IsInf", "IsNaN", "Selu", "Shrink", "Sign", "Softplus", "Softsign", "ThresholdedRelu"),
        *("Celu", "HardSwish", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Asin", "Acos", "Atan"),
        *("Asinh", "Acosh", "Atanh", "Concat", "Mish", "Swish"),
    }
)
"""What a Transpose of all inputs is moved behind."""
_SPREADING = frozenset(
    {
        *("Add", "Max", "Min", "Mul", "Sub", "Div", "And", "Or", "Xor", "Mod", "PRelu", "BitShift"),
        *("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Mean", "Sum", "Pow"),
        "Where",
    }
)
"""The same of all that are no scalars."""
_FIRST = frozenset(
    {
        *("Clip", "CastLike", "Split", "Pad", "Slice", "Tile", "QuantizeLinear", "Dropout"),
        *("DequantizeLinear", "Softmax", "Hardmax", "LogSoftmax", "MaxPool", "Resize"),
        "Expand",
    }
)
"""The same of the first; Dropout and an Expand to the same size are left out before."""
_RESHAPING = frozenset(
    {
        *("ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd"),
        *("ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ArgMin", "ArgMax", "Squeeze"),
        "Unsqueeze",
    }
)
"""The same, and the result may have other axes."""
_ENDING = frozenset({"Transpose", "Shape", "Reshape"})
"""What reads a Transpose and leaves none behind it."""
_OWN_FIRST = frozenset(
    {
        *("QuantizeLinear", "DequantizeLinear", "QLinearLeakyRelu", "QLinearSigmoid"),
        *("QLinearSoftmax", "QLinearReduceMean", "QLinearAveragePool", "QLinearGlobalAveragePool"),
    }
)
_OWN_PAIRS = frozenset({"QLinearAdd", "QLinearMul"})
_ACTIVATIONS = frozenset({"Relu", "Clip"})
_LOWEST = {"uint8": Constant(0), "int8": Constant(-128)}


@dataclass
class _Walk:
    """What was found so far around one Pad.

    A Transpose is moved behind operators `more` as well; `eager` as far as it can be. `left`
    bounds how much is looked at.
    """

    around: Surroundings
    more: frozenset[str]
    eager: bool
    left: int = 2 * _FAR
    turned_: dict[str, Order | None] = field(default_factory=dict)
    leads_: dict[str, bool] = field(default_factory=dict)

    def leads(self, name: str) -> bool:
        """Whether a Transpose stands behind, past what one is moved behind."""
        if name not in self.leads_:
            self.leads_[name] = False
            self.left -= 1
            readers = self.around.readers(name) if name and self.left > 0 else ()
            self.leads_[name] = any(self._takes_up(one, name) for one in readers)
        return self.leads_[name]

    def _takes_up(self, reader: Neighbour, name: str) -> bool:
        if _is_plain(reader, "Transpose"):
            return True
        if self._is_of_bytes(reader):
            return reader.inputs[0] == name
        if name not in self._moved_inputs(reader):
            return False
        return any(map(self.leads, reader.outputs))

    def turned(self, name: str) -> Order | None:
        """The Transpose that makes a tensor once others were moved; None where none does."""
        if name not in self.turned_:
            self.turned_[name] = None
            self.left -= 1
            maker = next(self.around.makers(name), None) if name and self.left > 0 else None
            self.turned_[name] = None if maker is None else self._made(maker, name)
        return self.turned_[name]

    def _made(self, maker: Neighbour, name: str) -> Order | None:
        if _is_plain(maker, "Transpose"):
            return self._composed(maker)
        window = self._window(maker)
        if window is not None:
            rank = len(self.around.shape(name) or ())
            return _to_front(rank) if rank else ()
        for read in self._moved_inputs(maker):
            order = self.turned(read)
            if order is not None and self.moves(maker, order):
                return () if maker.op_type in _RESHAPING else order
        return None

    def _composed(self, maker: Neighbour) -> Order | None:
        written = self.around.attributes(maker).get("perm")
        rank = len(self.around.shape(maker.inputs[0]) or ())
        order = written if isinstance(written, tuple) else tuple(reversed(range(rank)))
        before = self.turned(maker.inputs[0])
        if before:
            order = tuple(before[at] for at in order) if len(before) == len(order) else ()
        return None if order and order == tuple(range(len(order))) else order

    def moves(self, node: Neighbour, order: Order) -> bool:
        """Whether a Transpose is moved behind a node."""
        if node.op_type == "MaxPool":
            return (
                order[-1:] != (1,) and order[1:2] == (len(order) - 1,) and self._pools_bytes(node)
            )
        if node.op_type == "Resize" and order not in (_NHWC, _NCHW):
            return False
        if self.eager and node.op_type != "Concat" and _is_layout(order):
            return True
        cost = sum(self._cost(name, order) for name in self._moved_inputs(node))
        if cost >= 0 or any(map(self.leads, node.outputs)):
            return cost < 0
        return cost + max(map(self._rank, node.outputs)) < 0

    def _cost(self, name: str, order: Order) -> int:
        found = self.turned(name)
        if found is None:
            return 0 if self._is_stored(name) else self._rank(name)
        return -self._rank(name) if found == order and self._can_go(name) else 0

    def _can_go(self, name: str) -> bool:
        """Whether all that reads a tensor is something that a Transpose may be moved behind."""
        readers = self.around.readers(name)
        return not self.around.leaves(name) and all(
            one.op_type in _ENDING or self._moved_inputs(one) or self._is_of_bytes(one)
            for one in readers
        )

    def _is_stored(self, name: str) -> bool:
        makers = self.around.makers(name)
        maker = next(makers, None)
        if maker is not None and maker.op_type == "DequantizeLinear":
            return self.around.is_stored(maker.inputs[0])
        return self.around.is_stored(name)

    def _rank(self, name: str) -> int:
        shape = self.around.shape(name)
        return _UNKNOWN_RANK if shape is None else sum(1 for size in shape if size != 1)

    def _pools_bytes(self, pool: Neighbour) -> bool:
        maker = next(self.around.makers(pool.inputs[0]), None)
        bytes_ = self.around.dtype(pool.inputs[0]) in ("int8", "uint8")
        return bytes_ or (maker is not None and maker.op_type == "DequantizeLinear")

    def _moved_inputs(self, node: Neighbour) -> list[str]:
        return [name for name in _inputs(node, self.more) if name and self._is_moved(node, name)]

    def _is_moved(self, node: Neighbour, name: str) -> bool:
        shape = self.around.shape(name)
        if node.op_type == "Expand":
            return shape is not None and shape == self.around.shape(node.outputs[0])
        return node.op_type not in _SPREADING or shape != ()

    def _window(self, maker: Neighbour) -> Neighbour | None:
        """The convolution of bytes that makes a result, its conversion and activation included."""
        if maker.op_type == "QuantizeLinear":
            makers = self.around.makers(maker.inputs[0])
            found = next(makers, None)
            if found is not None and found.op_type in _ACTIVATIONS:
                found = next(makers, None)
            return found if found is not None and self._is_of_bytes(found) else None
        return maker if maker.op_type == "QLinearConv" and self._is_of_bytes(maker) else None

    def _is_of_bytes(self, node: Neighbour) -> bool:
        if self.eager:
            return False
        if node.op_type == "QLinearConv":
            return bool(self.around.attributes(node).get("channels_last", 0) != 1)
        if not _is_plain(node, "Conv"):
            return False
        makers = [next(self.around.makers(name), None) for name in node.inputs[:2]]
        stored = all(one is not None and one.op_type == "DequantizeLinear" for one in makers)
        return stored and self._is_quantised(node.outputs[0])

    def _is_quantised(self, name: str) -> bool:
        """Whether a QuantizeLinear alone reads a tensor, behind an activation that it implies."""
        reader = self._only_reader(name)
        if reader is None or reader.op_type not in _ACTIVATIONS:
            return reader is not None and reader.op_type == "QuantizeLinear"
        behind = self._only_reader(reader.outputs[0])
        if behind is None or behind.op_type != "QuantizeLinear":
            return False
        lowest = _LOWEST.get(self.around.dtype(behind.outputs[0]))
        return self.around.zero_point(behind) == lowest

    def _only_reader(self, name: str) -> Neighbour | None:
        return self.around.readers(name)[0] if self.around.has_one_reader(name) else None


def _to_front(rank: int) -> Order:
    """What moves the channels from the last axis to the second."""
    return (0, rank - 1, *range(1, rank - 1))


def _is_layout(order: Order) -> bool:
    rank = len(order)
    return order in (_to_front(rank), (0, *range(2, rank), 1))


def _is_plain(node: Neighbour, op_type: str) -> bool:
    return node.op_type == op_type and node.domain in PLAIN_DOMAINS


def _inputs(node: Neighbour, more: frozenset[str]) -> Iterator[str]:
    """Inputs of which a Transpose is moved behind a node; of `more` that of every input."""
    if node.domain == _OWN:
        if node.op_type in _OWN_FIRST:
            yield from node.inputs[:1]
        elif node.op_type in _OWN_PAIRS:
            yield from node.inputs[:4:3]
        elif node.op_type == "QLinearConcat":
            yield from node.inputs[2::3]
    elif node.domain in PLAIN_DOMAINS:
        if node.op_type in _EVERY | _SPREADING | more:
            yield from node.inputs
        elif node.op_type in _FIRST | _RESHAPING:
            yield from node.inputs[:1]


def _moved(walk: _Walk, node: Neighbour) -> Moved:
    listed = node.inputs[PadInput.AXES : PadInput.AXES + 1]
    if listed in ([], [""]) or not _is_plain(node, "Pad"):
        return Moved.KEPT
    order = walk.turned(node.inputs[0])
    if order is None or not walk.moves(node, order):
        return Moved.KEPT
    around = walk.around
    rank = len(order) or len(around.shape(node.inputs[0]) or ())
    axes = around.integers(listed[0])
    lengths = around.shape(listed[0])
    count = lengths[0] if axes is None and lengths else len(axes or ())
    if not rank or not isinstance(count, int) or (axes is None and count == rank):
        return Moved.OPEN
    if axes is None or count < rank:
        return Moved.STOPS
    return _adds(around, node, order, [axis % rank for axis in axes])


def _adds(around: Surroundings, node: Neighbour, order: Order, axes: list[int]) -> Moved:
    """Whether pads of all axes are added to those that they are meant for."""
    rank, pads = len(axes), around.integers(node.inputs[PadInput.PADS])
    if axes == list(range(rank)):
        return Moved.KEPT
    if not order:
        return Moved.DIFFERS
    meant, added = ([order[axes[j]] for j in range(rank)], [axes[order[j]] for j in range(rank)])
    if meant == added:
        return Moved.KEPT
    if pads is None or len(pads) != 2 * rank:
        return Moved.OPEN
    sides = list(zip(pads[:rank], pads[rank:], strict=True))
    same = dict(zip(meant, sides, strict=True)) == dict(zip(added, sides, strict=True))
    return Moved.KEPT if same else Moved.DIFFERS


def _question(*more: str, eager: bool = False) -> Question[Moved]:
    names = frozenset(more)

    def answer(around: Surroundings, node: Neighbour, _: Operator) -> Moved:
        return _moved(_Walk(around, names, eager), node)

    return Question(frozenset({Kind.PAD}), answer, Moved.KEPT)


MOVED = _question()
"""What it makes of a Pad between Transposes, or between convolutions of bytes on the CPU."""
MOVED_LATER = _question("Elu")
"""The same in newer releases, which move a Transpose behind an Elu as well."""
MOVED_EAGERLY = _question("Elu", eager=True)
"""What it makes of one behind a Transpose of channels for providers that have these last.

It then moves such a Transpose as far as it can (PostLayoutTransformCostCheck of
layout_transformation.cc).
"""


def moved(question: Question[Moved], what: Moved, chain: Chain) -> bool | None:
    """Whether this is what it makes of a Pad that gives axes."""
    found = chain.around.told(question)
    gives_axes = chain.inputs[PadInput.AXES :][:1] == (True,)
    if found is Moved.KEPT or not gives_axes:
        return False
    return None if found is Moved.OPEN else found is what
