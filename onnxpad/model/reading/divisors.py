"""Which divisors of the model's dimensions make pads known that are computed from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from math import lcm

from onnxpad.errors import ModelError, RequestError
from onnxpad.geometry.size_fact import NOTHING_KNOWN, SizeFact, Told
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import any_integers
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain, Unclear
from onnxpad.padding.effective_pads import rests_text
from onnxpad.padding.operators import Kind

_LARGEST = 1 << 12
_MOST_SITES = 2_000
_ROUNDS = 4


def settling_facts(survey: Survey) -> tuple[tuple[str, SizeFact], ...]:
    """Divisors of the dimensions that make the computed pads known.

    The product of the strides up to them, or with what the model's own arithmetic divides by where
    that settles more. What is known of a dimension holds as well. None where neither helps, and in
    models too large to be read again.
    """
    fewest = len(_open_pads(survey))
    if not fewest or len(survey.sites_now()) > _MOST_SITES:
        return ()
    best: tuple[tuple[str, SizeFact], ...] = ()
    strides = max(map(_strides_to_open_pads, survey.contexts), default=1)
    for factor in dict.fromkeys((1, _own_divisor(survey))):
        divisors: dict[str, int] = {}
        known: Survey | None = survey
        for _ in range(_ROUNDS):  # behind pads that are known then, other dimensions may be read
            open_pads = _open_pads(known or survey)
            roots = dict.fromkeys(root for one in open_pads for root in one.roots)
            if roots.keys() <= divisors.keys():
                break
            divisors |= dict.fromkeys(roots, lcm(strides, factor))
            known = with_facts(survey, strengthened(survey.facts, divisors))
        left = fewest if known is None else len(_open_pads(known))
        if known is not None and left < fewest:
            stronger = strengthened(survey.facts, divisors).items()
            best = tuple((root, SizeFact.read(root, told)) for root, told in stronger)
            fewest = left
        if not fewest:
            break
    return best


def hints_beside(before: Sequence[str], facts: Sequence[tuple[str, SizeFact]]) -> tuple[str, ...]:
    """What to try: `before`, and facts that settle computed pads."""
    return (*before, rests_text(facts))


def strengthened(facts: Mapping[str, Told], divisors: Mapping[str, int]) -> dict[str, Told]:
    """Facts that say what sizes leave by these divisors, and what was known of them before.

    Only those that say more than that.
    """
    found: dict[str, Told] = {}
    for root, divisor in divisors.items():
        own = SizeFact.read(root, facts[root]) if root in facts else NOTHING_KNOWN
        if (both := own.stronger(divisor)) != own:
            found[root] = both.told
    return found


def with_facts(survey: Survey, facts: Mapping[str, Told]) -> Survey | None:
    """The model read with more known of its dimensions; None where that contradicts it."""
    known = copy(survey)
    try:
        known.learn(facts)
    except (ModelError, RequestError):
        return None
    return known


def hanging_on_sizes(chain: Chain) -> bool:
    """Whether pads of it are computed, from sizes alone."""
    return any(one.of_sizes for one in _unclear(chain))


def _unclear(chain: Chain) -> list[Unclear]:
    pads = (chain.pad.unclear if chain.pad else None, chain.padding)
    return [one for one in pads if isinstance(one, Unclear)]


def _open_pads(survey: Survey) -> list[Unclear]:
    """The computed pads that hang on sizes alone."""
    chains = (site.chain for site in survey.sites_now())
    return [one for chain in chains for one in _unclear(chain) if one.of_sizes]


def _strides_to_open_pads(context: Context) -> int:
    """The largest product of strides on a way to computed pads, of their own operators too."""
    passed: dict[str, int] = {}
    largest = 1
    for node in context.scope.nodes:
        product = max((passed.get(name, 1) for name in node.inputs), default=1)
        chain = context.chains.get(node.key)
        if chain and chain.op.kind is not Kind.TRANSPOSED:
            product *= lcm(*(axis.stride for axis in chain.axes))
            if _unclear(chain):
                largest = max(largest, product)
        if product > 1:
            passed |= dict.fromkeys(node.outputs, product)
    return largest


def _own_divisor(survey: Survey) -> int:
    """What the model itself divides whole numbers by, as a window's size, in one number."""
    divisor = 1
    for context in survey.contexts:
        for node in context.scope.nodes:
            if node.op_type in ("Div", "Mod") and len(node.inputs) > 1:
                for number in any_integers(context, node.inputs[1]) or ():
                    both = lcm(divisor, abs(number) or 1)
                    divisor = both if both <= _LARGEST else divisor
    return divisor
