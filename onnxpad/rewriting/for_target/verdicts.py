"""Every padded node of a model with what a target does with it, and the way around that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.broken import title_of, undefined_operators
from onnxpad.model.graph.nodes import Address, Node, NodeId
from onnxpad.model.graph.scopes import Document, Scope, address_of
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.model.shapes.unknown_sizes import lost_at
from onnxpad.padding.chain import Chain
from onnxpad.padding.operators import PLAIN_DOMAINS, operator
from onnxpad.rewriting.for_target.judge import Judge
from onnxpad.rewriting.for_target.plain_facts import plain_facts, written_padding
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay, Obstacle, PassPlan
from onnxpad.rewriting.for_target.search import Planner
from onnxpad.runtimes.conditions.plain_facts import FACTS
from onnxpad.runtimes.installed import OnInstalled, otherwise_installed
from onnxpad.runtimes.judge import (
    Judgement,
    failing,
    judge_lacking,
    judge_plain,
    judge_undefined,
    newly_failing,
)
from onnxpad.runtimes.onnxruntime.runtime_check import reference
from onnxpad.runtimes.targets import Target

Selected = Callable[[Address], bool]


def verdicts(survey: Survey, planner: Planner, selected: Selected) -> Iterator[NodeVerdict]:
    """Every padded node in graph order; those that the target does not take come with a way.

    Behind them Concats that pad with a block of constants, what the target stops at wherever it
    stands, such as If, and operators that ONNX does not define: for them there is no way but
    another pass, or another model.
    """
    judge = planner.judge
    for address, op, judgement, site in judged(survey, judge, selected):
        way: PassPlan | NoWay | None = None
        if site is None and (op in FACTS or judge.objects(judgement)):
            way = NoWay((), ())
        elif site is not None and judge.objects(judgement):
            way = _way(planner, site)
        yield NodeVerdict(address, op, judgement, way)


def judged(
    survey: Survey, judge: Judge, selected: Selected
) -> Iterator[tuple[Address, str, Judgement, Site | None]]:
    """The same nodes with what the target does with them, and none of the ways around that."""
    for site in survey.sites_now():
        if selected(site.address):
            found = _located(site, judge.site(site), judge)
            yield site.address, site.chain.op.title, found, site
    told: set[Address] = set()
    for context, node, name in written_padding(survey):
        address = address_of(context.scope, node)
        if selected(address) and address not in told:
            told.add(address)
            found = judge_plain(judge.target, name, context.scope.opset)
            yield address, "Concat", found, None
    met: set[tuple[Address, str]] = set()
    for context, node, name, found in plain_facts(survey, judge):
        address = address_of(context.scope, node)
        if selected(address) and (address, name) not in met:
            met.add((address, name))
            yield address, name, found, None
    for scope, node, unsure in _unsure(survey.document, judge.target):
        address = address_of(scope, node)
        if selected(address):
            yield address, title_of(node), unsure, None


def _unsure(document: Document, target: Target) -> Iterator[tuple[Scope, Node, Judgement]]:
    """Operators without padding that ONNX does not define, or that the target may lack."""
    for scope, node in undefined_operators(document):
        if found := judge_undefined(target, title_of(node), scope.opset):
            yield scope, node, found
    for scope in document.scopes.values():
        kinds = {one.op_type for one in scope.nodes if one.domain in PLAIN_DOMAINS}
        plain = (one for one in kinds if operator("", one) is None)
        lacking = {one: judge_lacking(target, one, scope.opset) for one in plain}
        for node in scope.ordered() if any(lacking.values()) else ():
            if (found := lacking.get(node.op_type)) and document.function(node) is None:
                yield scope, node, found


def on_installed(survey: Survey, judge: Judge, selected: Selected) -> Iterator[OnInstalled]:
    """What installed releases of the target do with the nodes as they are, where it is otherwise.

    As `inspect` says it: of the newest release, where none was asked for.
    """
    for target in judge.target.parts or (judge.target,):
        if found := otherwise_installed(target.name):
            here, there = (
                [answer.answer for *_, answer, _ in judged(survey, judge.of(one), selected)]
                for one in (target, found.target)
            )
            if there != here:
                yield found.doing(there)


def harmed_in_onnxruntime(
    session: EditSession, given: Mapping[NodeId, Chain], target: Target
) -> Iterator[NodeVerdict]:
    """Nodes that onnxruntime does not run as they are now, and ran as they were `given`.

    None where it is the target itself.
    """
    onnxruntime = reference()
    asked = {one.runtime for one in (target, *target.parts)}
    if onnxruntime.name in asked or not session.script:
        return
    judge = Judge(onnxruntime)
    for site in session.sites_now():
        if _fails_newly(onnxruntime, given.get(site.address.id), site.chain):
            yield NodeVerdict(site.address, site.chain.op.title, judge.site(site))


def _located(site: Site, judgement: Judgement, judge: Judge) -> Judgement:
    """The same with the operator behind which the batch is not known, where that is all."""
    batch = judgement.open_batch
    if batch is None or batch.name or not site.node.inputs:
        return judgement
    batch = replace(batch, lost=lost_at(site.context, site.node.inputs[0], 0))
    return replace(judgement, open_batch=batch, reason=batch.told(judge.target.name))


def _fails_newly(target: Target, earlier: Chain | None, chain: Chain) -> bool:
    if chain == earlier or not failing(target, chain):
        return False
    return earlier is None or bool(newly_failing(target, earlier, chain))


def _way(planner: Planner, site: Site) -> PassPlan | NoWay:
    """The plan for a node."""
    context, chain = site.context, site.chain
    if planner.judge.is_final(chain):
        label, judgement = site.address.label, planner.judge.chain(chain)
        return NoWay((), (Obstacle(site.address.id, label, chain.op.title, judgement),))
    return planner.plan(context, site.node)
