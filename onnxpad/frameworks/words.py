"""Short ways to write down a framework's layers and their attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from onnxpad.frameworks.choices import Divisor, Fill, HowKnown, Layout, Role, Rounding, Special
from onnxpad.frameworks.layer import Layer, Mode, Word

_PLAIN: dict[str, tuple[Role, object]] = {
    "kernel": (Role.KERNEL, Special.REQUIRED),
    "weight": (Role.KERNEL, None),
    "stride": (Role.STRIDE, 1),
    "pool_stride": (Role.STRIDE, Special.KERNEL),
    "dilation": (Role.DILATION, 1),
    "groups": (Role.GROUPS, None),
    "growth": (Role.GROWTH, None),
    "extent": (Role.EXTENT, None),
    "override": (Role.OVERRIDE, None),
    "label": (Role.LABEL, None),
}


def named(**names: str) -> tuple[Word, ...]:
    """Attributes by what they mean, each a name and then its aliases.

    Left out, a `weight` (its kernel) and `groups` follow from the weight's shape, a `pool_stride`
    is the window's size, `growth` (cells that a transposed layer adds at the end), `extent` (its
    output size) and `override` (a divisor) are none. A `label` changes nothing.
    """
    found = []
    for meaning, name in names.items():
        first, *aliases = name.split()
        found.append(Word(first, *_PLAIN[meaning], tuple(aliases)))
    return tuple(found)


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


def layers(
    evidence: HowKnown,
    source: str = "",
    **alike: Any,  # noqa: ANN401 - Layer checks them
) -> Callable[..., Layer]:
    """A maker of layers that are known in one way, from an operator, words and fields by name."""
    known = {"evidence": evidence, "source": source, **alike}
    return lambda op, *words, **fields: Layer(op, words, **(known | fields))
