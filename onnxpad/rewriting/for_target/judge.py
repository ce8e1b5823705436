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
        return _with_facts(self.target)

    @cached_property
    def _checks_the_text(self) -> bool:
        return checks_the_text(self._facts)

    def _seen(self, chain: Chain) -> Chain:
        if not self.assumes_sizes:
            return chain
        return replace(chain, read_as=chain.read_as._replace(assumes_sizes=True))

    def rows(self, chain: Chain) -> list[Row]:
        """The rows of the table that hold."""
        seen = self._seen(chain)
        return [row for row in self.target.about(chain.op.title) if every(row.when, seen)]

    def knowing(self, *, assumes_sizes: bool) -> Judge:
        """The same for a model of which the user knows sizes, or of which the file says all."""
        same = self.assumes_sizes == assumes_sizes
        return self if same else replace(self, assumes_sizes=assumes_sizes)

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
        found = self._known[id(chain)][1]
        if found.answer.fails or not self._checks_the_text:
            return found
        said, trouble = objection(site.context, site.node), chain.trouble
        if not said:
            return found
        reason = trouble.reason if trouble and trouble.illegal else said
        return judge_illegal(self._facts, self._seen(chain), reason)

    def left(
        self, session: EditSession, made: Collection[NodeId], tolerated: Collection[NodeId]
    ) -> Iterator[Obstacle]:
        """What the table objects to in an excerpt: its padded nodes, and plain ones passes made.

        A live judge runs the plain ones together with what is padded.
        """
        for site in session.sites_now():
            if site.address.id not in tolerated and self.objects(found := self.table(site)):
                yield Obstacle(site.address.id, site.address.label, site.chain.op.title, found)
        for node_id, name, op, found in judged_plain(
            session, () if self.live else made, self.target
        ):
            if self.objects(found):
                yield Obstacle(node_id, name, op, found)


def _with_facts(target: Target) -> Target:
    """The target with what most runtimes take in the place of those of which nothing is known."""
    if target.parts:
        return replace(target, parts=tuple(map(_with_facts, target.parts)))
    return find_target("portable") if target.is_own else target
