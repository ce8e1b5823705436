"""A model read as sites, of which a user may mean some: what every verb starts from."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from onnx import ModelProto

from onnxpad.errors import RequestError
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.document import open_document
from onnxpad.model.graph.nodes import Address, Node, NodeId
from onnxpad.model.graph.scopes import Document, address_of
from onnxpad.model.graph.types import Type
from onnxpad.model.reading.compounds import compounds
from onnxpad.model.reading.reader import read
from onnxpad.model.shapes.dimensions import Dimensions
from onnxpad.model.shapes.recorded_facts import joined_facts, recorded_facts
from onnxpad.padding.chain import NO_PREFERENCE, Chain, Preferences
from onnxpad.padding.operators import OPERATORS


@contextmanager
def without_collections() -> Iterator[None]:
    """Python looks for no garbage: what a model is read into is kept, however much it is."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@dataclass(eq=False, slots=True)
class Site:
    """A padded node, as it was read."""

    address: Address
    op: str
    node: Node
    context: Context
    chain: Chain

    @property
    def input_type(self) -> Type:
        """Type of the tensor that is padded."""
        return self.context.type_of(self.tensor) if self.tensor else Type()

    @property
    def tensor(self) -> str:
        """The tensor that is padded."""
        return next(iter((*self.chain.reads, *self.node.inputs)), "")


class Survey:
    """One model and every padded node in it.

    Functions that can pad are written out in a copy, unless `keeps_functions` says why not.
    `facts` are what is known of dimensions besides what its types say.
    `types` are what is known of tensors of the main graph besides what the model says; `recorded`
    is what an edited model says in its metadata of its dimensions, which holds as `dims` do.
    Raises ModelError for models that cannot be meant and RequestError for facts about
    dimensions that the model does not have.
    """

    def __init__(
        self,
        model: ModelProto,
        *,
        dims: Mapping[str, int | str] | None = None,
        folder: Path | None = None,
        prefer: Preferences = NO_PREFERENCE,
        types: Mapping[str, Type] | None = None,
        keeps_functions: str = "",
    ) -> None:
        self._why_not = keeps_functions
        self._types = types or {}
        self._folder = folder
        self._prefer = prefer
        self.recorded = recorded_facts(model)
        self.facts = joined_facts(self.recorded, dims or {})
        self._dimensions = Dimensions(self.facts)
        self._sites: dict[NodeId, Site] = {}
        self._compounds: dict[NodeId, Site] | None = None
        self._contexts: Sequence[Context] = ()
        self._open(model)
        self._dimensions.check_used()

    @property
    def dimension_names(self) -> frozenset[str]:
        """Every dimension that a fact can be about."""
        return frozenset(self._dimensions.names)

    @property
    def is_edited(self) -> bool:
        """Whether what is read is to be written, functions that were written out among it."""
        return False

    @property
    def contexts(self) -> Sequence[Context]:
        """The readings of all scopes, in graph order."""
        if self._stale:
            self._read()
        return self._contexts

    def learn(self, facts: Mapping[str, int | str]) -> None:
        """Read the model again with more known of its dimensions; a copy may, and reads only."""
        self.facts = joined_facts(self.recorded, {**self.facts, **facts})
        self._dimensions = Dimensions(self.facts)
        self._given = {"": dict(self._types)}
        self._read()

    def sites_now(self) -> tuple[Site, ...]:
        """Every padded node of the model as it stands, in graph order.

        A snapshot: what is changed afterwards shows in the next one.
        """
        if self._stale:
            self._read()
        return tuple(self._sites.values())

    def sites_at(self, ids: Collection[NodeId]) -> Iterator[Site]:
        """The padded nodes among `ids` in graph order: looked up, however many others are."""
        if self._stale:
            self._read()
        known = [node_id for node_id in ids if node_id in self._sites]
        for node_id in sorted(known, key=self._order.__getitem__):
            yield self._sites[node_id]

    def compounds(self) -> tuple[Site, ...]:
        """What several nodes write together, at the last of them; a snapshot as well."""
        if self._compounds is None or self._stale:
            found = ((context, compounds(context)) for context in self.contexts)
            self._compounds = {site.address.id: site for site in _group(found)}
        return tuple(self._compounds.values())

    def joined_pads(self) -> Iterator[Site]:
        """The Concats among them that do what a Pad does, as that Pad."""
        for site in self.compounds():
            if site.chain.pad is not None and site.chain.pad.mode != "context":
                yield replace(site, chain=replace(site.chain, op=OPERATORS["", "Pad"]))

    @without_collections()
    def _open(self, model: ModelProto) -> None:
        read = open_document(model, self._why_not)
        self.document: Document = replace(read, prefer=self._prefer)
        self._given = {"": dict(self._types)}
        self._read()

    def _move_to(self, model: ModelProto) -> None:
        """Go on with an equal model, whose functions are written out already."""
        old, has_compounds = self.document, self._compounds is not None
        read = open_document(model, "it was asked about before")
        known = {"kept": old.kept, "written_out": old.written_out, "prefer": old.prefer}
        self.document = replace(read, **known)  # type: ignore[arg-type]
        self._read()
        if has_compounds:
            self.compounds()

    @without_collections()
    def _read(self) -> None:
        self._stale = False
        self._contexts = read(
            self.document,
            self._dimensions,
            folder=self._folder,
            prefer=self._prefer,
            given=self._given,
        )
        chains = ((context, context.chains) for context in self._contexts)
        self._sites = {site.address.id: site for site in _group(chains)}
        self._compounds = None
        self._order = {node_id: number for number, node_id in enumerate(self._sites)}


def _group(found: Iterable[tuple[Context, Mapping[int, Chain]]]) -> Iterator[Site]:
    for context, chains in found:
        for node in context.scope.ordered():
            if (chain := chains.get(node.key)) is not None:
                yield Site(address_of(context.scope, node), node.op_type, node, context, chain)


_SHOWN = 8


def selection(survey: Survey, nodes: str | Sequence[str] | None) -> Callable[[Address], bool]:
    """Whether a node matches one of the globs; all do for None, and none for an empty list.

    A glob may also be a label as it stands, whatever characters are in it. Raises RequestError
    for a glob that matches no padded node.
    """
    if nodes is None:
        return lambda _: True
    globs = [nodes] if isinstance(nodes, str) else list(nodes)
    sites = (*survey.sites_now(), *survey.compounds()) if globs else ()
    labels = [site.address.label for site in sites]
    for glob in globs:
        if not any(_matches(label, glob) for label in labels):
            raise _nothing(glob, labels)
    return lambda address: any(_matches(address.label, glob) for glob in globs)


def _matches(label: str, glob: str) -> bool:
    return label == glob or fnmatchcase(label, glob)


def known_names(survey: Survey, names: Sequence[str], asker: str) -> None:
    """Check labels of single nodes, which are no globs; RequestError for one that is not there.

    `asker` is what names them, as messages call it.
    """
    sites = (*survey.sites_now(), *survey.compounds()) if names else ()
    labels = [site.address.label for site in sites]
    for name in names:
        if name not in labels:
            raise RequestError(f"{asker}: {_nothing(name, labels)}")


def _nothing(wanted: str, labels: Sequence[str]) -> RequestError:
    shown = ", ".join(labels[:_SHOWN]) + (" ..." if len(labels) > _SHOWN else "")
    return RequestError(f"no padded node matches '{wanted}'; there are: {shown or 'none'}")
