"""Every padded node of a model with what a target does with it, and the way around that."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from onnxpad.model.reading.nodes import Address
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.rewriting.for_target.report import NoWay, Obstacle, Plan, Verdict
from onnxpad.rewriting.for_target.search import Planner

Selected = Callable[[Address], bool]


def verdicts(survey: Survey, planner: Planner, selected: Selected) -> Iterator[Verdict]:
    """Every padded node in graph order; those that the target does not take come with a way."""
    judge = planner.judge
    for site in survey.sites():
        if not selected(site.address):
            continue
        judgement = judge.site(site)
        way = _way(planner, site) if judge.objects(judgement) else None
        yield Verdict(site.address, site.chain.op.title, judgement, way)


def _way(planner: Planner, site: Site) -> Plan | NoWay:
    """The plan for the reading that is judged worst."""
    pairs = zip(site.contexts, site.chains, strict=True)
    context, chain = max(pairs, key=lambda pair: planner.judge.chain(pair[1]).answer.rank)
    judgement, floor = planner.judge.chain(chain), planner.judge.floor(chain)
    if floor is judgement.answer:
        place = (site.address.scope, site.address.key)
        return NoWay((), (Obstacle(place, site.address.label, chain.op.title, judgement),))
    return planner.plan(context, site.node, floor)
