"""Goes through the nodes of a model, in graph order, and moves them as a rule says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

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
from onnxpad.retargeting.feasible import refuse_infeasible
from onnxpad.retargeting.labels import label_of
from onnxpad.retargeting.move import as_it_runs, moved, unchanged_because
from onnxpad.retargeting.plan import Plan, with_settings
from onnxpad.retargeting.report import Kept, Move, Refused, SizeTexts
from onnxpad.retargeting.windows_read import differs, too_many_cells

Progress = Callable[[str, int, int], None]
T = TypeVar("T", Move, Kept, Refused)
Outcome: TypeAlias = Move | Kept | Refused
_TRY = "\n  try     correct the entry, or leave it out; onnxpad inspect shows what the node has now"


@dataclass(frozen=True, slots=True)
class MoveRule:
    """The padding that each node gets: as the convention `to` writes it, or as a plan says.

    source: the convention that the model's padding is written in, None for any.
    plan: only the nodes that it lists are asked about.
    """

    to: str
    source: str | None = None
    plan: Plan | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes that the model must have."""
        return tuple(entry.node for entry in self.plan.entries) if self.plan else ()

    def change(self, node: str, chain: Chain) -> tuple[Chain, Chain] | Skip:
        """The chain of a node as it is and as it is to be, equal where the node stays."""
        if self.plan is None:
            after = moved(chain, self.to, source=self.source)
            return after if isinstance(after, Skip) else (chain, after)
        where = f"{self.plan.label}, node '{node}' ({chain.op.name})"
        entry = next(entry.settings for entry in self.plan.entries if entry.node == node)
        before: Chain | Skip = chain
        if chain.trouble:
            return chain.trouble.as_skip()
        if chain.op.kind is Kind.PAD:
            if [*entry] != ["pad_node"] or entry["pad_node"] is None:
                raise RequestError(f"{where}: the entry of a Pad holds 'pad_node' alone{_TRY}")
            before = as_windows(chain)
        if isinstance(before, Skip):
            return before
        try:
            after = with_settings(before, entry)
            refuse_infeasible(before, after)
        except RequestError as error:
            raise RequestError(f"{where}: {error!s}{_TRY}") from error
        written = as_it_runs(before, after)
        return written if isinstance(written, Skip) else (before, written)


class Run:
    """One course over a model: `outcomes` of the nodes in graph order, and what breaks by them."""

    def __init__(
        self,
        session: EditSession,
        rule: MoveRule,
        selected: Callable[[Address], bool],
        progress: Progress | None = None,
    ) -> None:
        self._session, self._rule, self._selected = session, rule, selected
        self._progress = progress
        self._outcomes: dict[NodeId, Outcome | None] = {}
        self._sound: tuple[str, ...] | None = None
        moves = -1
        while moves < (moves := len(self.of(Move))):
            # What was refused may move behind what stood beside it.
            for refused in self.of(Refused):
                del self._outcomes[refused.node.id]
            while self._round():
                pass
        order = {site.address.id: number for number, site in enumerate(session.sites_now())}
        last = len(order)
        rows = sorted(self._outcomes.items(), key=lambda row: order.get(row[0], last))
        self._outcomes = dict(rows)

    def of(self, kind: type[T]) -> tuple[T, ...]:
        """The outcomes that are moves, or nodes that stay, or refusals."""
        return tuple(outcome for outcome in self._outcomes.values() if isinstance(outcome, kind))

    @property
    def breaks(self) -> tuple[str, ...]:
        """Nodes whose inputs fitted together before the first move and do not now."""
        if self._sound is None:
            return ()
        return tuple(one for one in breaks(self._session.contexts) if one not in self._sound)

    def _round(self) -> bool:
        """Nodes up to one that makes another reading necessary; False at the end."""
        names, sites = self._rule.names, self._session.sites_now()
        sites = (*sites, *(self._session.joined_pads() if names else ()))
        for site in sites:
            address = site.address
            is_asked = self._rule.plan is None or address.label in names
            if address.id in self._outcomes or not is_asked or not self._selected(address):
                continue
            if self._progress:
                self._progress(address.label, len(self._outcomes), len(sites))
            outcome = self._outcomes[address.id] = self._handled(site)
            if isinstance(outcome, Move) and outcome.resized:
                return True
        return False

    def _handled(self, site: Site) -> Outcome | None:
        """The outcome of one node, None where there is nothing to say about it."""
        reason = too_many_cells(site.chain)
        result = Skip(reason) if reason else self._rule.change(site.address.label, site.chain)
        if isinstance(result, Skip):
            tensor = site.node.inputs[0] if site.node.inputs else ""
            refused = Refused(site.address, site.op, site.chain, result, tensor, site.input_type)
            return None if result.moot else refused
        before, after = result
        if after != before:
            return self._moved(site, before, after)
        is_planned = self._rule.plan is not None
        why = unchanged_because(before, self._rule.to)
        why = "the plan says what is there" if is_planned else why
        return Kept(site.address, site.op, label_of(before), why)

    def _moved(self, site: Site, before: Chain, after: Chain) -> Move:
        session, resized = self._session, _resizes(before, after)
        if resized and self._sound is None:
            self._sound = breaks(session.contexts)
        edits = session.change(site, after)
        if resized or before.ceil_mode or before.op.kind is Kind.TRANSPOSED:
            keep: Keep = "confirmed" if resized else "none"
            session.restate(stale_sizes(session.document, [site.address], keep))
        return Move(
            site.address,
            site.op,
            label_of(before),
            label_of(after),
            _shown(before),
            _shown(after),
            resized,
            not differs(before, after),
            tuple(edits),
            (before, after),
        )


def _resizes(one: Chain, other: Chain) -> bool:
    """Whether the output may get another size, at some size that the input can have."""
    sizes = output_sizes(one)
    return None in sizes or sizes != output_sizes(other)


def _shown(chain: Chain) -> SizeTexts:
    return tuple(show(size) for size in output_sizes(chain))
