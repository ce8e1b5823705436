"""Every padded node of a model with what a target does with it, and the way around that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.broken import title_of, undefined_operators
from onnxpad.model.graph.nodes import Address, Node, NodeId
from onnxpad.model.graph.scopes import Scope, address_of
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.model.shapes.unknown_sizes import lost_at
from onnxpad.padding.chain import Chain
from onnxpad.padding.forms import Form, forms_of
from onnxpad.rewriting.for_target.judge import Judge
from onnxpad.rewriting.for_target.plain_facts import name_of, plain_facts, written_padding
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay, PassPlan
from onnxpad.rewriting.for_target.search import Planner
from onnxpad.runtimes.conditions.plain_facts import FACTS
from onnxpad.runtimes.installed import OnInstalled, otherwise_installed
from onnxpad.runtimes.judge import (
    Judgement,
    failing,
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
    for address, op, judgement, site in judged(survey, planner.judge, selected):
        way: PassPlan | NoWay | None = None
        if op in FACTS or planner.judge.objects(judgement):
            way = planner.plan(site.context, site.node) if site else NoWay((), ())
        yield NodeVerdict(address, op, judgement, way)


def judged(
    survey: Survey, judge: Judge, selected: Selected
) -> Iterator[tuple[Address, str, Judgement, Site | None]]:
    """The same nodes with what the target does with them, and none of the ways around that."""
    for site in survey.sites_now():
        if selected(site.address):
            yield site.address, site.chain.op.title, _located(site, judge), site
    seen: set[tuple[Address, str]] = set()
    for scope, node, op, judgement in _plain(survey, judge):
        address = address_of(scope, node)
        if (address, op) not in seen and selected(address):
            seen.add((address, op))
            yield address, op, judgement, None


def _plain(survey: Survey, judge: Judge) -> Iterator[tuple[Scope, Node, str, Judgement]]:
    """What else there is to say: of Concats that pad, plain facts, and unknown operators."""
    target = judge.target
    for context, node, name in written_padding(survey):
        yield context.scope, node, "Concat", judge_plain(target, name, context.scope.opset)
    for site in survey.compounds():
        name = name_of(site.context, site.node)
        found = judge_plain(target, name, site.context.scope.opset)
        if Form.JOINED in forms_of(site.chain) and found.answer.fails:
            yield site.context.scope, site.node, "Concat", found
    for context, node, name, judgement in plain_facts(survey, target, judge.live):
        yield context.scope, node, name, judgement
    for scope, node in undefined_operators(survey.document):
        if undefined := judge_undefined(target, title_of(node), scope.opset):
            yield scope, node, title_of(node), undefined


def _located(site: Site, judge: Judge) -> Judgement:
    """What the target does with a node; with what loses the batch, where that is all."""
    judgement = judge.site(site)
    batch = judgement.open_batch
    if batch is None or batch.name or not site.node.inputs:
        return judgement
    batch = replace(batch, lost=lost_at(site.context, site.node.inputs[0], 0))
    return replace(judgement, open_batch=batch, reason=batch.told(judge.target.name))


def on_installed(survey: Survey, judge: Judge, selected: Selected) -> Iterator[OnInstalled]:
    """What installed releases of the target do with the nodes as they are, where it is otherwise.

    As `inspect` says it: of the newest release, where none was asked for.
    """
    for target in judge.target.parts or (judge.target,):
        if installed := otherwise_installed(target.name):
            here, there = (
                [answer.answer for *_, answer, _ in judged(survey, judge.of(one), selected)]
                for one in (target, installed.target)
            )
            if there != here:
                yield installed.doing(there)


def harmed_in_onnxruntime(
    session: EditSession, given: Mapping[NodeId, Chain], target: Target
) -> Iterator[NodeVerdict]:
    """Nodes that onnxruntime does not run as they are now, and ran as they were `given`.

    None where it is the target itself.
    """
    onnxruntime = reference()
    if not session.script or onnxruntime.name in {o.runtime for o in (target, *target.parts)}:
        return
    judge = Judge(onnxruntime)
    for site in session.sites_now():
        earlier = given.get(site.address.id)
        if site.chain == earlier or not failing(onnxruntime, site.chain):
            continue
        if earlier is None or newly_failing(onnxruntime, earlier, site.chain):
            yield NodeVerdict(site.address, site.chain.op.title, judge.site(site))
