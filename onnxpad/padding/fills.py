"""What a padded cell contributes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Constant:
    """A padded cell that holds one known number."""

    value: float | int

    def __str__(self) -> str:
        return f"{self.value:g}" if isinstance(self.value, float) else str(self.value)


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A padded cell that holds the value of a scalar tensor, known or not."""

    tensor: str
    value: float | int | None = None

    def __str__(self) -> str:
        return f"the value of '{self.tensor}'" if self.value is None else f"{self.value:g}"


class Implicit(StrEnum):
    """Padded cells that are no number."""

    LOWEST = "the lowest value"
    NOTHING = "nothing (padded cells are not counted)"
    PER_CHANNEL = "one value per channel"


Fill: TypeAlias = Constant | TensorValue | Implicit


def number_of(fill: Fill) -> float | int | None:
    """The number that a padded cell holds, None where it is not known or none."""
    return fill.value if isinstance(fill, Constant | TensorValue) else None


_LOWEST = {
    "float16": (-math.inf, -65504.0),
    "bfloat16": (-math.inf, -3.3895313892515355e38),
    "float32": (-math.inf, -3.4028234663852886e38),
    "float64": (-math.inf, -1.7976931348623157e308),
    "int8": (-128,),
    "uint8": (0,),
    "int16": (-(2**15),),
    "uint16": (0,),
    "int32": (-(2**31),),
    "uint32": (0,),
    "int64": (-(2**63),),
    "uint64": (0,),
}


def lowest(dtype: str) -> tuple[float | int, ...]:
    """Values that never win a maximum in `dtype`, the preferred one first; empty if unknown."""
    return _LOWEST.get(dtype, ())


def largest(dtype: str) -> float:
    """The largest finite number of a floating-point type; infinity if unknown."""
    return -_LOWEST[dtype][-1] if "float" in dtype and dtype in _LOWEST else math.inf
