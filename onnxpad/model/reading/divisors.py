"""Which divisors of the model's dimensions make pads known that are computed from them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import copy

from onnxpad.errors import ModelError
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain, Unclear

_TRIED = (2, 4, 8, 16, 32, 64)
"""Divisors of images that networks halve; the last is tried first, for what it settles."""
_MOST_SITES = 2_000
Divisors = tuple[tuple[str, int], ...]


def settling_divisors(survey: Survey, given: Collection[str]) -> Divisors:
    """The smallest of these divisors that makes as many computed pads known as the largest does.

    Each is tried on the model itself; () where none helps, where there is nothing to help, where
    something is `given` of one of the dimensions already, and in models too large to be read again.
    """
    if len(survey.sites_now()) > _MOST_SITES:
        return ()
    roots = tuple(dict.fromkeys(root for one in _open_pads(survey) for root in one.roots))
    if not roots or any(root in given for root in roots):
        return ()
    before = _count(survey)
    least, most = 0, len(_TRIED) - 1
    left = _left(survey, roots, _TRIED[most])
    if left >= before:
        return ()
    while least < most:
        middle = (least + most) // 2
        if _left(survey, roots, _TRIED[middle]) > left:
            least = middle + 1
        else:
            most = middle
    return tuple((root, _TRIED[most]) for root in roots)


def hanging_on_sizes(chain: Chain) -> bool:
    """Whether pads of it are computed, from sizes alone."""
    return any(_hanging(chain))


def _hanging(chain: Chain) -> Iterator[Unclear]:
    for one in (chain.pad.unclear if chain.pad else None, chain.padding):
        if isinstance(one, Unclear) and one.roots:
            yield one


def _open_pads(survey: Survey) -> Iterator[Unclear]:
    for site in survey.sites_now():
        for chain in site.chains:
            yield from _hanging(chain)


def _count(survey: Survey) -> int:
    return sum(1 for _ in _open_pads(survey))


def _left(survey: Survey, roots: tuple[str, ...], divisor: int) -> int:
    """How many pads are open with this divisor of all of the dimensions."""
    known = copy(survey)
    try:
        known.learn(dict.fromkeys(roots, f"%{divisor}=0"))
    except ModelError:  # these sizes contradict the model
        return _count(survey)
    return _count(known)
