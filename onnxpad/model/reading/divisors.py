"""Which divisors of the model's dimensions make pads known that are computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import zip_longest
from math import lcm
from typing import NamedTuple

from onnxpad.errors import ModelError, RequestError
from onnxpad.geometry.size import Symbol
from onnxpad.geometry.size_fact import NOTHING_KNOWN, SizeFact, Told
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import any_integers
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain, Unclear
from onnxpad.padding.effective_pads import facts_text, rests_text, told_in
from onnxpad.padding.operators import Kind

_IMAGES = 64
"""What images of networks are divided by where their strides do not say it."""
_LARGEST = 1 << 12
_MOST_SITES = 2_000
_ROUNDS = 4


class Settling(NamedTuple):
    """Facts about dimensions that make computed pads known, and the model read with them.

    `facts` are those that are not known of the model already.
    """

    facts: tuple[tuple[str, SizeFact], ...]
    survey: Survey

    def hints(self, chain: Chain, before: Sequence[str]) -> tuple[str, ...]:
        """What to try at this chain beside `before`, where sizes agree with the facts."""
        known = {name: SizeFact.read(name, told) for name, told in self.survey.facts.items()}
        numbers = {
            hint: facts_text(
                [
                    (name, known.get(name, NOTHING_KNOWN).near(fact.rest))
                    for name, fact in told_in(hint).items()
                ]
            )
            for one in _hanging(chain)
            for hint in one.hints
            if hint.startswith("--dim")
        }
        return (*(numbers.get(hint, hint) for hint in before), rests_text(self.facts))


def settling_facts(survey: Survey) -> Settling | None:
    """Divisors of the dimensions that make the computed pads known.

    The product of the strides up to them, where that settles all, then what the model's own
    arithmetic divides by, and else what settles more of them. What is known of a dimension holds as
    well: of one that leaves 2 when it is divided by 4, what it leaves when it is divided by 8 is
    said. Each is tried on the model itself;
    None where none helps, where there is nothing to help, and in models too large to be read again.
    """
    before = _count(survey)
    if not before or len(survey.sites_now()) > _MOST_SITES:
        return None
    best: tuple[int, dict[str, int], Survey] | None = None
    strides = _strides_to_open_pads(survey)
    for factor in dict.fromkeys((1, _own_divisor(survey), _IMAGES)):
        divisors: dict[str, int] = {}
        known: Survey | None = survey
        for _ in range(_ROUNDS):  # behind pads that are known then, other dimensions may be read
            open_pads = _open_pads(known or survey)
            roots = dict.fromkeys(root for one in open_pads for root in one.roots)
            if roots.keys() <= divisors.keys():
                break
            divisors |= {root: lcm(strides.get(root, 1), factor) for root in roots}
            known = with_facts(survey, strengthened(survey.facts, divisors))
        if known is not None and _count(known) < (best[0] if best else before):
            best = _count(known), divisors, known
        if best and not best[0]:
            break
    if best is None:
        return None
    _, divisors, known = best
    said = strengthened(survey.facts, divisors)
    return Settling(tuple((root, SizeFact.read(root, told)) for root, told in said.items()), known)


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
    return any(_hanging(chain))


def is_computed(chain: Chain) -> bool:
    """Whether pads of it are computed and not known."""
    return any(_unclear(chain))


def _hanging(chain: Chain) -> Iterator[Unclear]:
    return (one for one in _unclear(chain) if one.of_sizes)


def _unclear(chain: Chain) -> Iterator[Unclear]:
    for one in (chain.pad.unclear if chain.pad else None, chain.padding):
        if isinstance(one, Unclear):
            yield one


def _open_pads(survey: Survey) -> Iterator[Unclear]:
    for site in survey.sites_now():
        yield from _hanging(site.chain)


def _count(survey: Survey) -> int:
    return sum(1 for _ in _open_pads(survey))


def _strides_to_open_pads(survey: Survey) -> dict[str, int]:
    """For each dimension the product of the strides up to computed pads, and of what they pad."""
    found: dict[str, int] = {}
    for context in survey.contexts:
        largest = _by_axis(context)
        for root, axis in _dimensions(context):
            stride = largest[axis] if 0 <= axis < len(largest) else max(largest, default=1)
            found[root] = lcm(found.get(root, 1), stride)
    return found


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


def _dimensions(context: Context) -> Iterator[tuple[str, int]]:
    """Open dimensions of inputs, and which of the axes behind the first two they are on."""
    for name in context.scope.input_places:
        for axis, size in enumerate(context.type_of(name).dims or ()):
            if isinstance(size, Symbol) and size.root:
                yield size.root, axis - 2


def _by_axis(context: Context) -> tuple[int, ...]:
    """The largest products of strides on a way to computed pads, by axis behind the first two."""
    passed: dict[str, tuple[int, ...]] = {}
    largest: tuple[int, ...] = ()
    for node in context.scope.nodes:
        product = _largest(passed[name] for name in node.inputs if name in passed)
        chain = context.chains.get(node.key)
        if chain and chain.op.kind not in (Kind.TRANSPOSED, Kind.FOLD):
            strides = [axis.stride for axis in chain.axes] or [1] * len(product)
            pairs = zip_longest(product[: len(strides)], strides, fillvalue=1)
            product = tuple(before * stride for before, stride in pairs)
            if is_computed(chain):
                largest = _largest((largest, product))
        if any(one > 1 for one in product):
            passed |= dict.fromkeys(node.outputs, product)
    return largest


def _largest(products: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """The largest of several, axis by axis."""
    found: tuple[int, ...] = ()
    for one in products:
        longer, other = (one, found) if len(one) > len(found) else (found, one)
        found = (*map(max, longer, other), *longer[len(other) :])
    return found
