"""How a convention pads one kind of operator: read from its layer, asked with numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onnxpad.errors import RequestError
from onnxpad.frameworks import rules
from onnxpad.frameworks.choices import Divisor, Fill, Role, Rounding
from onnxpad.frameworks.conventions import all_conventions, by_name_and_alias, find_named
from onnxpad.frameworks.fits import LAYERS
from onnxpad.frameworks.layer import AxisCrop, Given, Mode, Pair
from onnxpad.frameworks.ways import ways
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Chain, Skip

_NEVER_UP = frozenset({Rounding.DOWN, Rounding.EXACT})


@dataclass(frozen=True, slots=True)
class Habits:
    """What a convention can write for one kind of operator.

    `modes` pad by a name, the default first; `numbers` says that it takes as many cells at both
    sides, `any_numbers` any begin and end. `roundings` and `divisors` are those of its pools.
    """

    name: str
    modes: tuple[Mode, ...]
    numbers: bool = False
    any_numbers: bool = False
    roundings: frozenset[Rounding] = frozenset({Rounding.DOWN, Rounding.UP})
    divisors: frozenset[Divisor] = frozenset({Divisor.REAL, Divisor.PADDED})
    grows: bool = True

    @property
    def always_up(self) -> bool:
        """Whether no pool of it rounds down."""
        return not self.roundings & _NEVER_UP

    @property
    def up(self) -> frozenset[Rounding]:
        """Its ways to round up."""
        return self.roundings - _NEVER_UP

    def counts(self, *, padding: bool) -> bool:
        """Whether its averages can count padding, or leave it out."""
        return bool(self.divisors - {Divisor.REAL}) if padding else Divisor.REAL in self.divisors

    def pads_three(self, begin: int, end: int) -> bool:
        """Whether one of its modes pads a window of three cells like this."""
        return (begin, end) in self.pairs(Axis(16, 3), 16)

    @property
    def has_strided_same(self) -> bool:
        """Whether a mode of its own gives ceil(size/stride) windows, whatever the stride."""
        return any((16 + sum(pair) - 3) // 2 + 1 == 8 for pair in self.pairs(Axis(16, 3, 2), 16))

    def pairs(self, axis: Axis, size: int) -> Iterator[Pair]:
        """(begin, end) of each mode on an axis of `size` cells, the default mode first."""
        for mode in self.modes:
            if mode.pad_rule is None or (mode.undilated and axis.dilation > 1):
                continue
            try:
                yield mode.pad_rule(axis._replace(size=size), Given())
            except RequestError:
                continue


def _larger_half_first(axis: Axis, size: int, _given: Given) -> AxisCrop:
    """size*stride cells; of what is too much, the larger half goes in front."""
    output = size * axis.stride
    return AxisCrop((max(0, rules.full_extent(axis, size) - output) + 1) // 2, output)


_UPPER = Mode(rules.same_upper, rules.same_multiple)
_LOWER = Mode(rules.same_lower, _larger_half_first)
PLACEMENTS = {
    "SAME_UPPER": Habits("SAME_UPPER", (_UPPER,), any_numbers=True),
    "SAME_LOWER": Habits("SAME_LOWER", (_LOWER,), any_numbers=True),
    "symmetric": Habits("symmetric", (), numbers=True),
}
"""Placements that are nobody's in particular; how pools round and what they divide by stays."""
SYNONYMS = {"onnx-same-lower": "SAME_LOWER"}


def named_convention(name: str) -> str:
    """The name of a convention or placement that is called so, by its name or alias.

    Raises RequestError for anything else, with the nearest.
    """
    known = {alias: one.name for alias, one in by_name_and_alias().items()}
    return find_named(name, {**{one: one for one in PLACEMENTS}, **SYNONYMS, **known})


def habits_of(name: str, chain: Chain) -> Habits | Skip:
    """What a convention or placement does with operators of the chain's kind."""
    if name in PLACEMENTS:
        return PLACEMENTS[name]
    kind = chain.op.kind
    layers = (one for one in all_conventions()[name].layers if one.op == LAYERS.get(kind))
    layer = next(layers, None)
    if layer is None:
        return Skip(f"nothing is known of how {name} pads a {kind}")
    if chain.rank not in layer.ranks:
        return Skip(f"{name} has no {chain.rank}-D {kind}")
    takes, own = layer.takes, layer.rounding
    modes = (mode for way in ways(layer) if way.fill is Fill.ZEROS for mode in way.modes)
    plain = (rules.valid, rules.explicit)
    return Habits(
        name,
        tuple(
            mode
            for mode in dict.fromkeys(modes)
            if not mode.takes_numbers and mode.pad_rule not in plain
        ),
        numbers=takes.alike or takes.pairs,
        any_numbers=takes.pairs,
        # A layer that rounds up by itself keeps to that.
        roundings=layer.choices(Role.ROUNDING, own) if own is Rounding.DOWN else frozenset({own}),
        divisors=layer.choices(Role.DIVISOR, layer.divisor),
        grows=takes.grows or takes.sized,
    )


def all_habits(chain: Chain) -> Iterator[Habits]:
    """What each placement and convention does with it that knows such operators."""
    found = (habits_of(name, chain) for name in (*PLACEMENTS, *all_conventions()))
    return (one for one in found if isinstance(one, Habits))
