"""What a target says of a node: its table, which costs microseconds, and then a run of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.nodes import NodeId
from onnxpad.model.reading.by_the_text import objection
from onnxpad.model.reading.survey import Site
from onnxpad.padding.chain import Chain
from onnxpad.rewriting.for_target.plain_facts import judged_plain
from onnxpad.rewriting.for_target.report import Obstacle
from onnxpad.runtimes.conditions.rows import Answer, Row, every
from onnxpad.runtimes.judge import Judgement, checks_the_text, judge, judge_illegal
from onnxpad.runtimes.targets import Target, find_target

if TYPE_CHECKING:
    from onnxpad.probing.live import Live


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
        left = [one for one in parts if self.live and not self.live.answers(one)]
        if not left:
            return None
        return self.of(left[0] if len(left) == 1 else replace(self.target, parts=tuple(left)))

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
        return replace(chain, read_as=chain.read_as._replace(assumes_sizes=True))

    def rows(self, chain: Chain, *, by_opset: bool = False) -> list[Row]:
        """The rows against a chain that hold; of those for its opset alone where `by_opset`."""
        seen = self._seen(chain)
        about = self.target.about(chain.op.title)
        rows = (row for row in about if row.asks_for_opset or not by_opset)
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
        judged = self._known[id(chain)][1]
        if judged.answer.fails or not self._checks_the_text:
            return judged
        said, trouble = objection(site.context, site.node), chain.trouble
        if not said:
            return judged
        reason = trouble.reason if trouble and trouble.illegal else said
        return judge_illegal(self._facts, self._seen(chain), reason)

    def left(
        self, session: EditSession, made: Collection[NodeId], tolerated: Collection[NodeId]
    ) -> Iterator[Obstacle]:
        """What the table objects to in an excerpt: its padded nodes, and plain ones passes made.

        A live judge runs the plain ones together with what is padded.
        """
        for site in session.sites_now():
            if site.address.id not in tolerated and self.objects(judged := self.table(site)):
                yield Obstacle(site.address.id, site.address.label, site.chain.op.title, judged)
        plain = () if self.live else made
        for node_id, name, op, judged in judged_plain(session, plain, self.target):
            if self.objects(judged):
                yield Obstacle(node_id, name, op, judged)
