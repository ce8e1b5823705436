"""What would let a target take nodes for which there is no way: facts about sizes, each tried.

It is tried as a user would: the model is rewritten with them, and what is left is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from math import lcm
from typing import TYPE_CHECKING

from onnxpad.geometry.size import Symbol, form_of
from onnxpad.geometry.size_fact import Told
from onnxpad.model.graph.nodes import Address
from onnxpad.model.reading.divisors import settling_facts, strengthened
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Skip
from onnxpad.padding.effective_pads import effective_pads, settling
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay, Opening

if TYPE_CHECKING:
    from onnxpad.rewriting.for_target.fit import Fitted

DimFacts = dict[str, Told]
Try = Callable[[DimFacts], "Fitted | None"]
"""A rewrite with these facts as well; None where they contradict the model."""


def opening(survey: Survey, judged: Sequence[NodeVerdict], trying: Try) -> Opening:
    """The first facts that settle all nodes of `judged` without a way; else those that settle most.

    Also facts with which a rewrite writes the model, whatever it leaves.
    """
    without = [one for one in judged if isinstance(one.way, NoWay)]
    stuck = {one.node for one in without}
    hopeful = {one.node for one in without if _may_hang_on_sizes(one)}
    best = Opening(len(stuck), granted=sum(one.waits_for_knowledge for one in without))
    for facts in filter(None, _candidates(survey, hopeful) if hopeful else ()):
        fitting = trying(facts)
        if fitting is None or not fitting.left.keys() <= stuck:
            continue
        settled = hopeful - fitting.left.keys()
        if len(settled) > best.settled:
            plans = fitting.ways
            ways = tuple((node, plans[node].passes if node in plans else ()) for node in settled)
            best = best._replace(facts=tuple(facts.items()), settled=len(settled), ways=ways)
            best = best._replace(left=fitting.left, writes=fitting.writes)
        if fitting.writes or best.settled == len(hopeful):
            break
    return best


def _may_hang_on_sizes(verdict: NodeVerdict) -> bool:
    """Whether facts may help: not where the operator is lacking in every form, or untested."""
    judgement = verdict.judgement
    is_untested = judgement.answer.is_open and not judgement.rows and not judgement.settled_by
    return not (verdict.brought_by or judgement.is_blanket or is_untested)


def _candidates(survey: Survey, nodes: Collection[Address]) -> Iterator[DimFacts]:
    """Facts about dimensions: what the padding hangs on; batches of 1; both; numbers."""
    main = survey.contexts[0]
    chains = [site.chain for site in survey.sites_now() if site.address in nodes]
    pads = [effective_pads(chain) for chain in chains]
    facts, _ = settling([one for one in pads if isinstance(one, Skip)])
    divisors: dict[str, int] = {}
    for name, fact in (*facts, *settling_facts(survey)):
        divisors[name] = lcm(divisors.get(name, 1), fact.divisor or 1)
    ones = {name: fact.rest for name, fact in facts if not fact.divisor}
    rests = ones | strengthened(survey.facts, divisors)
    shapes = [main.type_of(name).dims or () for name in main.scope.input_places]
    batch: DimFacts = {
        size.root: 1
        for shape in (*(chain.shape or () for chain in chains), *shapes)
        for size in shape[:1]
        if isinstance(size, Symbol) and size.root and size.root not in rests
        if size.divisor == 1 and not form_of(size).added
    }
    yield from (rests, batch)
    if rests:
        yield batch | rests
    numbers: DimFacts = {}
    for axis, size in (pair for shape in shapes for pair in enumerate(shape)):
        if isinstance(size, Symbol) and size.root and (axis or size.root in batch):
            known_of = size.stated.stronger(divisors.get(size.root, 1))
            numbers[size.root] = replace(known_of, is_batch=size.stated.is_batch).example
    yield numbers | batch
