"""Every padded node of a model with what a target does with it, and the way around that."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from onnxpad.model.reading.nodes import Address
from onnxpad.model.reading.scopes import address_of
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay, Obstacle, PassPlan
from onnxpad.rewriting.for_target.search import Planner, written_padding
from onnxpad.runtimes.judge import judge_plain

Selected = Callable[[Address], bool]


def verdicts(survey: Survey, planner: Planner, selected: Selected) -> Iterator[NodeVerdict]:
    """Every padded node in graph order; those that the target does not take come with a way.

    Behind them Concats that pad with a block of constants: for them there is no way but another
    pass.
    """
    judge = planner.judge
    for site in survey.sites():
        if not selected(site.address):
            continue
        judgement = judge.site(site)
        way = _way(planner, site) if judge.objects(judgement) else None
        yield NodeVerdict(site.address, site.chain.op.title, judgement, way)
    told: set[Address] = set()
    for context, node, name in written_padding(survey):
        address = address_of(context.scope, node)
        if selected(address) and address not in told:
            told.add(address)
            found = judge_plain(judge.target, name, context.scope.opset)
            yield NodeVerdict(
                address, "Concat", found, NoWay((), ()) if judge.objects(found) else None
            )


def _way(planner: Planner, site: Site) -> PassPlan | NoWay:
    """The plan for the reading that is judged worst."""
    pairs = zip(site.contexts, site.chains, strict=True)
    context, chain = max(pairs, key=lambda pair: planner.judge.chain(pair[1]).answer.rank)
    judgement, floor = planner.judge.chain(chain), planner.judge.floor(chain)
    if floor is judgement.answer:
        place = site.address.place
        return NoWay((), (Obstacle(place, site.address.label, chain.op.title, judgement),))
    return planner.plan(context, site.node, floor)
