"""Goes through the nodes of a model, in graph order, and moves them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from onnxpad.geometry.size import Size, show
from onnxpad.model.editing.function_copies import grouped, written
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.nodes import Address, NodeId
from onnxpad.model.reading.survey import Site
from onnxpad.model.sizes_downstream import breaks, stale_sizes
from onnxpad.padding.chain import Chain, Skip
from onnxpad.padding.effective_pads import output_sizes
from onnxpad.padding.operators import Kind
from onnxpad.retargeting.labels import label_of
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
        sites = self._session.sites_now()
        for site in sites:
            node_id, given = site.address.id, self._session.as_given(site)
            wanted = self._selected(given) and self._rule.concerns(given)
            if node_id in self._done or not wanted:
                continue
            self._done.add(node_id)
            if self._progress:
                self._progress(site.address.label, len(self._done) - 1, len(sites))
            if self._handle(site):
                return True
        return False

    def _handle(self, site: Site) -> bool:
        given = self._session.as_given(site)
        results = [self._decide(given, chain) for chain in site.chains]
        groups = grouped([_wish(*pair) for pair in zip(site.chains, results, strict=True)])
        if max(groups) > 0:
            if self._tell_apart(site, groups):
                return True
            skip = Skip(
                "the function is called in ways that need different padding, and its calls "
                "cannot be told apart"
            )
            self._refuse(site, skip)
            return False
        first = results[0]
        if isinstance(first, Skip):
            if not first.moot:
                self._refuse(site, first)
            return False
        if first == site.chain:
            shown = label_of(site.chain, None)
            kept = Kept(site.address, site.op, shown, self._rule.why(site.chain))
            self._log.unchanged.append(kept)
            return False
        return self._move(site, first)

    def _decide(self, given: Address, chain: Chain) -> Chain | Skip:
        reason = too_many_cells(chain)
        return Skip(reason) if reason else self._rule.decide(given, chain)

    def _tell_apart(self, site: Site, groups: list[int]) -> bool:
        if not self._session.tell_apart(site, groups):
            return False
        self._done.discard(site.address.id)
        return True

    def _refuse(self, site: Site, skip: Skip) -> None:
        tensor = site.node.inputs[0] if site.node.inputs else ""
        self._log.skips.append(
            Refused(site.address, site.op, site.chain, skip, tensor, site.input_type)
        )

    def _move(self, site: Site, after: Chain) -> bool:
        """Change the node; True where sizes behind it have to be read anew."""
        session, before = self._session, site.chain
        resized = any(resizes(one, _like(one, after)) for one in site.chains)
        stated = resized or before.ceil_mode or before.op.kind is Kind.TRANSPOSED
        if resized and self._sound is None:
            self._sound = breaks(session.contexts)
        edits = session.change(site, after)
        if stated:
            sizes = output_sizes(_like(before, after))
            agrees = partial(_agrees, sizes, before.spatial)
            session.tidy(stale_sizes(session.document, [site.address], agrees))
        self._log.changes.append(
            Move(
                site.address,
                site.op,
                label_of(before, None),
                label_of(after, None),
                _shown(before),
                _shown(after),
                resized,
                not any(differs(one, _like(one, after)) for one in site.chains),
                tuple(edits),
                (before, after),
            )
        )
        return resized


def _agrees(
    sizes: Sequence[Size | None], spatial: slice, dims: tuple[int | str, ...] | None
) -> bool:
    """Whether inferred sizes of a result are those of its windows; with ceil_mode not always."""
    pairs = zip(sizes, (dims or ())[spatial], strict=False)
    return all(a == b for a, b in pairs if isinstance(a, int) and isinstance(b, int))


def _like(chain: Chain, after: Chain) -> Chain:
    """What the move makes of another reading of the same node."""
    alike = chain.rank == after.rank and chain.pad == after.pad
    return replace(after, axes=chain.axes) if alike else after


def _shown(chain: Chain) -> SizeTexts:
    return tuple(show(size) for size in output_sizes(chain))


def _wish(chain: Chain, result: Chain | Skip) -> object:
    """What is to be written, which calls of a function have to agree on; None for nothing."""
    if isinstance(result, Skip) or result == chain:
        return None
    return written(chain), chain.conflict_settled, written(result)
