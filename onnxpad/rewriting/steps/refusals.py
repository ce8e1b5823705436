"""Refusals of passes: a step that cannot go on raises one, and the pass gives its Skip."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, ParamSpec, TypeVar

from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.effective_pads import effective_pads, short_axis

T = TypeVar("T")
P = ParamSpec("P")


class Refused(Exception):
    """Why a pass leaves a chain as it is."""

    def __init__(self, skip: Skip) -> None:
        super().__init__(skip.reason)
        self.skip = skip


def refuse(reason: str, *hints: str, moot: bool = False) -> NoReturn:
    """Leave the chain as it is."""
    raise Refused(Skip(reason, hints, moot=moot))


def require(holds: object, reason: str, *hints: str, moot: bool = False) -> None:
    """Leave the chain as it is unless this holds."""
    if not holds:
        refuse(reason, *hints, moot=moot)


def known(value: T | Skip | None) -> T:
    """What a question came to; leaves the chain as it is where that is a Skip."""
    if isinstance(value, Skip):
        raise Refused(value)
    return value  # type: ignore[return-value] # None where nothing speaks against it


def attempted(step: Callable[P, T], *asked: P.args, **named: P.kwargs) -> T | Skip:
    """What a step gives, or why it refuses."""
    try:
        return step(*asked, **named)
    except Refused as refused:
        return refused.skip


def own_pads(chain: Chain) -> Pads:
    """The effective pads. Refuses if they are unknown or the padded input is below one window."""
    pads = known(effective_pads(chain))
    known(short_axis(chain, pads))
    return pads


def require_windows(chain: Chain) -> None:
    """Leave an input alone that is too short for a window, as far as the pads are known."""
    if isinstance(pads := effective_pads(chain), Pads):
        known(short_axis(chain, pads))


def require_type(chain: Chain) -> None:
    """Leave alone what a new constant would have no element type for."""
    require(chain.dtype, "the element type of its input is not known")


def require_pads(pads: Pads) -> None:
    """Leave alone pads that crop."""
    reason = f"the pads {list(pads.flat)} are negative, onnxruntime and the checker refuse"
    require(min(pads.flat, default=0) >= 0, reason)
