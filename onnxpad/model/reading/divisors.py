"""Which divisors of the model's dimensions make pads known that are computed from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from copy import copy

from onnxpad.errors import ModelError, RequestError
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import NodeId
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain, Unclear
from onnxpad.padding.operators import Kind

_TRIED = (2, 4, 8, 16, 32, 64)
"""Divisors of images that networks halve; the last is tried first, for what it settles."""
_MOST_SITES = 2_000
Divisors = tuple[tuple[str, int], ...]


def settling_divisors(survey: Survey, given: Collection[str]) -> Divisors:
    """The divisor of the dimensions that makes the computed pads known.

    The product of the strides up to them, where that settles all; else the smallest of those tried
    that settles as many as the largest. Each is tried on the model itself; () where none helps,
    where there is nothing to help, where something is `given` of one of the dimensions already, and
    in models too large to be read again.
    """
    if len(survey.sites_now()) > _MOST_SITES:
        return ()
    roots = tuple(dict.fromkeys(root for one in _open_pads(survey) for root in one.roots))
    if not roots or any(root in given for root in roots):
        return ()
    strides = max(map(_strides_to_open_pads, survey.contexts))
    if strides > 1 and not _left(survey, roots, strides):
        return tuple((root, strides) for root in roots)
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


def settled_by(survey: Survey, divisors: Divisors, open_chains: Iterable[Chain]) -> set[NodeId]:
    """Nodes with computed pads that these divisors of its dimensions make known.

    Where all of `open_chains` hang on named sizes, the divisors were found for them. Others are
    computed from sizes that nothing tells, which follow from those: the model is read again then.
    """
    sites = [site for site in survey.sites_now() if any(map(is_computed, site.chains))]
    if all(map(hanging_on_sizes, open_chains)):
        return {site.address.id for site in sites if any(map(hanging_on_sizes, site.chains))}
    known = copy(survey)
    known.learn(_facts(divisors))
    after = known.sites_at([site.address.id for site in sites])
    return {site.address.id for site in after if not any(map(is_computed, site.chains))}


def is_computed(chain: Chain) -> bool:
    """Whether pads of it are computed and not known."""
    return any(_unclear(chain))


def _facts(divisors: Divisors) -> dict[str, int | str]:
    return {root: f"%{divisor}=0" for root, divisor in divisors}


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


def _left(survey: Survey, roots: tuple[str, ...], divisor: int) -> int:
    """How many pads are open with this divisor of all of the dimensions."""
    known = copy(survey)
    try:
        known.learn(_facts(tuple((root, divisor) for root in roots)))
    except (ModelError, RequestError):  # these sizes contradict the model
        return _count(survey)
    return _count(known)
