"""Which divisors of the model's dimensions make pads known that are computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from math import lcm

from onnxpad.errors import ModelError, RequestError
from onnxpad.geometry.size_fact import NOTHING_KNOWN, SizeFact, Told
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import constant_integers
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain, Unclear
from onnxpad.padding.operators import Kind

_LARGEST = 1 << 12
_MOST_SITES = 2_000


def settling_facts(survey: Survey) -> tuple[tuple[str, SizeFact], ...]:
    """Divisors of the dimensions that make computed pads known, with what is known of these.

    The product of the strides up to them; where more are known then, times what the model's own
    arithmetic divides by. () where neither helps, and in models too large to be read again.
    """
    open_pads = _open_pads(survey)
    roots = dict.fromkeys(root for one in open_pads for root in one.roots)
    if not roots or len(survey.sites_now()) > _MOST_SITES:
        return ()
    best: tuple[tuple[str, SizeFact], ...] = ()
    fewest = len(open_pads)
    strides = max(map(_strides_to_open_pads, survey.contexts), default=1)
    for divisor in dict.fromkeys((strides, lcm(strides, _own_divisor(survey)))):
        facts, known = strengthened(survey.facts, dict.fromkeys(roots, divisor)), copy(survey)
        try:
            known.learn(facts)
        except (ModelError, RequestError):
            continue
        if (left := len(_open_pads(known))) < fewest:
            best = tuple((root, SizeFact.read(root, told)) for root, told in facts.items())
            fewest = left
    return best


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
                for number in constant_integers(context, node.inputs[1]) or ():
                    both = lcm(divisor, abs(number) or 1)
                    divisor = both if both <= _LARGEST else divisor
    return divisor
