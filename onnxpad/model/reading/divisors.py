"""Which divisors of the model's dimensions make pads known that are computed from them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import copy
from typing import NamedTuple

from onnxpad.errors import ModelError, RequestError
from onnxpad.model.graph.context import Context
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain, Unclear
from onnxpad.padding.operators import Kind

_TRIED = (2, 4, 8, 16, 32, 64)
"""Divisors of images that networks halve; the last is tried first, for what it settles."""
_MOST_SITES = 2_000
Divisors = tuple[tuple[str, int], ...]


class Settling(NamedTuple):
    """Divisors of dimensions that make computed pads known, and the model read with them."""

    divisors: Divisors
    survey: Survey


def settling_divisors(survey: Survey, given: Collection[str]) -> Settling | None:
    """The divisor of the dimensions that makes the computed pads known.

    The product of the strides up to them, where that settles all; else the smallest of those tried
    that settles as many as the largest. Each is tried on the model itself; None where none helps,
    where there is nothing to help, where something is `given` of one of the dimensions already, and
    in models too large to be read again.
    """
    if len(survey.sites_now()) > _MOST_SITES:
        return None
    roots = tuple(dict.fromkeys(root for one in _open_pads(survey) for root in one.roots))
    if not roots or any(root in given for root in roots):
        return None
    strides = max(map(_strides_to_open_pads, survey.contexts))
    found = _tried(survey, roots, strides) if strides > 1 else None
    if found and not _count(found.survey):
        return found
    found = _tried(survey, roots, _TRIED[-1])
    left = _count(found.survey) if found else 0
    if found is None or left >= _count(survey):
        return None
    least, most = 0, len(_TRIED) - 1
    while least < most:
        middle = (least + most) // 2
        smaller = _tried(survey, roots, _TRIED[middle])
        if smaller is None or _count(smaller.survey) > left:
            least = middle + 1
        else:
            most, found = middle, smaller
    return found


def hanging_on_sizes(chain: Chain) -> bool:
    """Whether pads of it are computed, from sizes alone."""
    return any(_hanging(chain))


def is_computed(chain: Chain) -> bool:
    """Whether pads of it are computed and not known."""
    return any(_unclear(chain))


def _hanging(chain: Chain) -> Iterator[Unclear]:
    return (one for one in _unclear(chain) if one.roots)


def _unclear(chain: Chain) -> Iterator[Unclear]:
    for one in (chain.pad.unclear if chain.pad else None, chain.padding):
        if isinstance(one, Unclear):
            yield one


def _open_pads(survey: Survey) -> Iterator[Unclear]:
    for site in survey.sites_now():
        for chain in site.chains:
            yield from _hanging(chain)


def _strides_to_open_pads(context: Context) -> int:
    """The largest product of strides on a way to computed pads, with those of what they pad."""
    passed: dict[str, int] = {}
    largest = 1
    for node in context.scope.nodes:
        product = max((passed.get(name, 1) for name in node.inputs), default=1)
        chain = context.chains.get(node.key)
        if chain and chain.op.kind not in (Kind.TRANSPOSED, Kind.FOLD):
            product *= max((axis.stride for axis in chain.axes), default=1)
            if is_computed(chain):
                largest = max(largest, product)
        if product > 1:
            passed |= dict.fromkeys(node.outputs, product)
    return largest


def _count(survey: Survey) -> int:
    return sum(1 for _ in _open_pads(survey))


def _tried(survey: Survey, roots: tuple[str, ...], divisor: int) -> Settling | None:
    """The model with this divisor of all of the dimensions; None where that contradicts it."""
    known = copy(survey)
    try:
        known.learn(dict.fromkeys(roots, f"%{divisor}=0"))
    except (ModelError, RequestError):
        return None
    return Settling(tuple((root, divisor) for root in roots), known)
