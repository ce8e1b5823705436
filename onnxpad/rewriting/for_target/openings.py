"""What would let a target take nodes for which there is no way: facts about sizes, each tried.

It is tried as a user would: the model is rewritten with them, and what is left is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import lcm
from typing import NamedTuple

from onnxpad.geometry.size import Size, Symbol
from onnxpad.geometry.size_fact import Told
from onnxpad.model.graph.nodes import Address
from onnxpad.model.reading.divisors import settling_facts, strengthened, with_facts
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain, Skip
from onnxpad.padding.effective_pads import effective_pads, settling
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay, Opening

DimFacts = dict[str, Told]
_ROUNDS = 4
_FEWER = 12
"""How often smaller divisors are tried, at most."""
_NODES_TRIED, _NODES_TRIED_IN_DOUBT = 3_000, 600
"""Nodes of all the models together that are rewritten for that, less where most do not help."""
_SMALL_PRIMES = (2, 3, 5, 7)
"""What strides are made of."""


class Tried(NamedTuple):
    """What a rewrite comes to that is told more: nodes that are left, why, and the ways of others.

    `writes` says that it writes the model.
    """

    left: Mapping[Address, str]
    ways: Mapping[Address, tuple[str, ...]]
    writes: bool


Try = Callable[[DimFacts], Tried | None]
"""A rewrite with these facts as well; None where they contradict the model."""


class _Candidate(NamedTuple):
    """Facts to try; smaller `divisors` are tried behind them, none below those of `least`.

    Without `least` the divisors make pads known, and few targets take nodes whose pads are not.
    """

    facts: DimFacts
    divisors: Mapping[str, int] = {}
    least: Mapping[str, int] | None = None


def opening(survey: Survey, found: Sequence[NodeVerdict], trying: Try) -> Opening:
    """What settles most of the nodes of `found` that have no way: as little as does."""
    stuck = {one.node for one in found if isinstance(one.way, NoWay)}
    granted = sum(1 for one in found if isinstance(one.way, NoWay) and one.waits_for_knowledge)
    best = Opening(len(stuck), granted=granted)
    hopeful = [one for one in found if isinstance(one.way, NoWay) and _may_hang_on_sizes(one)]

    def attempt(facts: DimFacts) -> Opening | None:
        tried = trying(facts)
        if tried is None or not tried.left.keys() <= stuck:
            return None
        settled = {one.node for one in hopeful} - tried.left.keys()
        ways = tuple((one, tried.ways.get(one, ())) for one in settled)
        told = tuple(facts.items())
        return Opening(
            len(stuck), told, len(settled), granted, tried.left, ways, writes=tried.writes
        )

    known: list[DimFacts] = []
    for one in _candidates(survey, hopeful) if hopeful else ():
        if not one.facts or one.facts in known:
            continue
        known.append(one.facts)
        came_to = attempt(one.facts)
        if came_to is None:
            continue
        if came_to.settled > best.settled:
            best = _lessened(survey, one, came_to, attempt)
        if came_to.writes or best.settled == len(hopeful):
            break
    return best


def _lessened(
    survey: Survey,
    candidate: _Candidate,
    best: Opening,
    attempt: Callable[[DimFacts], Opening | None],
) -> Opening:
    """The same with smaller divisors that settle as much: of all sizes at once, then of each."""
    nodes = sum(len(one.scope.nodes) for one in survey.contexts)
    most = _NODES_TRIED_IN_DOUBT if candidate.least is None else _NODES_TRIED
    divisors, tries = dict(candidate.divisors), min(_FEWER, most // max(1, nodes))
    primes = [prime for prime in _SMALL_PRIMES if any(not d % prime for d in divisors.values())]
    steps = [(prime, names) for prime in primes for names in (divisors, *([o] for o in divisors))]
    for prime, names in steps:
        while tries:
            fewer = divisors | {one: _without(prime, one, divisors, candidate) for one in names}
            if fewer == divisors:
                break
            tries -= 1
            others = {name: told for name, told in best.facts if name not in divisors}
            found = attempt(others | strengthened(survey.facts, fewer))
            if found is None or found.settled < best.settled or found.writes < best.writes:
                break
            best, divisors = found, fewer
    return best


def _without(prime: int, name: str, divisors: Mapping[str, int], candidate: _Candidate) -> int:
    """A divisor without a prime, where it stays one of what is asked for at least."""
    divisor, least = divisors[name], (candidate.least or {}).get(name, 1)
    fewer = divisor // prime
    return fewer if not divisor % prime and not fewer % least else divisor


def _may_hang_on_sizes(verdict: NodeVerdict) -> bool:
    """Whether facts may help: not where the operator is lacking in every form, or untested."""
    found = verdict.judgement
    is_untested = found.answer.is_open and not found.rows and not found.settled_by
    return not (verdict.brought_by or found.is_blanket or is_untested)


def _candidates(survey: Survey, hopeful: Sequence[NodeVerdict]) -> Iterator[_Candidate]:
    """Facts about dimensions, those that say least first: what the padding hangs on, then more."""
    nodes = {one.node for one in hopeful}
    divisors, batches, known = _settled_sizes(survey, nodes)
    rests = batches | strengthened(survey.facts, divisors)
    chains = _chains(known, nodes)
    sizes = list(_first_sizes(survey, chains, nodes))
    if not all(isinstance(size, int) or [*_batches([size])] for size in sizes):
        sizes += _first_of_inputs(survey)  # what a Reshape to [-1, ...] makes may be one of them
    items = [size.root for size in _batches(sizes) if size.root and size.root not in rests]
    batch: DimFacts = dict.fromkeys(items, 1)
    asked = {b.name: 1 for one in hopeful for b in one.open_batches if b.name not in rests}
    first: DimFacts = {name: 1 for name in asked if name in batch}
    yield _Candidate(first | rests, divisors)
    yield _Candidate(batch | rests, divisors)
    moduli = _joined((*divisors.items(), *_moduli(chains)))
    strong = batches | strengthened(survey.facts, moduli)
    yield _Candidate(batch | strong, moduli, divisors)
    yield _Candidate(_numbers(survey, batch, moduli))


def _settled_sizes(
    survey: Survey, nodes: Collection[Address]
) -> tuple[dict[str, int], DimFacts, Survey]:
    """What makes the pads of these nodes known: divisors, batches of 1, and the model read so.

    Where some are known, the sizes behind them are, and pads that hang on these may ask for more.
    """
    found: dict[str, int] = {}
    batches: DimFacts = {}
    known = survey
    for _ in range(_ROUNDS):
        pads = [effective_pads(chain) for chain in _chains(known, nodes)]
        rests, _ = settling([one for one in pads if isinstance(one, Skip)])
        settled = settling_facts(known)
        rests += settled.facts if settled else ()
        asked = {name: fact.rest for name, fact in rests if not fact.divisor} | batches
        joined = _joined((*found.items(), *((name, f.divisor) for name, f in rests if f.divisor)))
        facts = asked | strengthened(survey.facts, joined)
        if (joined, asked) == (found, batches) or (read := with_facts(survey, facts)) is None:
            break
        found, batches, known = joined, asked, read
    return found, batches, known


def _chains(survey: Survey, nodes: Collection[Address]) -> list[Chain]:
    return [chain for site in survey.sites_now() if site.address in nodes for chain in site.chains]


def _first_sizes(
    survey: Survey, chains: Sequence[Chain], nodes: Collection[Address]
) -> Iterator[Size | None]:
    """What stands where a batch does in front of these nodes, those without padding as well."""
    yield from ((chain.shape or (None,))[0] for chain in chains)
    ids = {one.id for one in nodes}
    for context in survey.contexts:
        for node in context.scope.ordered():
            if (context.scope.id, node.key) in ids and node.inputs:
                yield (context.type_of(node.inputs[0]).dims or (None,))[0]


def _first_of_inputs(survey: Survey) -> Iterator[Size | None]:
    main = survey.contexts[0]
    for name in main.scope.input_places:
        yield (main.type_of(name).dims or (None,))[0]


def _batches(sizes: Iterable[Size | None]) -> Iterator[Symbol]:
    for size in sizes:
        if isinstance(size, Symbol) and size.divisor == 1 and not size.offset:
            yield size


def _joined(moduli: Iterable[tuple[str, int]]) -> dict[str, int]:
    """What all divisors of a size divide."""
    found: dict[str, int] = {}
    for root, modulus in moduli:
        found[root] = lcm(found.get(root, 1), modulus)
    return found


def _moduli(chains: Sequence[Chain]) -> Iterator[tuple[str, int]]:
    """For open sizes that operators slide along, the product of the strides behind them."""
    for axis in (axis for chain in chains for axis in chain.axes):
        if isinstance(axis.size, Symbol) and axis.size.root:
            yield axis.size.root, axis.size.divisor * axis.stride


def _numbers(survey: Survey, batch: DimFacts, moduli: Mapping[str, int]) -> DimFacts:
    """A number for every open dimension of the inputs, as far as what they mean is known."""
    found: DimFacts = {}
    main = survey.contexts[0]
    for name in main.scope.input_places:
        for axis, size in enumerate(main.type_of(name).dims or ()):
            if isinstance(size, Symbol) and size.root and (axis or size.root in batch):
                root, is_batch = size.root, size.stated.is_batch
                told = replace(size.stated.stronger(moduli.get(root, 1)), is_batch=is_batch)
                found[root] = told.example
    return found | batch
