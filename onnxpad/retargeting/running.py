"""Goes through the nodes of a model, in graph order, and moves them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from onnxpad.chain import Chain, Skip
from onnxpad.effective import output_sizes
from onnxpad.geometry.size import show
from onnxpad.graph.consequences import breaks, inferred_sizes, resizings
from onnxpad.graph.editing.describing import edit_record
from onnxpad.graph.editing.edits import Edit
from onnxpad.graph.editing.session import Session
from onnxpad.graph.reading.ordering import Address
from onnxpad.graph.reading.survey import Site
from onnxpad.graph.reading.types import Type
from onnxpad.moving import differs, resizes
from onnxpad.moving.labels import label_of
from onnxpad.retargeting.deciding import Rule

Progress = Callable[[str, int, int], None]
Sizes = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """One node that was moved: its padding and output sizes before and after.

    `resized` says that the output has, or may have, another size, `same_values` that only the
    way of writing changed.
    """

    node: Address
    op: str
    before: str
    after: str
    sizes: tuple[Sizes, Sizes]
    resized: bool
    same_values: bool
    edits: tuple[Edit, ...]

    def to_json(self) -> dict[str, Any]:
        """The move as plain data."""
        return {
            "node": self.node.label,
            "scope": self.node.scope,
            "op": self.op,
            "before": self.before,
            "after": self.after,
            "output_before": list(self.sizes[0]),
            "output_after": list(self.sizes[1]),
            "resized": self.resized,
            "same_values": self.same_values,
            "edits": [edit_record(edit) for edit in self.edits],
        }


@dataclass(frozen=True, slots=True)
class Kept:
    """One node that pads as asked already, and why."""

    node: Address
    op: str
    padding: str
    why: str

    def to_json(self) -> dict[str, Any]:
        """The node as plain data."""
        where = {"node": self.node.label, "scope": self.node.scope, "op": self.op}
        return where | {"padding": self.padding, "why": self.why}


@dataclass(frozen=True, slots=True)
class Refused:
    """One node that could not be moved; `tensor` is its input, of type `source`."""

    node: Address
    op: str
    chain: Chain
    skip: Skip
    tensor: str
    source: Type

    def to_json(self) -> dict[str, Any]:
        """The node as plain data."""
        return {
            "node": self.node.label,
            "scope": self.node.scope,
            "op": self.op,
            "reason": self.skip.reason,
            "try": list(self.skip.hints),
        }


@dataclass
class Outcome:
    """Everything that was done and not done, in graph order."""

    moves: list[Move] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    breaks: tuple[str, ...] = ()


def run(
    session: Session,
    rule: Rule,
    selected: Callable[[Address], bool],
    progress: Progress | None = None,
) -> Outcome:
    """Move every selected node; sizes behind a node whose output changed are read anew."""
    return _Run(session, rule, selected, progress).run()


class _Run:
    def __init__(
        self,
        session: Session,
        rule: Rule,
        selected: Callable[[Address], bool],
        progress: Progress | None,
    ) -> None:
        self._session = session
        self._rule = rule
        self._selected = selected
        self._progress = progress
        self._done: set[tuple[str, int]] = set()
        self._sound: tuple[str, ...] | None = None
        self._outcome = Outcome()

    def run(self) -> Outcome:
        while self._round():
            pass
        if self._sound is not None:
            now = breaks(self._session.document)
            self._outcome.breaks = tuple(one for one in now if one not in self._sound)
        return self._outcome

    def _round(self) -> bool:
        """Nodes up to one that makes another reading necessary; False at the end."""
        sites = list(self._session.sites())
        for site in sites:
            place = (site.address.scope, site.address.key)
            wanted = self._selected(site.address) and self._rule.concerns(site.address)
            if place in self._done or not wanted:
                continue
            self._done.add(place)
            if self._progress:
                self._progress(site.address.label, len(self._done) - 1, len(sites))
            if self._handle(site):
                return True
        return False

    def _handle(self, site: Site) -> bool:
        results = [self._rule.decide(site.address, chain) for chain in site.chains]
        groups = _groups(site.chains, results)
        if max(groups) > 0:
            if self._session.tell_apart(site, groups):
                self._done.discard((site.address.scope, site.address.key))
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
            self._outcome.kept.append(kept)
            return False
        return self._move(site, first)

    def _refuse(self, site: Site, skip: Skip) -> None:
        tensor = site.node.inputs[0] if site.node.inputs else ""
        self._outcome.refused.append(
            Refused(site.address, site.op, site.chain, skip, tensor, site.input_type)
        )

    def _move(self, site: Site, after: Chain) -> bool:
        """Change the node; True where sizes behind it have to be read anew."""
        session, before = self._session, site.chain
        resized = any(resizes(one, _like(one, after)) for one in site.chains)
        known = {}
        if resized:
            known = inferred_sizes(session.document)
            if self._sound is None:
                self._sound = breaks(session.document)
        edits = session.change(site, after)
        if resized:
            session.tidy(resizings(session.document, known, site.address))
        self._outcome.moves.append(
            Move(
                site.address,
                site.op,
                label_of(before, None),
                label_of(after, None),
                (_shown(before), _shown(after)),
                resized,
                not any(differs(one, _like(one, after)) for one in site.chains),
                tuple(edits),
            )
        )
        return resized


def _like(chain: Chain, after: Chain) -> Chain:
    """What the move makes of another reading of the same node."""
    return after if len(chain.axes) != len(after.axes) else replace(after, axes=_axes(chain, after))


def _axes(chain: Chain, after: Chain) -> Any:  # noqa: ANN401
    return after.axes if chain.pad != after.pad else chain.axes


def _shown(chain: Chain) -> Sizes:
    return tuple(show(size) for size in output_sizes(chain))


def _groups(chains: Sequence[Chain], results: Sequence[Chain | Skip]) -> list[int]:
    """A number for each result; readings that are left alone share one."""
    seen: list[object] = []
    groups = []
    for chain, result in zip(chains, results, strict=True):
        wanted = None
        if isinstance(result, Chain) and result != chain:
            wanted = (_written(chain), _written(result))
        if wanted not in seen:
            seen.append(wanted)
        groups.append(seen.index(wanted))
    return groups


def _written(chain: Chain) -> tuple[object, ...]:
    numbers = (chain.padding, chain.ceil_mode, chain.counts_padding)
    return (*numbers, chain.output_padding, chain.output_shape, chain.pad, chain.ambiguous)
