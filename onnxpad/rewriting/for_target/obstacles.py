"""What a target does not take: padded nodes, plain ones beside them, Concats that pad."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.model_inputs import is_model_input, may_follow_window
from onnxpad.model.graph.nodes import Node, NodeId
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.padding.chain import Chain
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind
from onnxpad.rewriting.for_target.report import Obstacle
from onnxpad.runtimes.conditions.plain_facts import (
    BLOCKS,
    INPUT_CROP,
    LONE_CROP,
    LOOSE_PIECES,
    OPEN_BATCH_RANKS,
    OUTER_BLOCKS,
    PIECES,
    QUOTIENT,
    RANK,
)
from onnxpad.runtimes.conditions.rows import Answer, Row, every
from onnxpad.runtimes.judge import Judgement, judge, judge_plain, lasting
from onnxpad.runtimes.targets import Target, find_target

if TYPE_CHECKING:
    from onnxpad.probing.live import Live

_GONE: NodeId = ("", -1)
_CELLS = 3
"""The least rank of a tensor with channels."""
_JOINING = ("Concat", "Clip", "AveragePool")
"""What a Slice of passes that write pieces is read by."""
_STAYING = (Kind.CONVOLUTION, Kind.TRANSPOSED, Kind.MAX)


@dataclass
class Unit:
    """One node that is to be rewritten, what became of it, and what reads it.

    `readers` are padded nodes behind a Pad, into which it may be folded, `fronts` Pads in front of
    an operator, which may be what is wrong with it; what was wrong with either before
    (`tolerated`) is not this unit's business.
    """

    focus: NodeId
    readers: frozenset[NodeId] = frozenset()
    fronts: frozenset[NodeId] = frozenset()
    tolerated: frozenset[NodeId] = frozenset()
    made: dict[NodeId, str] = field(default_factory=dict)

    @property
    def members(self) -> set[NodeId]:
        """Every node that the unit answers for."""
        return {self.focus, *self.made, *self.readers, *self.fronts}

    def moved(self, ids: Mapping[NodeId, NodeId]) -> Unit:
        """The same unit where its nodes have other places; those that are gone have none."""
        made = {ids[one]: op for one, op in self.made.items() if one in ids}
        readers, fronts, tolerated = (
            frozenset(ids[one] for one in side if one in ids)
            for side in (self.readers, self.fronts, self.tolerated)
        )
        return Unit(ids.get(self.focus, _GONE), readers, fronts, tolerated, made)


class Owners:
    """Which unit a node belongs to: its own before one that it is only a reader or a front of."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._own: dict[NodeId, Unit] = {}
        self._near: dict[NodeId, Unit] = {}
        for unit in units:
            for node_id in (unit.focus, *unit.made):
                self._own.setdefault(node_id, unit)
            for node_id in unit.readers | unit.fronts:
                self._near.setdefault(node_id, unit)

    def of(self, node_id: NodeId) -> Unit | None:
        """The unit of a node; the first of several, None where there is none."""
        return self._own.get(node_id, self._near.get(node_id))

    def wrote(self, unit: Unit, node_id: NodeId, op: str) -> None:
        """A new node with this operator belongs to the unit."""
        unit.made[node_id] = op
        self._own.setdefault(node_id, unit)


class Judge:
    """What a target says of nodes; `allows_unknown` takes for granted what is not known.

    `assumes_sizes` says that some sizes are known to the user, and not to the target,
    `requires_device` that nodes which it leaves to the CPU are to be rewritten. `live` asks the
    runtime itself; what the target's table says of a chain then only says where to look first.
    """

    def __init__(
        self,
        target: Target,
        *,
        allows_unknown: bool = False,
        assumes_sizes: bool = False,
        requires_device: bool = False,
        live: Live | None = None,
    ) -> None:
        self.target = target
        self.requires_device = requires_device
        self._assumes_sizes = assumes_sizes
        self.allows_unknown = allows_unknown
        self.live = live
        self._facts = _with_facts(target)
        self._known: dict[int, tuple[Chain, Judgement]] = {}

    def of(self, target: Target) -> Judge:
        """The table of another target, with the same wishes."""
        return self._changed(target=target, live=None)

    def granting_nothing(self) -> Judge:
        """The same, that takes nothing for granted."""
        return self._changed(allows_unknown=False)

    def knowing(self, *, assumes_sizes: bool) -> Judge:
        """The same for a model of which the user knows sizes, or of which the file says all."""
        return self._changed(assumes_sizes=assumes_sizes)

    @property
    def tabled(self) -> Judge | None:
        """The judge of those parts of the target that no runtime answers for; None for none."""
        parts = self.target.parts or (self.target,)
        left = [one for one in parts if self.live and not self.live.answers(one)]
        if not left:
            return None
        return self.of(left[0] if len(left) == 1 else replace(self.target, parts=tuple(left)))

    def _changed(self, **words: Any) -> Judge:  # noqa: ANN401 - the arguments of a judge
        own = {
            "target": self.target,
            "allows_unknown": self.allows_unknown,
            "assumes_sizes": self._assumes_sizes,
            "requires_device": self.requires_device,
            "live": self.live,
        }
        return Judge(**{**own, **words})

    def chain(self, chain: Chain) -> Judgement:
        """The judgement of a padded operator; chains that are one object are judged once."""
        if id(chain) not in self._known:
            self._known[id(chain)] = (chain, judge(self._facts, self._seen(chain)))
        return self._known[id(chain)][1]

    def _seen(self, chain: Chain) -> Chain:
        if not self._assumes_sizes:
            return chain
        return replace(chain, read_as=chain.read_as._replace(assumes_sizes=True))

    def floor(self, chain: Chain) -> Answer:
        """What the target does at best with the operator behind any passes; TAKES is no promise."""
        if self.live:
            return Answer.TAKES
        found = lasting(self.target, self._seen(chain)) if self.stays(chain) else Answer.TAKES
        return found if self.counts(found) else Answer.TAKES

    def about_all(self, chain: Chain) -> list[Row]:
        """Rows against it for the model's opset, or for sizes that its file leaves open."""
        seen = self._seen(chain)
        return [
            row
            for row in self.target.about(chain.op.title)
            if row.asks_for_opset or row.asks_for_sizes
            if self.counts(row.answer) and every(row.when, seen)
        ]

    def counts(self, answer: Answer) -> bool:
        """Whether a node with this answer is to be rewritten."""
        if answer is Answer.FALLS_BACK:
            return self.requires_device
        return answer.fails or (answer.is_open and not self.allows_unknown)

    def stays(self, chain: Chain) -> bool:
        """Whether every pass leaves the operator in its place.

        Passes replace averages, LpPool, Pads and operators that read their pads from an input.
        """
        return chain.op.kind in _STAYING and chain.op.pads_input is None

    def site(self, site: Site) -> Judgement:
        """The worst judgement of a node's readings; of a live judge, what a run of it showed."""
        if self.live is None:
            return self.table(site)
        chains = [self._seen(chain) for chain in site.chains]
        return self.live.site(self.target, site, lambda part: _worst(part, chains))

    def table(self, site: Site) -> Judgement:
        """The worst judgement of a node's readings by the facts of the target alone."""
        return max((self.chain(chain) for chain in site.chains), key=lambda j: j.answer.rank)

    def objects(self, judgement: Judgement) -> bool:
        """Whether a node with this judgement is to be rewritten."""
        return self.counts(judgement.answer) or bool(judgement.settled_by)


def _with_facts(target: Target) -> Target:
    """The target with what most runtimes take in the place of those of which nothing is known."""
    if target.parts:
        return replace(target, parts=tuple(map(_with_facts, target.parts)))
    return find_target("portable") if target.is_own else target


def _worst(target: Target, chains: Iterable[Chain]) -> Judgement:
    return max((judge(target, chain) for chain in chains), key=lambda one: one.answer.rank)


def obstacles(session: EditSession, unit: Unit, judge: Judge) -> Iterator[Obstacle]:
    """Nodes of the unit that the table of the target does not take, in graph order.

    Plain ones come last.
    """
    members = unit.members - unit.tolerated
    for site in session.sites_at(members):
        if judge.objects(found := judge.table(site)):
            yield Obstacle(site.address.id, site.address.label, site.chain.op.title, found)
    yield from plain_obstacles(session, unit.made, judge)


def plain_obstacles(
    session: EditSession, made: Mapping[NodeId, str], judge: Judge
) -> Iterator[Obstacle]:
    """Those of the nodes in `made`, operators by place, that have no padding and are not taken.

    None for a live judge, which runs them together with what is padded.
    """
    if judge.live:
        return
    padded = {site.address.id for site in session.sites_at(made)}
    for node_id, op in made.items():
        if node_id in padded or not _exists(session, node_id):
            continue
        context = next(one for one in session.contexts if one.scope.id == node_id[0])
        node = context.scope.node(node_id[1])
        name = _told_apart(context, node, op)
        found = judge_plain(judge.target, name, context.scope.opset)
        if judge.objects(found):
            yield Obstacle(node_id, name, op, found)


def _exists(session: EditSession, node_id: NodeId) -> bool:
    scope = session.document.scopes[node_id[0]]
    return node_id[1] not in scope.removed


def written_padding(survey: Survey) -> Iterator[tuple[Context, Node, str]]:
    """Concats that pad what an operator reads with a block of constants, as targets name them.

    So concat-pads writes padding, and so people do by hand.
    """
    blocks = (*BLOCKS, *OUTER_BLOCKS)
    for context in survey.contexts:
        found: dict[int, tuple[Context, Node, str]] = {}
        for node in reversed(list(context.scope.ordered())):
            if node.op_type == "Concat" and node.domain in PLAIN_DOMAINS and any(node.outputs[:1]):
                readers = context.readers(node.outputs[0])
                feeds = any(
                    one.key in found or _reads_cells(context, one, node.outputs[0])
                    for one in readers
                )
                if feeds and (name := _told_apart(context, node, "Concat")) in blocks:
                    found[node.key] = (context, node, name)
        yield from reversed(found.values())


def _reads_cells(context: Context, node: Node, name: str) -> bool:
    """Whether a padded operator reads a tensor as cells, not as the numbers of its padding."""
    chain = context.chains.get(node.key)
    if chain is None:
        return False
    return chain.op.kind is not Kind.PAD or node.inputs[0] == name


def _told_apart(context: Context, node: Node, op: str) -> str:
    """The name under which targets speak of a node without padding.

    Of Slice, whether it reads an input of the model, and not for a Concat, and whether there is a
    convolution or a pool; of Concat, whether it
    joins a constant or what Expand makes, whether that is infinite, and on which axis; of Squeeze
    and Unsqueeze, whether the batch is open; of Div, whether one channel divides several.
    """
    if op == "Slice" and node.outputs and any(is_model_input(context, x) for x in node.inputs[:1]):
        joined = any(one.op_type in _JOINING for one in context.readers(node.outputs[0]))
        among = any(chain.axes for chain in context.chains.values())
        return op if joined else INPUT_CROP[0] if among else LONE_CROP[0]
    if op in RANK and _reads_open_batch(context, node):
        return OPEN_BATCH_RANKS[0]
    if op == "Div" and _divides_by_one_channel(context, node):
        return QUOTIENT[0]
    if op != "Concat":
        return op
    makers = map(context.scope.producers.get, node.inputs)
    expands = [one for one in makers if one is not None and one.op_type == "Expand"]
    made = [name for one in expands for name in one.inputs[:1]]
    stored = [name for name in node.inputs if context.constant_tensor(name) is not None]
    if not made and not stored:
        follows = any(may_follow_window(context, name) for name in node.inputs)
        among = follows or _feeds_windows(context, node)
        return PIECES[0] if among else LOOSE_PIECES[0]
    kinds = OUTER_BLOCKS if context.attributes(node).get("axis") in (0, 1) else BLOCKS
    return kinds[any(_is_infinite(context, name) for name in (*made, *stored))]


def _reads_open_batch(context: Context, node: Node) -> bool:
    """Whether the first axis of what a node reads has no number, where the axes are known."""
    sizes = context.type_of(node.inputs[0]).dims if node.inputs else None
    return sizes is not None and not isinstance(next(iter(sizes), 0), int)


def _divides_by_one_channel(context: Context, node: Node) -> bool:
    """Whether several channels are divided by one that the model computes."""
    data, divisor = (context.type_of(name).dims or () for name in node.inputs)
    if context.constant_tensor(node.inputs[1]) is not None or len(data) < _CELLS:
        return False
    return divisor[1:2] == (1,) != data[1:2]


def _feeds_windows(context: Context, node: Node, far: int = 8) -> bool:
    """Whether a convolution or a pool reads what a Concat joins, perhaps behind other pieces."""
    for one in context.readers(node.outputs[0]) if far and node.outputs else ():
        chain = context.chains.get(one.key)
        if chain is not None and chain.axes:
            return True
        if one.op_type in ("Concat", "Slice") and _feeds_windows(context, one, far - 1):
            return True
    return False


def _is_infinite(context: Context, name: str) -> bool:
    """Whether a cell of a constant is infinite; of large ones, which passes do not write, no."""
    value = context.constant(name)
    return value is not None and value.dtype.kind == "f" and bool((abs(value) == inf).any())
