"""A framework's attributes as numbers for each axis and choices that the engine knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from onnxpad.errors import RequestError
from onnxpad.frameworks import values
from onnxpad.frameworks.words import (
    Divisor,
    Fill,
    Given,
    Layer,
    Layout,
    Mode,
    Role,
    Rounding,
    Special,
    Word,
)

_C = TypeVar("_C")
_LEAST = {Role.KERNEL: 1, Role.STRIDE: 1, Role.DILATION: 1, Role.GROWTH: 0, Role.EXTENT: 1}


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked of a layer, in the engine's words; tuples hold one value for each axis."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    modes: tuple[Mode, ...]
    given: tuple[Given, ...]
    fill: Fill
    rounding: Rounding
    divisor: Divisor
    override: int | None
    groups: int | None


def read_wish(
    layer: Layer, attributes: Mapping[str, object], rank: int, kernel: tuple[int, ...] | None
) -> Wish:
    """Read a layer's attributes; `kernel` is the weight's, None where there is no weight.

    RequestError for unknown names (with the nearest), missing, wrong or contradicting values.
    """
    given = _by_word(layer, attributes)
    own = _numbers(layer, given, Role.KERNEL, rank, None)
    if own and kernel and own != kernel:
        raise RequestError(f"the kernel is {list(own)}, but the weight's is {list(kernel)}")
    window = own or kernel
    if window is None:
        raise RequestError(
            f"the kernel is missing: give {_where_kernel(layer)} (command line: --kernel K"
            f"{'' if layer.op.endswith('pool') else ', or --weight M,C,K'})"
        )
    ones = (1,) * rank
    modes, pads = _padding(layer, given, rank)
    growth = _numbers(layer, given, Role.GROWTH, rank, window)
    extent = _numbers(layer, given, Role.EXTENT, rank, window)
    return Wish(
        kernel=window,
        strides=_numbers(layer, given, Role.STRIDE, rank, window) or ones,
        dilations=_numbers(layer, given, Role.DILATION, rank, window) or ones,
        modes=modes,
        given=tuple(
            replace(
                pads[axis],
                growth=growth[axis] if growth else None,
                extent=extent[axis] if extent else None,
            )
            for axis in range(rank)
        ),
        fill=_fill(layer, given, modes),
        rounding=_rounding(layer, given, modes),
        divisor=_choice(layer, given, Role.DIVISOR, layer.divisor),
        override=_one(layer, given, Role.OVERRIDE),
        groups=_one(layer, given, Role.GROUPS),
    )


def _by_word(layer: Layer, attributes: Mapping[str, object]) -> dict[str, object]:
    """Values by the first name of their word, defaults filled in; labels are checked here."""
    names = {name: word for word in layer.words for name in word.names}
    found: dict[str, object] = {word.name: word.default for word in layer.words}
    seen: dict[str, str] = {}
    for name, value in attributes.items():
        if name not in names:
            raise RequestError(f"no attribute is called '{name}'{values.hint(name, dict(names))}")
        word = names[name]
        if word.name in seen:
            raise RequestError(f"'{seen[word.name]}' and '{name}' mean the same: give one")
        seen[word.name] = name
        if value is not None or None in word.choices:
            found[word.name] = value
    for word in layer.words:
        value = found[word.name]
        if value is Special.REQUIRED:
            raise RequestError(f"'{word.name}' is missing{_takes(word)}")
        if word.role is Role.LABEL and value is not None and word.choices:
            values.chosen(value, word.name, word.choices)
    return found


def _numbers(
    layer: Layer,
    given: Mapping[str, object],
    role: Role,
    rank: int,
    window: tuple[int, ...] | None,
) -> tuple[int, ...] | None:
    """The numbers of a role for each axis; words for single axes win over the one for all."""
    words = [word for word in layer.words if word.role is role]
    found: tuple[int, ...] | None = None
    for word in sorted(words, key=lambda word: word.axis is not None):
        value = given[word.name]
        if value is None:
            continue
        if word.axis is None:
            special = value is Special.KERNEL
            found = window if special else values.per_axis(value, word, rank, _LEAST[role])
        elif word.axis < rank:
            single = values.whole(value, word.name, _LEAST[role])
            held = list(found or (1,) * rank)
            held[word.axis] = single
            found = tuple(held)
    _whole_set(words, given, rank, role)
    return found


def _whole_set(words: list[Word], given: Mapping[str, object], rank: int, role: Role) -> None:
    """kernel_h without kernel_w and without kernel_size leaves an axis open."""
    plain = any(word.axis is None and given[word.name] is not None for word in words)
    single = [word for word in words if word.axis is not None and word.axis < rank]
    open_axes = [word.name for word in single if given[word.name] is None]
    if role is Role.KERNEL and single and not plain and 0 < len(open_axes) < len(single):
        raise RequestError(f"'{open_axes[0]}' is missing")


def _padding(
    layer: Layer, given: Mapping[str, object], rank: int
) -> tuple[tuple[Mode, ...], tuple[Given, ...]]:
    """The mode of each axis, and the numbers that it is given."""
    modes = (layer.number,) * rank
    pads: tuple[Given, ...] = (Given(),) * rank
    for word in layer.words:
        value = given[word.name]
        if word.role is not Role.PADDING or value is None:
            continue
        if word.axis is not None:
            if word.axis < rank:
                number = values.whole(value, word.name, 0)
                axis = Given((number, number))
                pads = tuple(axis if i == word.axis else pads[i] for i in range(rank))
        elif Layout.FLAGS in word.layouts:
            modes = tuple(word.modes[flag] for flag in values.flags(value, word, rank))
        elif isinstance(value, str) and not word.modes:
            raise RequestError(
                f"{word.name} is {value!r}, but no padding has a name here: give "
                f"{', or '.join(word.layouts)}"
            )
        elif isinstance(value, str) or not word.layouts:
            modes = (values.chosen(value, word.name, word.modes),) * rank
        else:
            pads = tuple(Given(pair) for pair in values.pads(value, word, rank))
    _only_one(layer, modes, pads)
    return modes, pads


def _only_one(layer: Layer, modes: tuple[Mode, ...], pads: tuple[Given, ...]) -> None:
    """Numbers that a mode would not look at are a contradiction, except zeros."""
    for mode, numbers in zip(modes, pads, strict=True):
        if mode is not layer.number and not mode.takes_numbers and any(numbers.pads or (0,)):
            raise RequestError(f"explicit padding {list(numbers.pads or ())} next to a mode")


def _fill(layer: Layer, given: Mapping[str, object], modes: tuple[Mode, ...]) -> Fill:
    own = next((mode.fill for mode in modes if mode.fill is not None), None)
    return own or _choice(layer, given, Role.FILL, Fill.ZEROS)


def _rounding(layer: Layer, given: Mapping[str, object], modes: tuple[Mode, ...]) -> Rounding:
    own = next((mode.rounding for mode in modes if mode.rounding is not None), None)
    return own or _choice(layer, given, Role.ROUNDING, layer.rounding)


def _choice(layer: Layer, given: Mapping[str, object], role: Role, default: _C) -> _C:
    """What the word of a role chooses."""
    for word in layer.words:
        if word.role is role and (given[word.name] is not None or None in word.choices):
            found = values.chosen(given[word.name], word.name, word.choices)
            if not isinstance(found, type(default)):
                raise RequestError(f"{word.name}={given[word.name]!r}: {found}")
            return found
    return default


def _one(layer: Layer, given: Mapping[str, object], role: Role) -> int | None:
    for word in layer.words:
        if word.role is role and given[word.name] is not None:
            return values.whole(given[word.name], word.name, 1)
    return None


def _takes(word: Word) -> str:
    named = [repr(name) for name in (*word.modes, *word.choices)]
    return f": it is one of {', '.join(named)}" if named else ""


def _where_kernel(layer: Layer) -> str:
    own = [word.name for word in layer.words if word.role is Role.KERNEL]
    return " and ".join(own) if own else "weight_shape, its kernel last"
