"""Goes through the nodes of a model, in graph order, and moves them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from onnxpad.geometry.size import show
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.nodes import Address, NodeId
from onnxpad.model.reading.survey import Site
from onnxpad.model.stated_sizes import breaks, stale_sizes
from onnxpad.padding.chain import Chain, Skip
from onnxpad.padding.effective_pads import output_sizes
from onnxpad.padding.operators import Kind
from onnxpad.retargeting.labels import label_of
from onnxpad.retargeting.lone_pads import as_windows
from onnxpad.retargeting.report import Kept, Move, Refused, SizeTexts
from onnxpad.retargeting.rules import MoveRule
from onnxpad.retargeting.windows_read import differs, resizes, too_many_cells

Progress = Callable[[str, int, int], None]


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
        self._session = session
        self._rule = rule
        self._selected = selected
        self._progress = progress
        self._done: set[NodeId] = set()
        self._sound: tuple[str, ...] | None = None
        self._log = MoveLog()

    def run(self) -> MoveLog:
        known = -1
        while known < len(self._log.changes):
            known = len(self._log.changes)
            self._ask_again()
            while self._round():
                pass
        self._in_order()
        if self._sound is not None:
            now = breaks(self._session.contexts)
            self._log.breaks = tuple(one for one in now if one not in self._sound)
        return self._log

    def _ask_again(self) -> None:
        """Nodes that were refused are decided anew: what stood beside them may have moved."""
        for refused in self._log.skips:
            self._done.discard(refused.node.id)
        self._log.skips.clear()

    def _in_order(self) -> None:
        """Moves in graph order, whatever was asked twice."""
        order = {one.address.label: n for n, one in enumerate(self._session.sites_now())}
        self._log.changes.sort(key=lambda move: order.get(move.node.label, len(order)))

    def _round(self) -> bool:
        """Nodes up to one that makes another reading necessary; False at the end."""
        named = (
            one for one in self._session.joined_pads() if one.address.label in self._rule.names
        )
        sites = [*self._session.sites_now(), *(named if self._rule.names else ())]
        for site in sites:
            node_id, address = site.address.id, site.address
            wanted = self._selected(address) and self._rule.concerns(address)
            if node_id in self._done or not wanted:
                continue
            self._done.add(node_id)
            if self._progress:
                self._progress(site.address.label, len(self._done) - 1, len(sites))
            if self._handle(site):
                return True
        return False

    def _handle(self, site: Site) -> bool:
        result = self._decide(site.address, site.chain)
        if (
            isinstance(result, Chain)
            and result.pad == site.chain.pad
            and result.op.kind is Kind.PAD
        ):
            result = site.chain
        if isinstance(result, Skip):
            if not result.moot:
                self._refuse(site, result)
            return False
        if result == site.chain:
            shown = label_of(site.chain, None)
            kept = Kept(site.address, site.op, shown, self._rule.why(site.chain))
            self._log.unchanged.append(kept)
            return False
        return self._move(site, result)

    def _decide(self, address: Address, chain: Chain) -> Chain | Skip:
        reason = too_many_cells(chain)
        return Skip(reason) if reason else self._rule.decide(address, chain)

    def _refuse(self, site: Site, skip: Skip) -> None:
        tensor = site.node.inputs[0] if site.node.inputs else ""
        self._log.skips.append(
            Refused(site.address, site.op, site.chain, skip, tensor, site.input_type)
        )

    def _move(self, site: Site, after: Chain) -> bool:
        """Change the node; True where sizes behind it have to be read anew."""
        session, before = self._session, site.chain
        if before.op.kind is Kind.PAD and isinstance(windows := as_windows(before), Chain):
            before = windows
        resized = resizes(before, after)
        stated = resized or before.ceil_mode or before.op.kind is Kind.TRANSPOSED
        if resized and self._sound is None:
            self._sound = breaks(session.contexts)
        edits = session.change(site, after)
        if stated:
            session.restate(stale_sizes(session.document, [site.address], resized=True))
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
