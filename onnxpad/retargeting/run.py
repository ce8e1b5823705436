"""Goes through the nodes of a model, in graph order, and moves them as a rule says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from onnxpad.errors import RequestError
from onnxpad.geometry.size import show
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.nodes import Address, NodeId
from onnxpad.model.reading.survey import Site
from onnxpad.model.stated_sizes import Keep, breaks, stale_sizes
from onnxpad.padding.chain import Chain, Skip
from onnxpad.padding.effective_pads import output_sizes
from onnxpad.padding.operators import Kind
from onnxpad.retargeting.candidates import as_windows
from onnxpad.retargeting.feasible import infeasible
from onnxpad.retargeting.habits import named_convention
from onnxpad.retargeting.labels import label_of
from onnxpad.retargeting.move import as_it_runs, moved, unchanged_because
from onnxpad.retargeting.plan import Plan, PlanEntry, with_settings
from onnxpad.retargeting.report import Kept, Move, Refused, SizeTexts
from onnxpad.retargeting.windows_read import differs, resizes, too_many_cells

Progress = Callable[[str, int, int], None]
_TRY = "\n  try     correct the entry, or leave it out; onnxpad inspect shows what the node has now"
_LONE_PAD = (
    "the entry of a Pad node holds 'pad_node' alone, with pads, value and mode; a Pad in front of "
    "a convolution or pool belongs into the entry of that operator"
)


@dataclass(frozen=True, slots=True)
class MoveRule:
    """What is asked of each node: the padding of a convention, or what a plan lists.

    `decide` gives the chain itself where a node stays, `why` says the reason for that; both are
    asked about what `read` makes of the node's chain.
    `concerns` says which nodes there is anything to say about, `names` which must be there.
    `label` is the rule as messages call it.
    """

    name: str
    decide: Callable[[Address, Chain], Chain | Skip]
    why: Callable[[Chain], str]
    concerns: Callable[[Address], bool]
    names: tuple[str, ...] = ()
    label: str = ""
    read: Callable[[Address, Chain], Chain | Skip] = lambda _, chain: chain


def by_convention(to: str, source: str | None) -> MoveRule:
    """Every node as the convention `to` would write it; RequestError for unknown names."""
    name = named_convention(to)
    if source is not None:
        named_convention(source)
    return MoveRule(
        name,
        lambda _, chain: moved(chain, to, source=source),
        lambda chain: unchanged_because(chain, name),
        lambda _: True,
    )


def by_plan(plan: Plan) -> MoveRule:
    """Give each node the padding that the plan lists."""
    entries = {one.node: one for one in plan.entries}
    return MoveRule(
        "plan",
        lambda address, chain: _planned(entries[address.label], chain, plan.label),
        lambda _: "the plan says what is there",
        lambda address: address.label in entries,
        tuple(entries),
        plan.label,
        lambda address, chain: _read(entries[address.label], chain, plan.label),
    )


def _read(entry: PlanEntry, chain: Chain, label: str) -> Chain | Skip:
    """What an entry is about: of a Pad node its windows."""
    if chain.trouble:
        return chain.trouble.as_skip()
    if chain.op.kind is not Kind.PAD:
        return chain
    if [*entry.settings] != ["pad_node"] or entry.settings["pad_node"] is None:
        raise RequestError(f"{label}, node '{entry.node}' ({chain.op.name}): {_LONE_PAD}")
    return as_windows(chain)


def _planned(entry: PlanEntry, chain: Chain, label: str) -> Chain | Skip:
    where = f"{label}, node '{entry.node}' ({chain.op.name})"
    try:
        after = with_settings(chain, entry.settings)
    except RequestError as error:
        raise RequestError(f"{where}: {error!s}{_TRY}") from error
    if reason := infeasible(chain, after):
        raise RequestError(f"{where}: {reason}{_TRY}")
    return as_it_runs(chain, after)


@dataclass
class MoveLog:
    """Everything that was done and not done, in graph order."""

    changes: list[Move] = field(default_factory=list)
    unchanged: list[Kept] = field(default_factory=list)
    skips: list[Refused] = field(default_factory=list)
    breaks: tuple[str, ...] = ()


def run(
    session: EditSession,
    rule: MoveRule,
    selected: Callable[[Address], bool],
    progress: Progress | None = None,
) -> MoveLog:
    """Move every selected node; sizes behind a node whose output changed are read anew."""
    return _Run(session, rule, selected, progress).run()


class _Run:
    def __init__(
        self,
        session: EditSession,
        rule: MoveRule,
        selected: Callable[[Address], bool],
        progress: Progress | None,
    ) -> None:
        self._session, self._rule, self._selected = session, rule, selected
        self._progress = progress
        self._done: set[NodeId] = set()
        self._sound: tuple[str, ...] | None = None
        self._log = MoveLog()

    def run(self) -> MoveLog:
        """Rounds until nothing moves: what was refused may move behind what stood beside it."""
        log, known = self._log, -1
        while known < len(log.changes):
            known = len(log.changes)
            self._done -= {refused.node.id for refused in log.skips}
            log.skips.clear()
            while self._round():
                pass
        order = {one.address.label: n for n, one in enumerate(self._session.sites_now())}
        log.changes.sort(key=lambda move: order.get(move.node.label, len(order)))
        if self._sound is not None:
            now = breaks(self._session.contexts)
            log.breaks = tuple(one for one in now if one not in self._sound)
        return log

    def _round(self) -> bool:
        """Nodes up to one that makes another reading necessary; False at the end."""
        named = (
            one for one in self._session.joined_pads() if one.address.label in self._rule.names
        )
        sites = [*self._session.sites_now(), *(named if self._rule.names else ())]
        for site in sites:
            address = site.address
            wanted = self._selected(address) and self._rule.concerns(address)
            if address.id in self._done or not wanted:
                continue
            self._done.add(address.id)
            if self._progress:
                self._progress(address.label, len(self._done) - 1, len(sites))
            if self._handle(site):
                return True
        return False

    def _handle(self, site: Site) -> bool:
        reason = too_many_cells(site.chain)
        before = Skip(reason) if reason else self._rule.read(site.address, site.chain)
        result = before if isinstance(before, Skip) else self._rule.decide(site.address, before)
        if isinstance(result, Skip) or isinstance(before, Skip):
            if isinstance(result, Skip) and not result.moot:
                tensor = site.node.inputs[0] if site.node.inputs else ""
                self._log.skips.append(
                    Refused(site.address, site.op, site.chain, result, tensor, site.input_type)
                )
            return False
        if result == before:
            shown, why = label_of(before, None), self._rule.why(before)
            self._log.unchanged.append(Kept(site.address, site.op, shown, why))
            return False
        return self._move(site, before, result)

    def _move(self, site: Site, before: Chain, after: Chain) -> bool:
        """Change the node; True where sizes behind it have to be read anew."""
        session, resized = self._session, resizes(before, after)
        if resized and self._sound is None:
            self._sound = breaks(session.contexts)
        edits = session.change(site, after)
        if resized or before.ceil_mode or before.op.kind is Kind.TRANSPOSED:
            keep: Keep = "confirmed" if resized else "none"
            session.restate(stale_sizes(session.document, [site.address], keep))
        self._log.changes.append(
            Move(
                site.address,
                site.op,
                label_of(before, None),
                label_of(after, None),
                _shown(before),
                _shown(after),
                resized,
                not differs(before, after),
                tuple(edits),
                (before, after),
            )
        )
        return resized


def _shown(chain: Chain) -> SizeTexts:
    return tuple(show(size) for size in output_sizes(chain))
