"""Where frameworks put padding: one file each, read by one engine; the folder is walked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from types import ModuleType

from onnxpad.frameworks.words import Layer, Rounding
from onnxpad.plugins import Plugins, name_of, text_of


class Placement(StrEnum):
    """How many cells stand on which side of an axis."""

    ODD_CELL_LAST = "SAME, the odd cell at the end"
    ODD_CELL_FIRST = "SAME, the odd cell at the begin"
    UNSTRIDED_SAME = "SAME of convolutions with stride 1, the odd cell at the end"
    BOTH_ALIKE = "as many cells at both sides"


@dataclass(frozen=True, slots=True)
class Habits:
    """What a framework can write; every framework can also leave padding out.

    `padded` and `unpadded` say how its pools round with and without padding, `counts` whether
    its averages may count padded cells. `half_a_window` says that its pools take no wider pads,
    `grows` that its transposed convolutions have output_padding.
    """

    placements: tuple[Placement, ...]
    padded: frozenset[Rounding]
    unpadded: frozenset[Rounding]
    counts: frozenset[bool]
    half_a_window: bool = False
    grows: bool = True


@dataclass(frozen=True, slots=True)
class Convention:
    """A framework: its layers in its own words, and its habits where they stand for a group.

    `habits` is set for the few that `inspect` tells apart; frameworks that pad alike leave it
    out. `name` and `text` come from the file.
    """

    source: str
    habits: Habits | None = None
    layers: tuple[Layer, ...] = ()
    aliases: tuple[str, ...] = ()
    name: str = ""
    text: str = ""


@cache
def all_conventions() -> dict[str, Convention]:
    """Every convention by its name, which is its file's with dashes."""
    return _CONVENTIONS.all()


@cache
def all_habits() -> dict[str, Habits]:
    """What `inspect` tells apart, by the convention's name."""
    found = ((name, item.habits) for name, item in all_conventions().items())
    return {name: habits for name, habits in found if habits is not None}


@cache
def _convention_in(module: ModuleType) -> Convention:
    found: Convention = module.CONVENTION
    return replace(found, name=name_of(module), text=text_of(module))


_CONVENTIONS = Plugins(__name__, "convention", _convention_in)
