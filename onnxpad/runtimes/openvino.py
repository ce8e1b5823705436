"""What OpenVINO's optimiser makes of the operators in front of a node: bytes, and strides.

It moves a DequantizeLinear towards the end of a model, past what can work on bytes as well, and a
QuantizeLinear to the front of a Concat. Its StridesOptimization (strides_optimization.cpp of its
common transformations) takes strides to the front from one operator to the next, as far as these
work on single cells or are convolutions, and all that reads a tensor asks for the same strides.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, takewhile
from math import prod
from typing import NamedTuple

from onnxpad.padding.chain import Chain, Pads
from onnxpad.padding.fills import Constant, Fill
from onnxpad.padding.operators import MICROSOFT, PLAIN_DOMAINS, Kind, Operator
from onnxpad.padding.surroundings import Neighbour, Question, Surroundings

_MOVES_ZERO = frozenset({"Add", "Sub"})
_BENDS_AT_ZERO = _MOVES_ZERO | {"Relu"}
"""What it moves a conversion past if bytes of 0 are worth 0 there."""
_KEEPS_BYTES = frozenset(
    {
        *("Concat", "Div", "GlobalMaxPool", "Identity", "MaxPool", "Mul", "Neg", "Pad", "Reshape"),
        *("Slice", "Squeeze", "Transpose", "Unsqueeze"),
    }
)
_KEEPS_ZERO = _KEEPS_BYTES - {"GlobalMaxPool"} | {"AveragePool"}
_KEEPS_SCALES = frozenset({"AveragePool", "Clip", "GlobalAveragePool", "LeakyRelu"})
"""What leaves floats to be scaled; all by 200 models with 2023.3 to 2026.4."""
_PASSABLE = _KEEPS_BYTES | _BENDS_AT_ZERO | _KEEPS_SCALES


class _Bytes(NamedTuple):
    """What a DequantizeLinear in front reads, its zero point, and what stands between."""

    dtype: str
    zero: Fill
    passed: frozenset[str]


def _bytes_in_front(around: Surroundings, node: Neighbour, op: Operator) -> _Bytes | None:
    passed, behind_pad, holds = set[str](), set[str](), False
    for maker in around.makers(node.inputs[0]):
        if not maker.inputs:
            break
        if maker.op_type == "DequantizeLinear" and maker.domain in PLAIN_DOMAINS | {MICROSOFT}:
            zero = around.zero_point(maker)
            moved = zero != Constant(0) or not behind_pad.isdisjoint(_MOVES_ZERO)
            return (
                None
                if holds and moved
                else _Bytes(around.dtype(maker.inputs[0]), zero, frozenset(passed))
            )
        if maker.op_type not in _PASSABLE:
            break
        is_next = passed <= {"Identity"}
        if op.kind is Kind.AVERAGE and _holds_back(around, maker, is_next=is_next):
            if around.fill(maker) != Constant(0):
                break
            holds = True
        passed.add(maker.op_type)
        behind_pad |= {maker.op_type} if holds else set()
    return None


def _holds_back(around: Surroundings, maker: Neighbour, *, is_next: bool) -> bool:
    """Whether it is a Pad that no DequantizeLinear passes on its way to an average.

    That is one of a constant that adds cells elsewhere than in channels, unless the average itself
    becomes what it is: a Pad of 0 along spatial axes `is_next` to it. One of 0 is passed where
    bytes of 0 are worth 0. By 370 models in 2024.6 and 2026.4.
    """
    written = around.fill(maker) if maker.op_type == "Pad" else None
    sizes = [around.shape(name) for name in (maker.inputs[0], maker.outputs[0])]
    before, behind = (() if one is None else one for one in sizes)
    if written is None or len(before) != len(behind):
        return False
    known = [(a, b) for a, b in zip(before, behind, strict=True)]
    adds = [isinstance(a, int) and isinstance(b, int) and a < b for a, b in known]
    outer = adds[:2] != [False, False]
    return any((*adds[:1], *adds[2:])) and not (is_next and written == Constant(0) and not outer)


BYTES_IN_FRONT = Question(frozenset({Kind.AVERAGE, Kind.PAD}), _bytes_in_front, None)


def is_off_zero(chain: Chain, zero: int = 0) -> bool:
    """Whether what it reads is dequantised, and a byte of `zero` is not worth 0."""
    found = chain.around.told(BYTES_IN_FRONT)
    if found is None or not found.passed <= _MOVES_ZERO | _KEEPS_ZERO:
        return False
    return not found.passed.isdisjoint(_MOVES_ZERO) or found.zero != Constant(zero)


def _bytes_read(chain: Chain, *, scaled: bool = False) -> str:
    """The type of the bytes that are dequantised to what it reads, '' where none are."""
    found = chain.around.told(BYTES_IN_FRONT)
    if found is None or not (scaled or found.passed.isdisjoint(_KEEPS_SCALES)):
        return ""
    bent = not found.passed.isdisjoint(_BENDS_AT_ZERO) and found.zero != Constant(0)
    return "" if bent else found.dtype


_BYTES = {"uint8": (0, 255), "int8": (-128, 127)}


def _along_one_axis(chain: Chain) -> tuple[int, float] | None:
    """The one axis that a Pad behind QuantizeLinear makes longer, and what it writes there."""
    step = chain.pad
    if step is None or step.unclear or step.mode != "constant" or not chain.around.behind_quantised:
        return None
    longer = [axis for axis, sides in enumerate(step.pads.sides) if any(sides)]
    if len(longer) != 1 or not isinstance(step.fill, Constant):
        return None
    return longer[0], float(step.fill.value)


def writes_no_byte(chain: Chain) -> bool:
    """Whether a Pad along one axis writes what its bytes do not hold, as they are."""
    found, held = _along_one_axis(chain), _BYTES.get(_bytes_read(chain))
    if found is None or held is None:
        return False
    return not (held[0] <= found[1] <= held[1] and found[1].is_integer())


def writes_below_zero(chain: Chain) -> bool:
    """Whether a Pad along one axis writes less than 0 among int8 of which 0 is not worth 0."""
    found, read = _along_one_axis(chain), _bytes_read(chain)
    return found is not None and found[1] < 0 and read == "int8" and is_off_zero(chain)


def scales_its_value(chain: Chain) -> bool | None:
    """Whether a Pad of one cell writes a value that is then dequantised; None for an open size."""
    found = _along_one_axis(chain)
    if found is None or _bytes_read(chain, scaled=True) not in _BYTES:
        return False
    axis, value = found
    if value == 0 and not is_off_zero(chain):
        return False
    size = chain.shape[axis] if chain.shape is not None else None
    return size == 1 if isinstance(size, int) else None


_JOINED_BEHIND = frozenset(
    {
        *("AveragePool", "Clip", "Concat", "Div", "Identity", "MaxPool", "Mul", "Pad", "Relu"),
        *("Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"),
    }
)
_JOINED_IN_FRONT = frozenset(
    {
        *("BatchNormalization", "Cast", "DequantizeLinear", "Dropout", "Identity"),
        *("QuantizeLinear", "Relu", "Reshape", "Transpose"),
    }
)
"""What may stand between a Concat and a convolution of bytes, behind the QuantizeLinear and in
front of it; single operators of each were run, and some rows of two or three are right."""


def _reads_joined_bytes(around: Surroundings, node: Neighbour, _: Operator) -> bool:
    """Whether a convolution of bytes reads int8 that a Concat is in front of, as bytes or floats.

    By 190 models in each of 2023.3, 2024.6, 2025.3 and 2026.4, which give the same wrong numbers.
    Convolutions of several groups are right, and what joins the parts of one Split.
    """
    if node.op_type not in _OF_BYTES or not _is_whole(around, node):
        return False
    read = node.inputs[0]
    if node.op_type == "Conv":
        if not _is_dequantised(around, node.inputs[1]):
            return False
        for maker in _moved_past(around, read):
            if _joins(around, maker):
                computed = [name for name in maker.inputs if not around.is_stored(name)]
                types = {_dequantised_to(around, name) for name in computed}
                return "int8" in types and "" not in types
        read = _bytes_of(around, read)
    if around.dtype(read) != "int8":
        return False
    row = list(islice(around.makers(read, data=True), 2 * _FAR))
    if not row or row[0].op_type != "QuantizeLinear":
        return False
    first = next((maker for maker in row if not _joins_past(around, maker)), None)
    return first is not None and _joins(around, first)


def _dequantised_to(around: Surroundings, name: str) -> str:
    """The type of the bytes that a tensor is made of, '' where none are."""
    return around.dtype(_bytes_of(around, name))


def _bytes_of(around: Surroundings, name: str) -> str:
    """The bytes that a tensor is dequantised from, past what is moved; '' where none are."""
    for maker in _moved_past(around, name):
        name = around.data(maker)
    last = next(around.makers(name), None)
    return last.inputs[0] if last is not None and _dequantises(last) else ""


def _moved_past(around: Surroundings, name: str) -> Iterator[Neighbour]:
    """What a DequantizeLinear in front of a tensor is moved past, from there on."""
    row = islice(around.makers(name, data=True), _FAR)
    return takewhile(lambda maker: maker.op_type in _JOINED_BEHIND, row)


def _joins_past(around: Surroundings, node: Neighbour) -> bool:
    """Whether a QuantizeLinear moves past it to a Concat; of sums and products, by a constant."""
    if node.op_type in _BY_CONSTANTS:
        return any(around.is_stored(name) for name in node.inputs)
    if node.op_type == "Pad":
        return around.shape(node.inputs[0]) == around.shape(node.outputs[0])
    return node.op_type in _JOINED_IN_FRONT or around.hands_on(node)


def _dequantises(node: Neighbour) -> bool:
    return node.op_type == "DequantizeLinear"


def _is_dequantised(around: Surroundings, name: str) -> bool:
    maker = next(around.makers(name), None)
    return maker is not None and _dequantises(maker)


def _joins(around: Surroundings, node: Neighbour) -> bool:
    """Whether it is a Concat of more than the parts of one Split."""
    if node.op_type != "Concat" or len(node.inputs) < 2:
        return False
    makers = [next(around.makers(name), None) for name in node.inputs]
    first = makers[0]
    of_one = first is not None and all(one is first for one in makers)
    return not (of_one and first is not None and first.op_type == "Split")


JOINED_BYTES = Question(frozenset({Kind.CONVOLUTION}), _reads_joined_bytes, nothing=False)


_FAR = 8
_BY_CONSTANTS = ("Add", "Div", "Mul", "Sub")
_OF_BYTES = ("Conv", "QLinearConv")
_FOLDED = frozenset({"Mul", "Div", "Neg"})
"""By a constant for each channel they become part of the weight of the convolution behind."""
_ADDS_BIAS = frozenset({"Conv", "ConvTranspose"})
_CONVOLUTIONS = ("Conv", "QLinearConv", "ConvInteger")
_OF_CELLS = frozenset(
    {
        *("Abs", "Acos", "Asin", "Atan", "Ceil", "Celu", "Clip", "Cos", "Elu", "Erf", "Exp"),
        *("Floor", "Gelu", "HardSwish", "Log", "Mish", "Reciprocal", "Relu", "Round", "Sigmoid"),
        *("Sign", "Sin", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu"),
        *("Add", "Div", "Max", "Mean", "Min", "Mod", "Mul", "Neg", "Pow", "Sub", "Sum"),
        *("BatchNormalization", "DequantizeLinear", "InstanceNormalization"),
        *("LayerNormalization", "LpPool"),
    }
)
"""What ends in OpenVINO's arithmetic of cells; each was run but Acos, Asin and Tan."""

Strides = tuple[int, ...]
_KEPT: Strides = ()


def _strides_that_move(around: Surroundings, node: Neighbour, _: Operator) -> Strides:
    """Strides that go past a convolution, its pads too, to what stands in front; () for none.

    Strides behind it count as well. In front may be one Pad, which is part of it by then.
    """
    strides = _of_convolution(around, node, _FAR) if node.domain in PLAIN_DOMAINS else ()
    if not strides or all(one == 1 for one in strides):
        return ()
    if node.op_type != "Conv":
        return strides  # what it reads is dequantised
    return strides if _goes_on(around, node) else ()


def _goes_on(around: Surroundings, node: Neighbour) -> bool:
    """Whether what makes its input takes the strides."""
    name, padded = node.inputs[0], False
    for maker in islice(around.makers(name, data=True), _FAR):
        alone = around.has_one_reader(name)
        if maker.domain not in PLAIN_DOMAINS or not maker.inputs:
            return False
        if not around.hands_on(maker) and not _keeps_shape(around, maker):
            if maker.op_type == "Pad" and not padded and alone:
                padded = True
            elif not (alone and _is_folded(around, maker)):
                takes = maker.op_type in _OF_CELLS or _ends_in_sum(around, maker)
                return takes and bool(_asked_of(around, name, _FAR))
        name = around.data(maker)
    return False


def _ends_in_sum(around: Surroundings, maker: Neighbour) -> bool:
    """Whether it is a convolution of one group, or one with a bias, which is a sum of its own."""
    if maker.op_type not in _ADDS_BIAS:
        return False
    return any(maker.inputs[2:3]) or _is_whole(around, maker)


def _is_whole(around: Surroundings, node: Neighbour) -> bool:
    return node.op_type in _CONVOLUTIONS and around.attributes(node).get("group", 1) == 1


def _keeps_shape(around: Surroundings, node: Neighbour) -> bool:
    """Whether it is a Reshape or Expand to the shape that is there."""
    if node.op_type not in ("Expand", "Reshape"):
        return False
    shape = around.shape(node.inputs[0])
    return shape is not None and shape == around.shape(node.outputs[0])


def _is_folded(around: Surroundings, node: Neighbour) -> bool:
    """Whether it multiplies by a constant, one number or one for each channel."""
    if node.op_type not in _FOLDED:
        return False
    shape = around.shape(node.outputs[0])
    others = [name for name in node.inputs if around.is_stored(name)]
    if node.op_type == "Neg":
        return True
    if shape is None or len(others) != 1:
        return False
    sizes = around.shape(others[0]) or ()
    return all(one == 1 for at, one in enumerate(sizes) if at != len(sizes) - len(shape) + 1)


def _asked_of(around: Surroundings, name: str, left: int) -> Strides:
    """The strides that all which reads a tensor asks for; () where these are not the same."""
    if left < 1 or around.leaves(name):
        return ()
    found = {_asked_by(around, reader, left - 1) for reader in around.readers(name)}
    (first, *more) = found or {()}
    return () if more else first


def _asked_by(around: Surroundings, node: Neighbour, left: int) -> Strides:
    if not node.outputs or node.domain not in PLAIN_DOMAINS:
        return ()
    if node.op_type in _CONVOLUTIONS:
        strides = _of_convolution(around, node, left)
        return () if all(one == 1 for one in strides) else strides
    if node.op_type == "Pad" or node.op_type in _OF_CELLS or around.hands_on(node):
        return _asked_of(around, node.outputs[0], left)
    return ()


def _of_convolution(around: Surroundings, node: Neighbour, left: int) -> Strides:
    """Its strides times those behind it; () where it keeps them."""
    weight = node.inputs[3 if node.op_type == "QLinearConv" else 1 :][:1]
    sizes = around.shape(weight[0]) if weight else None
    if not sizes or not _is_whole(around, node) or any(one != 1 for one in sizes[2:]):
        return ()
    written = around.attributes(node).get("strides")
    own = tuple(map(int, written)) if isinstance(written, tuple) else (1,) * (len(sizes) - 2)
    behind = _asked_of(around, node.outputs[0], left - 1)
    return tuple(map(prod, zip(own, behind, strict=True))) if len(behind) == len(own) else own


MOVING_STRIDES = Question(frozenset({Kind.CONVOLUTION}), _strides_that_move, _KEPT)


_INTO_WEIGHTS = frozenset({"Add", "BatchNormalization", "Div", "Identity", "Mul", "Sub"})
"""What becomes part of the convolution that it stands behind."""
_FALLS = frozenset({"Abs", "Gelu", "HardSwish", "LpPool", "Mish", "Sqrt", "Swish"})
_FALLS_IF_NEGATIVE = ("Elu", "LeakyRelu")
_SWISH = ("Mul", "Sigmoid")


def _swaps_with_activation(around: Surroundings, node: Neighbour, _: Operator) -> bool:
    """Whether the activation behind a max pool moves in front of it, and does not always rise.

    OpenVINO makes it part of a convolution there, which is right for those that never fall. By 190
    models in 2023.3 to 2026.4; what else reads the pool, or the convolution, keeps it where it is.
    """
    row = list(islice(around.makers(node.inputs[0], data=True), _FAR))
    past = list(takewhile(lambda one: one.op_type in _INTO_WEIGHTS or around.hands_on(one), row))
    front = row[len(past)] if len(past) < len(row) else None
    if front is None or front.op_type != "Conv" or not around.has_one_reader(front.outputs[0]):
        return False
    if any(one.op_type in _MOVES_ZERO for one in past) and not any(front.inputs[2:3]):
        return False  # a bias takes it in
    name = node.outputs[0]
    for _step in range(_FAR):
        readers = around.readers(name)
        if {one.op_type for one in readers} == set(_SWISH):
            return len(readers) == len(_SWISH) and not around.leaves(name)
        if not around.has_one_reader(name):
            return False
        if not around.hands_on(readers[0]):
            alpha = around.attributes(readers[0]).get("alpha", 0)
            falls = readers[0].op_type in _FALLS_IF_NEGATIVE and float(alpha) < 0
            return falls or readers[0].op_type in _FALLS
        name = readers[0].outputs[0]
    return False


SWAPPED_ACTIVATION = Question(frozenset({Kind.MAX}), _swaps_with_activation, nothing=False)


def _in_front(chain: Chain) -> Pads | None:
    """What a Pad in front adds along the spatial axes; None for one that stays a Pad."""
    step = chain.around.front[0].pad if chain.around.front else chain.pad
    if step is None:
        return Pads.zero(chain.rank)
    flat, begins, ends = step.pads.flat, step.pads.begins, step.pads.ends
    outer = any((*begins[:2], *ends[:2]))
    if len(begins) != chain.rank + 2 or outer or min(flat) < 0 or step.fill != Constant(0):
        return None
    return Pads(begins[2:], ends[2:]) if step.mode == "constant" else None


def strides_pass_pads(chain: Chain, own: Pads) -> bool:
    """Whether other cells are read where the strides hold in front of the pads.

    One cell at the end makes no difference where the strides divide the size.
    """
    moving = chain.around.told(MOVING_STRIDES)
    front = _in_front(chain) if moving else None
    if front is None:
        return False
    sides = zip(chain.sides(own + front), front.sides, moving, strict=True)
    for (axis, begin, end), more, stride in sides:
        divided = isinstance(axis.size, int) and (axis.size - sum(more)) % stride == 0
        if stride > 1 and (begin or end > 1 or (end and not divided)):
            return True
    return False
