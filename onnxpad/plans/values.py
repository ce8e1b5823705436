"""Values of a plan that somebody may have written by hand: checked, and shown in messages."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from reprlib import Repr
from typing import Any, TypeAlias

from onnxpad.errors import RequestError

Settings: TypeAlias = Mapping[str, Any]
_WIDEST = 2**20
_SHORT = Repr()
_SHORT.maxlist = _SHORT.maxtuple = 12
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 60


def shown(value: object) -> str:
    """The value as Python writes it, cut where it is long."""
    return _SHORT.repr(value)


def numbers(
    settings: Settings, name: str, count: int, *, least: int | None, where: str = ""
) -> tuple[int, ...]:
    """`count` integers, `least` or more each; RequestError for anything else.

    `where` stands in front of the name in messages.
    """
    value, name = settings.get(name), f"{where}{name}"
    if value is None:
        raise RequestError(f"{name} is missing: give a list of {count} integers")
    if not isinstance(value, list | tuple) or any(
        isinstance(one, bool) or not isinstance(one, int) for one in value
    ):
        raise RequestError(f"{name} is {shown(value)}, but is a list of {count} integers")
    if len(value) != count:
        has = f"{len(value)} number{'' if len(value) == 1 else 's'}"
        raise RequestError(
            f"{name} has {has}, but needs {count}: the begin of each axis, then the end of each"
            if name.endswith("pads")
            else f"{name} has {has}, but needs {count}, one for each axis"
        )
    if least is not None and any(one < least for one in value):
        raise RequestError(f"{name} is {shown(list(value))}: numbers below {least} are not taken")
    if any(abs(one) > _WIDEST for one in value):
        raise RequestError(
            f"{name} is {shown(list(value))}: more than {_WIDEST} cells are not taken"
        )
    return tuple(value)


def flag(settings: Settings, name: str) -> bool:
    """0 or 1; RequestError for anything else."""
    value = settings[name]
    if not isinstance(value, int) or value not in (0, 1):
        raise RequestError(f"{name} is {shown(value)}, but is 0 or 1")
    return bool(value)


def fill(value: object) -> float | int:
    """What a Pad node fills in: a number, or the lowest one as '-inf'."""
    if value == "-inf":
        return -math.inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RequestError(f"pad_node has value {shown(value)}, which is no number and not '-inf'")
    if not (value == -math.inf or abs(value) <= sys.float_info.max):
        raise RequestError(f"pad_node has value {shown(value)}: give a number, or '-inf'")
    return value
