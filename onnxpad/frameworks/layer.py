"""What a framework's file says about its layers: words, rules, and how they are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, TypeVar

from onnxpad.frameworks.choices import (
    Divisor,
    Fill,
    HowKnown,
    Layout,
    Outside,
    Override,
    Role,
    Rounding,
    Special,
)
from onnxpad.geometry.windows import Axis
from onnxpad.reports import reported

Pair: TypeAlias = tuple[int, int]
Choice = TypeVar("Choice")


class Given(NamedTuple):
    """Numbers that a layer states about one axis, None where it does not.

    `pads` are explicit (begin, end), `growth` is output padding, `extent` the output size.
    """

    pads: Pair | None = None
    growth: int | None = None
    extent: int | None = None


class AxisCrop(NamedTuple):
    """What a transposed layer keeps of one axis: cells cut off in front, and the size."""

    begin: int
    output: int


PadRule: TypeAlias = Callable[[Axis, Given], Pair]
CropRule: TypeAlias = Callable[[Axis, int, Given], AxisCrop]


class Mode(NamedTuple):
    """One way to pad or crop an axis; `undilated` resets the dilation to 1."""

    pad_rule: PadRule | None = None
    cut: CropRule | None = None
    rounding: Rounding | None = None
    fill: Fill | None = None
    undilated: bool = False
    takes_numbers: bool = False


class Word(NamedTuple):
    """An attribute: its name, what it means, its default, and the values it may have.

    `axis` is set for names such as kernel_h. `choices` are the values of ROUNDING, DIVISOR, FILL
    and LABEL; `modes` and `layouts` those of PADDING, `negative` allows its numbers below 0.
    """

    name: str
    role: Role
    default: object = Special.REQUIRED
    aliases: tuple[str, ...] = ()
    axis: int | None = None
    choices: Mapping[object, object] = MappingProxyType({})
    modes: Mapping[object, Mode] = MappingProxyType({})
    layouts: tuple[Layout, ...] = ()
    negative: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that it answers to."""
        return (self.name, *self.aliases)


@reported("size", "kernel", "stride", "dilation", "span", "begin", "end", "output")
class Slide(NamedTuple):
    """One axis of a layer that is worked out.

    `begin` and `end` are the cells that the framework pads, for transposed layers those that it
    crops (below 0: adds); `counted` the padded cells that averages count at each side.
    """

    size: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int
    output: int
    counted: Pair = (0, 0)

    @property
    def span(self) -> int:
        """Extent of the dilated kernel: d(k-1)+1."""
        return self.dilation * (self.kernel - 1) + 1

    @property
    def reach(self) -> int:
        """Cells that the last window reads behind the input; below 0: cells that none reads."""
        return (self.output - 1) * self.stride + self.span - self.size - self.begin

    @property
    def counted_within(self) -> Pair:
        """Of the cells that averages count at each side those that windows reach."""
        before, behind = self.counted
        return min(before, self.begin), min(behind, max(self.reach, 0))


class Takes(NamedTuple):
    """What a layer can be given.

    `alike` says that its numbers are one for both sides, `pairs` that begin and end may be given,
    `negative` that they may crop; `sized` that a transposed layer takes its output size, `grows`
    output padding.
    """

    strides: bool
    dilates: bool
    grows: bool
    sized: bool
    alike: bool
    pairs: bool
    negative: bool


Check: TypeAlias = Callable[[tuple[Slide, ...]], str]


class Layer(NamedTuple):
    """One kind of layer of a framework.

    `number` is how explicit numbers (or none at all) pad, where no mode says otherwise.
    `rounding` and `divisor` hold where no word chooses another. `checks` give the framework's own
    reason to refuse a layer, or ''.
    """

    op: str
    words: tuple[Word, ...]
    evidence: HowKnown
    source: str
    number: Mode = Mode()
    rounding: Rounding = Rounding.DOWN
    divisor: Divisor = Divisor.REAL
    override: Override = Override.SUM
    outside: Outside = Outside.UNKNOWN
    checks: tuple[Check, ...] = ()
    ranks: frozenset[int] = frozenset({1, 2, 3})

    def of(self, *roles: Role) -> list[Word]:
        """Its attributes that mean this."""
        return [word for word in self.words if word.role in roles]

    def choices(self, role: Role, default: Choice) -> frozenset[Choice]:
        """What the attribute of a role can choose, without what the framework refuses."""
        for word in self.of(role):
            known = word.choices.values()
            return frozenset(one for one in known if isinstance(one, type(default)))
        return frozenset({default})

    @property
    def takes(self) -> Takes:
        """What it can be given."""
        words = self.of(Role.PADDING)
        layouts = {layout for word in words for layout in word.layouts}
        return Takes(
            strides=bool(self.of(Role.STRIDE)),
            dilates=bool(self.of(Role.DILATION)),
            grows=bool(self.of(Role.GROWTH)),
            sized=bool(self.of(Role.EXTENT)),
            alike=Layout.EACH in layouts or any(word.axis is not None for word in words),
            pairs=bool(layouts - {Layout.EACH, Layout.FLAGS}),
            negative=any(word.negative for word in words),
        )
