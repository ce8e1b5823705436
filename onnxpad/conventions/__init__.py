"""Where frameworks put padding: one file each, read by one engine; the folder is walked."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module

from onnxpad.chain import AutoPad, Chain, Pads
from onnxpad.errors import InternalError
from onnxpad.geometry.axis import Axis, output_size
from onnxpad.geometry.same import same_pads
from onnxpad.geometry.size import Size, ceil_divide, plus
from onnxpad.geometry.transposed import same_crop
from onnxpad.ops import Kind

ANY = "any"


class Placement(StrEnum):
    """On which side of an axis the padding stands."""

    ODD_CELL_LAST = "SAME, the odd cell at the end"
    ODD_CELL_FIRST = "SAME, the odd cell at the begin"
    BOTH_ALIKE = "both sides alike"


class Rounding(StrEnum):
    """How many windows a pool has where they do not end at the border."""

    DOWN = "down"
    UP = "up, without windows that start in the end padding"
    UP_ALL = "up, with all windows"


@dataclass(frozen=True, slots=True)
class Convention:
    """What a framework can write, per axis.

    `roundings` is what its pools do with and without padding; `counts` whether its averages may
    count padded cells. `widest` bounds a pool's pad in parts of the dilated kernel. `dilates`
    says whether its pools have dilations, `grows` whether a transposed convolution has
    output_padding.
    """

    name: str
    text: str
    placements: tuple[Placement, ...]
    padded: frozenset[Rounding]
    unpadded: frozenset[Rounding]
    counts: frozenset[bool]
    source: str
    widest: float = 1.0
    dilates: bool = True
    grows: bool = True


@cache
def all_conventions() -> dict[str, Convention]:
    """Every convention by its name, which is its file's with dashes."""
    found = {}
    for file in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        module = import_module(f"{__name__}.{file}")
        try:
            facts = {name.lower(): getattr(module, name) for name in module.FACTS}
        except AttributeError as error:
            raise InternalError(f"convention file '{file}.py' lacks {error.name}") from error
    return found
