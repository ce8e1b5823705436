"""How a convention pads one kind of operator: read from its layer, asked with numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onnxpad.errors import RequestError
from onnxpad.frameworks import rules
from onnxpad.frameworks.choices import Divisor, Fill, Layout, Role, Rounding
from onnxpad.frameworks.conventions import Convention, by_name_and_alias, find_named
from onnxpad.frameworks.layer import AxisCrop, Given, Layer, Mode, Pair
from onnxpad.frameworks.rules import full_extent, same_multiple
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Chain, Skip
from onnxpad.padding.operators import Kind
from onnxpad.runtimes.targets import is_target

PLACEMENTS = ("SAME_UPPER", "SAME_LOWER", "symmetric")
SYNONYMS = {"onnx-same-lower": "SAME_LOWER"}
_LAYERS = {
    Kind.CONVOLUTION: "conv",
    Kind.MAX: "max_pool",
    Kind.AVERAGE: "avg_pool",
    Kind.TRANSPOSED: "conv_transpose",
}
_TAKEN_NUMBERS = frozenset(Layout) - {Layout.FLAGS}
_KEEPS = frozenset({Rounding.DOWN, Rounding.UP})


@dataclass(frozen=True, slots=True)
class Habits:
    """What a convention can write for one kind of operator.

    `modes` pad by a name, the default first; `numbers` says that it takes as many cells at both
    sides, `any_numbers` any begin and end, `alike` that one number stands for both sides, which is
    a rule of its own where begin and end merely can be given. `roundings` are its ways to round
    pools, `divisors` None where they stay as they are.
    """

    name: str
    modes: tuple[Mode, ...]
    numbers: bool = False
    any_numbers: bool = False
    alike: bool = False
    roundings: frozenset[Rounding] = _KEEPS
    divisors: frozenset[Divisor] | None = None
    grows: bool = True

    def pads_three(self, begin: int, end: int) -> bool:
        """Whether one of its modes pads a window of three cells like this."""
        return (begin, end) in self.pairs(Axis(16, 3), 16)

    @property
    def has_strided_same(self) -> bool:
        """Whether a mode of its own gives ceil(size/stride) windows, whatever the stride."""
        axis, size = Axis(16, 3, 2), 16
        return any((size + sum(pair) - 3) // 2 + 1 == 8 for pair in self.pairs(axis, size))

    def pairs(self, axis: Axis, size: int) -> Iterator[Pair]:
        """What its modes pad on an axis of `size` cells, the default mode first."""
        sized = axis._replace(size=size)
        for mode in self.modes:
            if mode.pad_rule is None or (mode.undilated and axis.dilation > 1):
                continue
            try:
                yield mode.pad_rule(sized, Given())
            except RequestError:
                continue


def named_convention(name: str) -> Convention | str:
    """A convention by its name or alias, or one of SAME_UPPER, SAME_LOWER and symmetric.

    Raises RequestError for anything else, with the nearest, or with what writes for a runtime.
    """
    known: dict[str, Convention | str] = {**{one: one for one in PLACEMENTS}, **SYNONYMS}
    try:
        return find_named(name, known | by_name_and_alias())
    except RequestError:
        if not is_target(name):
            raise
    raise RequestError(
        f"'{name}' is a runtime, not a convention: 'onnxpad rewrite MODEL --target {name} -o OUT' "
        "writes the model for it"
    )


def habits_of(target: Convention | str, chain: Chain) -> Habits | Skip:
    """What a convention does with operators of the chain's kind."""
    if isinstance(target, str):
        return _placement(target)
    wanted = _LAYERS.get(chain.op.kind)
    layer = next((one for one in target.layers if one.op == wanted), None)
    if layer is None:
        return Skip(f"nothing is known of how {target.name} pads a {chain.op.kind}")
    if chain.rank not in layer.ranks:
        return Skip(f"{target.name} has no {chain.rank}-D {chain.op.kind}")
    return Habits(
        target.name,
        _modes(layer),
        numbers=_takes(layer, _TAKEN_NUMBERS),
        any_numbers=_takes(layer, _TAKEN_NUMBERS - {Layout.EACH}),
        alike=_takes(layer, frozenset({Layout.EACH})),
        roundings=_roundings(layer),
        divisors=_divisors(layer),
        grows=any(word.role in {Role.GROWTH, Role.EXTENT} for word in layer.words),
    )


def _placement(name: str) -> Habits:
    if name == "symmetric":
        return Habits(name, (), numbers=True)
    lower = name == "SAME_LOWER"
    rule = rules.same_lower if lower else rules.same_upper
    cut = _larger_half_first if lower else same_multiple
    return Habits(name, (Mode(rule, cut),), any_numbers=True)


def _larger_half_first(axis: Axis, size: int, _given: Given) -> AxisCrop:
    """size*stride cells; of what is too much, the larger half goes in front."""
    output = size * axis.stride
    return AxisCrop((max(0, full_extent(axis, size) - output) + 1) // 2, output)


def _modes(layer: Layer) -> tuple[Mode, ...]:
    """Modes that pad with zeros by themselves; what stands for no attribute at all comes last."""
    found: list[Mode] = []
    for word in layer.words:
        if word.role is Role.PADDING:
            named = [mode for mode in word.modes.values() if not mode.takes_numbers]
            first = next((m for key, m in word.modes.items() if key == word.default), None)
            found += sorted(named, key=lambda mode, first=first: mode is not first)  # type: ignore[misc]
    found.append(layer.number)
    plain = (rules.valid, rules.explicit)
    return tuple(
        mode for mode in found if mode.fill in (None, Fill.ZEROS) and mode.pad_rule not in plain
    )


def _takes(layer: Layer, layouts: frozenset[Layout]) -> bool:
    return any(
        word.role is Role.PADDING
        and (
            bool(layouts & set(word.layouts)) or (word.axis is not None and Layout.EACH in layouts)
        )
        for word in layer.words
    )


def _roundings(layer: Layer) -> frozenset[Rounding]:
    """Its word's choices; a layer that rounds up by itself keeps to that."""
    for word in layer.words:
        if word.role is Role.ROUNDING and layer.rounding is Rounding.DOWN:
            return frozenset(item for item in word.choices.values() if isinstance(item, Rounding))
    return frozenset({layer.rounding})


def _divisors(layer: Layer) -> frozenset[Divisor]:
    for word in layer.words:
        if word.role is Role.DIVISOR:
            return frozenset(item for item in word.choices.values() if isinstance(item, Divisor))
    return frozenset({layer.divisor})
