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


class Tried(NamedTuple):
    """What a rewrite comes to that is told more: nodes that are left, why, and the ways of others.

    `writes` says that it writes the model.
    """

    left: Mapping[Address, str]
    ways: Mapping[Address, tuple[str, ...]]
    writes: bool


Try = Callable[[DimFacts], Tried | None]
"""A rewrite with these facts as well; None where they contradict the model."""


def opening(survey: Survey, found: Sequence[NodeVerdict], trying: Try) -> Opening:
    """The first facts that settle all nodes of `found` without a way; else those that settle most.

    Also facts with which a rewrite writes the model, whatever it leaves.
    """
    without = [one for one in found if isinstance(one.way, NoWay)]
    stuck = {one.node for one in without}
    granted = sum(one.waits_for_knowledge for one in without)
    hopeful = [one for one in without if _may_hang_on_sizes(one)]
    best, known = Opening(len(stuck), granted=granted), list[DimFacts]()
    for facts in _candidates(survey, hopeful) if hopeful else ():
        if not facts or facts in known:
            continue
        known.append(facts)
        tried = trying(facts)
        if tried is None or not tried.left.keys() <= stuck:
            continue
        settled = {one.node for one in hopeful} - tried.left.keys()
        if len(settled) > best.settled:
            ways = tuple((node, tried.ways.get(node, ())) for node in settled)
            told = tuple(facts.items())
            counts = len(stuck), told, len(settled), granted
            best = Opening(*counts, tried.left, ways, writes=tried.writes)
        if tried.writes or best.settled == len(hopeful):
            break
    return best


def _may_hang_on_sizes(verdict: NodeVerdict) -> bool:
    """Whether facts may help: not where the operator is lacking in every form, or untested."""
    found = verdict.judgement
    is_untested = found.answer.is_open and not found.rows and not found.settled_by
    return not (verdict.brought_by or found.is_blanket or is_untested)


def _candidates(survey: Survey, hopeful: Sequence[NodeVerdict]) -> Iterator[DimFacts]:
    """Facts about dimensions, those that say least first.

    Batches that are asked for; what the padding hangs on as well; what strides behind it hang on
    too, with every batch; numbers.
    """
    nodes = {one.node for one in hopeful}
    divisors, batches, known = _settled_sizes(survey, nodes)
    rests = batches | strengthened(survey.facts, divisors)
    chains = _chains(known, nodes)
    sizes = list(_first_sizes(survey, chains, nodes))
    if not all(isinstance(size, int) or [*_batches([size])] for size in sizes):
        sizes += _first_of_inputs(survey)  # what a Reshape to [-1, ...] makes may be one of them
    items = [size.root for size in _batches(sizes) if size.root and size.root not in rests]
    batch: DimFacts = dict.fromkeys(items, 1)
    asked = {one.name for verdict in hopeful for one in verdict.open_batches}
    first: DimFacts = {name: 1 for name in items if name in asked}
    yield from (first, first | rests)
    moduli = _joined((*divisors.items(), *_moduli(chains)))
    yield batch | batches | strengthened(survey.facts, moduli)
    yield _numbers(survey, batch, moduli)


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
    return [site.chain for site in survey.sites_now() if site.address in nodes]


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
