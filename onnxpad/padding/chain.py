"""What passes map from and to: [Pad] -> padded operator with what stands around it, one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from onnxpad.errors import either
from onnxpad.geometry.size import Size
from onnxpad.geometry.size_fact import SizeFact
from onnxpad.geometry.windows import Axis
from onnxpad.padding.fills import Fill, Implicit
from onnxpad.padding.operators import Attributes, AttributeValue, Kind, Operator

if TYPE_CHECKING:
    from onnxpad.padding.expansion import Expansion


class AutoPad(StrEnum):
    """Values of the attribute auto_pad that stand for pads."""

    VALID = "VALID"
    SAME_UPPER = "SAME_UPPER"
    SAME_LOWER = "SAME_LOWER"


@dataclass(frozen=True, slots=True)
class Pads:
    """Cells added before and after each spatial axis; negative numbers crop."""

    begins: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def zero(cls, rank: int) -> Pads:
        """No padding on `rank` axes."""
        return cls((0,) * rank, (0,) * rank)

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, int]]) -> Pads:
        """The pads of each axis, from its begin and its end."""
        return cls(tuple(begin for begin, _ in pairs), tuple(end for _, end in pairs))

    @property
    def flat(self) -> tuple[int, ...]:
        """ONNX order: every begin, then every end."""
        return self.begins + self.ends

    @property
    def sides(self) -> tuple[tuple[int, int], ...]:
        """The begin and the end of each axis."""
        return tuple(zip(self.begins, self.ends, strict=True))

    def __add__(self, other: Pads) -> Pads:
        pairs = zip(self.sides, other.sides, strict=True)
        return Pads.of([(one[0] + more[0], one[1] + more[1]) for one, more in pairs])


@dataclass(frozen=True, slots=True)
class Unclear:
    """Padding that cannot be read as one value, with the reason and what to try.

    `unread` marks nodes of which nothing is understood: of an opset that is not known yet, in
    functions that stay, or as onnxruntime's optimiser writes them; `illegal` values that ONNX does
    not have: no runtime has to know what they mean.
    `of_sizes` says that it is computed from sizes alone, `roots` are the dimensions among them: of
    a size behind padding that is not known, nothing tells which it comes from.
    """

    reason: str
    hints: tuple[str, ...] = ()
    unread: bool = False
    illegal: bool = False
    roots: tuple[str, ...] = field(default=(), compare=False)
    of_sizes: bool = field(default=False, compare=False)

    def as_skip(self, *, moot: bool = False) -> Skip:
        """The same as a pass says it."""
        return Skip(self.reason, self.hints, moot=moot)


Padding: TypeAlias = AutoPad | Pads | Unclear


def is_same(padding: Padding) -> bool:
    """Whether it is auto_pad SAME_UPPER or SAME_LOWER."""
    return padding in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)


@dataclass(frozen=True, slots=True)
class PadStep:
    """A Pad node in front of the operator, over all axes of its input.

    `unclear` says why its pads, mode or place cannot be used. `computed` are the inputs (1 pads,
    2 value, 3 axes) that the model computes, `listed` those that are written as a list and need
    not be: axes, where the pads are those of some axes only, and a value that is a list of one
    number.

    `crossed` names what stands between the Pad and the operator, in that order; pads and fill
    are then what the operator sees.
    """

    pads: Pads
    fill: Fill
    mode: str = "constant"
    unclear: Unclear | None = None
    computed: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()
    crossed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewPad(PadStep):
    """A Pad that a rewrite asks for, in what it makes of a chain; the model has no such node yet.

    It stands between the operator and what is in front of that, or takes the place of the Pad
    that is there (`instead`).
    """

    instead: bool = False


Preference: TypeAlias = Literal["auto_pad", "pads"] | None


class Preferences(NamedTuple):
    """What the user says of how nodes are read.

    `ambiguous` settles auto_pad together with pads. `legacy_split` lets transposed convolutions
    crop their odd cell at the side that the text of ConvTranspose-1 names, as older runtimes did.
    """

    ambiguous: Preference = None
    legacy_split: bool = False


NO_PREFERENCE = Preferences()

Shape: TypeAlias = tuple[Size | None, ...] | None


def contradict(declared: Shape, found: Shape) -> bool:
    """Whether a tensor of the shape `found` cannot be of the one that is declared."""
    if declared is None or found is None:
        return False
    pairs = zip(declared, found, strict=False)
    differ = (isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs)
    return len(declared) != len(found) or any(differ)


class Weight(NamedTuple):
    """The weight of a convolution; `is_constant` where its values are known before a run.

    `zero_point_is_constant` holds as well where it has none; `has_value` also of a weight that is
    stored, though an input of the model may replace it. `scales` counts those of QLinearConv,
    `listed` says that a scale or zero point of it is a list, be it of one element.

    `whole` is the type in which the numbers of a quantised weight are stored, be it in front of a
    DequantizeLinear, '' for others; `zero_point` is its zero point, None where that is not known
    or not one number. `is_padded` says that it may come from
    a Pad.
    """

    shape: Shape = None
    dtype: str = ""
    is_constant: bool = False
    zero_point_is_constant: bool = True
    has_value: bool = False
    scales: Size | None = 1
    listed: bool | None = False
    whole: str = ""
    zero_point: int | None = None
    is_padded: bool = False


NO_WEIGHT = Weight()


class Conversion(NamedTuple):
    """A QuantizeLinear or DequantizeLinear: what it reads, and how it is written."""

    source: str
    dtype: str
    scale: str
    zero_point: str
    attributes: Attributes = ()
    domain: str = ""
    quantises: bool = False


class Dequantised(NamedTuple):
    """The DequantizeLinear in front of an operator, as a place for new Pads.

    A Pad goes in front of `steps`, the conversions that stand before the operator: on the
    quantised tensor, where `zero` stands for 0 and `lowest` is the lowest value; or, where
    `zero` is None, in front of the QuantizeLinear as well. `refusal` says why no place is right.
    """

    steps: tuple[Conversion, ...] = ()
    zero: Fill | None = None
    lowest: int = 0
    refusal: str = ""


class Between(NamedTuple):
    """A Pad of floats that stands between conversions which take each other back.

    `dequantise` makes its data; all that reads it quantises with the same numbers. `fill` is what
    its cells hold quantised.
    """

    dequantise: Conversion
    fill: int


ELSEWHERE = Unclear("a Pad in front stands in another graph or function")
"""Why nothing is known of a Pad that is there."""
FURTHER = Unclear("a further Pad stands in front of the Pad")
"""Why no more than the nearest of several Pads is known."""


class Mark(StrEnum):
    """What else holds of the surroundings of an operator.

    READS_INPUT: a Pad node reads an input of the model.
    BEHIND_QUANTISED: a quantised operator or a QuantizeLinear stands in front, near or far.
    FROM_PYTORCH: the model names pytorch as its producer.
    COPIED_OUT: an Identity makes a result of what the operator, or the Pad in front, reads.
    SHARES_PAD: something else reads the nearest Pad as well, or what stands between.
    POOLS_READ_PAD: a pool reads the Pad in front as well, or a Conv as its weight; of a Pad node,
        what it writes.
    DECLARED_OTHERWISE: the file declares another shape of what the operator writes than it has.
    CONFLICT_SETTLED: auto_pad is written together with pads, and the user says which holds.
    LEGACY_SPLIT: the user prefers the legacy split of a transposed convolution.
    ASSUMES_SIZES: sizes may be what the user knows, and the file leaves open.
    """

    READS_INPUT = "reads input"
    BEHIND_QUANTISED = "behind quantised"
    FROM_PYTORCH = "from pytorch"
    COPIED_OUT = "copied out"
    SHARES_PAD = "shares pad"
    POOLS_READ_PAD = "pools read pad"
    DECLARED_OTHERWISE = "declared otherwise"
    CONFLICT_SETTLED = "conflict settled"
    LEGACY_SPLIT = "legacy split"
    ASSUMES_SIZES = "assumes sizes"


_OF_PADDING = {Mark.CONFLICT_SETTLED, Mark.LEGACY_SPLIT, Mark.ASSUMES_SIZES}
"""What is said of the padding as it was read."""


@dataclass(frozen=True, slots=True)
class Around:
    """The surroundings of one operator.

    nearest: the Pad in front that onnxruntime's optimiser may see: its axes in the operator's
        order, `crossed` what stands between the two, unclear where it is not alone.
    never_negative: whether no cell of the input of a max pool is below 0.
    dequantised: the DequantizeLinear that makes the input.
    feeds_channels_last: whether one that reads a Pad node has its channels on the last axis.
    between: the conversions around a Pad node.
    far_pad: a Pad that reaches the operator through other operators.
    marks: what else holds.
    """

    nearest: PadStep | None = None
    never_negative: bool = False
    dequantised: Dequantised | None = None
    feeds_channels_last: bool = False
    between: Between | None = None
    far_pad: PadStep | None = None
    marks: frozenset[Mark] = frozenset()


NOTHING = Around()


class Written(NamedTuple):
    """A node as it is written.

    `attributes` are its numbers, texts and lists of integers by name; `inputs` and `outputs` say
    which of its places are taken, an output only where something reads it.
    """

    attributes: Attributes = ()
    inputs: tuple[bool, ...] = ()
    outputs: tuple[bool, ...] = ()


_UNWRITTEN = Written()


@dataclass(frozen=True, slots=True)
class Chain:
    """A padded operator with the Pad that feeds it.

    `axes` are the spatial axes of the operator's own input (after the Pad), `shape` is that of the
    same input, all axes. `reads` are the tensors that a compound reads, its data first: what
    several nodes write together, of which this is the last; () of one node.
    """

    op: Operator
    opset: int
    axes: tuple[Axis, ...]
    padding: Padding
    fill: Fill
    dtype: str = ""
    ceil_mode: bool = False
    output_padding: tuple[int, ...] = ()
    output_shape: tuple[int, ...] = ()
    pad: PadStep | None = None
    shape: Shape = None
    weight: Weight = NO_WEIGHT
    written: Written = _UNWRITTEN
    around: Around = NOTHING
    reads: tuple[str, ...] = ()

    def with_padding(self, padding: Padding) -> Chain:
        """The chain where a rewrite writes `padding`: what settled how it was read is settled.

        The one way to give a chain other padding. A node that says auto_pad and pads loses the one
        that does not hold, and what the user preferred says nothing of the new padding.
        """
        around = replace(self.around, marks=self.around.marks - _OF_PADDING)
        return replace(self, padding=padding, around=around)

    @property
    def trouble(self) -> Unclear | None:
        """Why the padding cannot be worked on; None where it can."""
        return self.padding if isinstance(self.padding, Unclear) else None

    def sides(self, pads: Pads) -> list[tuple[Axis, int, int]]:
        """Each spatial axis with its begin and its end among `pads`."""
        return list(zip(self.axes, pads.begins, pads.ends, strict=True))

    @property
    def counts_padding(self) -> bool:
        """Whether an average divides by padded cells as well (count_include_pad)."""
        return self.op.kind is Kind.AVERAGE and self.fill is not Implicit.NOTHING

    @property
    def conflict_settled(self) -> bool:
        """Whether auto_pad is written together with pads, which the user settled."""
        return Mark.CONFLICT_SETTLED in self.around.marks

    @property
    def rank(self) -> int:
        """Number of spatial axes."""
        return len(self.axes)

    @property
    def has_fixed_sizes(self) -> bool:
        """Whether the sizes of all spatial axes are known as numbers."""
        return all(isinstance(axis.size, int) for axis in self.axes)

    @property
    def tensor_rank(self) -> int:
        """Number of axes of the input, batch and channels included."""
        return len(self.axes) + 2

    @property
    def first_axis(self) -> int:
        """Where the spatial axes begin in the tensor: at 1 where the channels come last."""
        return 1 if self.around.feeds_channels_last else 2

    @property
    def spatial(self) -> slice:
        """The spatial axes within a tuple over all axes of the input."""
        return slice(self.first_axis, self.first_axis + len(self.axes))

    def inner(self, pads: Pads) -> Pads:
        """Of pads over all axes of the input those over the spatial axes."""
        return Pads(pads.begins[self.spatial], pads.ends[self.spatial])

    def outer(self, pads: Pads) -> list[tuple[int, int]]:
        """Of pads over all axes of the input those of batch and channels."""
        sides, kept = list(pads.sides), self.spatial
        return sides[: kept.start] + sides[kept.stop :]

    def attribute(self, name: str, default: AttributeValue) -> AttributeValue:
        """An attribute as the node writes it, else `default`."""
        return dict(self.written.attributes).get(name, default)

    @property
    def uses_indices(self) -> bool:
        """Whether something reads the second output, the Indices of a max pool."""
        return self.written.outputs[1:2] == (True,)

    @property
    def is_max(self) -> bool:
        """Whether the lowest value is what padding must hold."""
        return self.op.kind is Kind.MAX


@dataclass(frozen=True, slots=True)
class Skip:
    """A pass leaves a chain as it is, and why.

    `moot` marks nodes where there was nothing to do, `noted` those of them that are worth a word
    to the user. `hints` are options to try; `settled_by` what dimensions leave by divisors
    that settle it.
    """

    reason: str
    hints: tuple[str, ...] = ()
    moot: bool = False
    noted: bool = False
    settled_by: tuple[tuple[str, SizeFact], ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        """The reason, and what to try."""
        return self.reason + (f"; try {either(self.hints)}" if self.hints else "")


PassResult: TypeAlias = "Chain | Expansion | Skip"
