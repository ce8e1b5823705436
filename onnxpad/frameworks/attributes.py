"""Short ways to write down the attributes of a framework."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onnxpad.frameworks.layer import Divisor, Fill, Layout, Mode, Role, Rounding, Special, Word


def kernel(name: str, *aliases: str, default: object = Special.REQUIRED) -> Word:
    """The size of the window; a convolution's may come from its weight instead (default None)."""
    return Word(name, Role.KERNEL, default, aliases)


def stride(name: str, *aliases: str, default: object = 1) -> Word:
    """The stride; `Special.KERNEL` as default stands for the window's size."""
    return Word(name, Role.STRIDE, default, aliases)


def dilation(name: str, *aliases: str) -> Word:
    """The dilation, 1 where it is left out."""
    return Word(name, Role.DILATION, 1, aliases)


def groups(name: str, *aliases: str) -> Word:
    """The number of groups; left out, the weight's shape says it."""
    return Word(name, Role.GROUPS, None, aliases)


def growth(name: str, *aliases: str) -> Word:
    """Cells that a transposed layer adds at the end."""
    return Word(name, Role.GROWTH, None, aliases)


def extent(name: str, *aliases: str, default: object = None) -> Word:
    """The output size of a transposed layer."""
    return Word(name, Role.EXTENT, default, aliases)


def override(name: str) -> Word:
    """A divisor of averages."""
    return Word(name, Role.OVERRIDE, None)


def label(name: str, *choices: object) -> Word:
    """An attribute that changes nothing; without choices it may be anything."""
    return Word(name, Role.LABEL, None, choices=dict.fromkeys(choices, name))


def flag(name: str) -> Word:
    """A switch that changes nothing."""
    return Word(name, Role.LABEL, None, choices={True: name, False: name})


def rounding(name: str, choices: Mapping[Any, Rounding | str], *, default: object = False) -> Word:
    """How windows are counted; a text as choice is the reason to refuse it."""
    return Word(name, Role.ROUNDING, default, choices=dict(choices))


def divisor(name: str, choices: Mapping[Any, Divisor], *, default: object) -> Word:
    """What averages divide by."""
    return Word(name, Role.DIVISOR, default, choices=dict(choices))


def fill(name: str, choices: Mapping[Any, Fill], *, default: object) -> Word:
    """What padded cells hold."""
    return Word(name, Role.FILL, default, choices=dict(choices))


def padding(
    name: str,
    *layouts: Layout,
    modes: Mapping[Any, Mode] | None = None,
    default: object = None,
    aliases: tuple[str, ...] = (),
    negative: bool = False,
) -> Word:
    """Where cells stand: names of modes, numbers in these layouts, or both."""
    return Word(
        name,
        Role.PADDING,
        default,
        aliases,
        modes=dict(modes or {}),
        layouts=layouts,
        negative=negative,
    )


def by_axis(role: Role, *names: str) -> tuple[Word, ...]:
    """One attribute for each axis, such as kernel_h and kernel_w."""
    return tuple(Word(name, role, None, axis=axis) for axis, name in enumerate(names))
