"""What a target does with the nodes of a model: by its table, and then by a run of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.broken import title_of, undefined_operators
from onnxpad.model.graph.nodes import Address, Node, NodeId
from onnxpad.model.graph.scopes import Scope, address_of
from onnxpad.model.reading.by_the_text import objection
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.padding.chain import Chain, Mark
from onnxpad.padding.forms import Form, forms_of
from onnxpad.rewriting.for_target.plain_facts import (
    judged_plain,
    name_of,
    plain_facts,
    written_padding,
)
from onnxpad.rewriting.for_target.report import Obstacle
from onnxpad.runtimes.conditions.rows import Answer, Row, every
from onnxpad.runtimes.installed import OnInstalled, otherwise_installed
from onnxpad.runtimes.judge import (
    Judgement,
    checks_the_text,
    judge,
    judge_illegal,
    judge_plain,
    judge_undefined,
)
from onnxpad.runtimes.targets import Target, find_target

if TYPE_CHECKING:
    from onnxpad.probing.live import Live

Selected = Callable[[Address], bool]


@dataclass(frozen=True, eq=False)
class Judge:
    """What a target says of nodes.

    allows_unknown: what is not known is taken for granted.
    assumes_sizes: some sizes are known to the user, and not to the target.
    requires_device: nodes that the target leaves to the CPU are to be rewritten.
    live: asks the runtime itself; what the target's table says of a chain then only says where to
        look first.
    """

    target: Target
    allows_unknown: bool = False
    assumes_sizes: bool = False
    requires_device: bool = False
    live: Live | None = None
    _known: dict[int, tuple[Chain, Judgement]] = field(default_factory=dict, init=False)

    def of(self, target: Target) -> Judge:
        """The table of another target, with the same wishes."""
        return replace(self, target=target, live=None)

    @cached_property
    def tabled(self) -> Judge | None:
        """The judge of those parts of the target that no runtime answers for; None for none."""
        parts = self.target.parts or (self.target,)
        left = tuple(one for one in parts if self.live and not self.live.answers(one))
        if not left:
            return None
        return self.of(left[0] if len(left) == 1 else replace(self.target, parts=left))

    @cached_property
    def _facts(self) -> Target:
        """The target with what most runtimes take for those of which nothing is known."""
        if not self.target.parts:
            return find_target("portable") if self.target.is_own else self.target
        parts = tuple(self.of(part)._facts for part in self.target.parts)  # noqa: SLF001 - the same
        return replace(self.target, parts=parts)

    @cached_property
    def _checks_the_text(self) -> bool:
        return checks_the_text(self._facts)

    def _seen(self, chain: Chain) -> Chain:
        if not self.assumes_sizes:
            return chain
        marks = chain.around.marks | {Mark.ASSUMES_SIZES}
        return replace(chain, around=replace(chain.around, marks=marks))

    def rows(self, chain: Chain) -> list[Row]:
        """The rows against a chain that hold."""
        seen, rows = self._seen(chain), self.target.about(chain.op.title)
        return [row for row in rows if self.counts(row.answer) and every(row.when, seen)]

    def counts(self, answer: Answer) -> bool:
        """Whether a node with this answer is to be rewritten."""
        if answer is Answer.FALLS_BACK:
            return self.requires_device
        return answer.fails or (answer.is_open and not self.allows_unknown)

    def objects(self, judgement: Judgement) -> bool:
        """Whether a node with this judgement is to be rewritten."""
        return self.counts(judgement.answer) or bool(judgement.settled_by)

    def site(self, site: Site) -> Judgement:
        """The worst judgement of a node's readings; of a live judge, what a run of it showed."""
        if self.live is None:
            return self.table(site)
        chain = self._seen(site.chain)
        return self.live.site(self.target, site, lambda part: judge(part, chain))

    def table(self, site: Site) -> Judgement:
        """The judgement of a padded node by the facts of the target alone.

        A target that checks the ONNX text refuses what that does not allow.
        """
        chain = site.chain
        if id(chain) not in self._known:  # chains that are one object, once
            self._known[id(chain)] = (chain, judge(self._facts, self._seen(chain)))
        judgement = self._known[id(chain)][1]
        if judgement.answer.fails or not self._checks_the_text:
            return judgement
        trouble = chain.trouble if chain.trouble and chain.trouble.illegal else None
        reason = trouble.reason if trouble else objection(site.context, site.node)
        return judge_illegal(self._facts, self._seen(chain), reason) if reason else judgement

    def left(
        self, session: EditSession, made: Collection[NodeId], tolerated: Collection[NodeId]
    ) -> Iterator[Obstacle]:
        """What the table objects to in an excerpt: its padded nodes, and plain ones passes made.

        A live judge runs the plain ones together with what is padded.
        """
        for site in session.sites_now():
            id_, label, op = site.address.id, site.address.label, site.chain.op.title
            if id_ not in tolerated and self.objects(judgement := self.table(site)):
                yield Obstacle(id_, label, op, judgement)
        for plain in judged_plain(session, () if self.live else made, self.target):
            if self.objects(plain[-1]):
                yield Obstacle(*plain)


def judged(
    survey: Survey, judge: Judge, selected: Selected
) -> Iterator[tuple[Address, str, Judgement, Site | None]]:
    """The same nodes with what the target does with them, and none of the ways around that."""
    for site in survey.sites_now():
        if selected(site.address):
            yield site.address, site.chain.op.title, judge.site(site), site
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
        scope = site.context.scope
        judgement = judge_plain(target, name_of(site.context, site.node), scope.opset)
        if Form.JOINED in forms_of(site.chain) and judgement.answer.fails:
            yield scope, site.node, "Concat", judgement
    for context, node, name, judgement in plain_facts(survey, target, judge.live):
        yield context.scope, node, name, judgement
    for scope, node in undefined_operators(survey.document):
        if undefined := judge_undefined(target, title_of(node), scope.opset):
            yield scope, node, title_of(node), undefined


def on_installed(survey: Survey, judge: Judge, selected: Selected) -> Iterator[OnInstalled]:
    """What installed releases of the target do with the nodes as they are, where it is otherwise.

    As `inspect` says it: of the newest release, where none was asked for. None of a live judge.
    """
    for target in () if judge.live else judge.target.parts or (judge.target,):
        if installed := otherwise_installed(target.name):
            here, there = (
                [answer.answer for *_, answer, _ in judged(survey, judge.of(one), selected)]
                for one in (target, installed.target)
            )
            if there != here:
                yield installed.doing(there)
