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
from onnxpad.model.graph.context import Context, seen_in
from onnxpad.model.graph.document import open_document
from onnxpad.model.graph.nodes import Address, Node, NodeId
from onnxpad.model.graph.scopes import Document, address_of
from onnxpad.model.graph.types import UNKNOWN, Type
from onnxpad.model.reading.reader import Reading, read
from onnxpad.model.shapes.dimensions import Dimensions
from onnxpad.model.shapes.recorded_facts import joined_facts, recorded_facts
from onnxpad.model.shapes.result_types import merge
from onnxpad.padding.chain import NO_PREFERENCE, Chain, PadStep, Preferences, Skip
from onnxpad.padding.effective_pads import effective_pads

MAX_INFERENCES = 8


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
        return self.context.type_of(self.node.inputs[0]) if self.node.inputs else Type()


class Survey:
    """One model and every padded node in it; shape inference runs only where a size is needed.

    That is where pads hang on it; with `thorough`, where any size of a padded input is missing.
    Functions that can pad are written out in a copy, unless `keeps_functions` says why not.
    `types` are what is known of tensors of the main graph besides what the model says; `recorded`
    is what an edited model says in its metadata of its dimensions, which holds as `dims` do.
    Raises ModelError for models that cannot be meant and RequestError for facts about
    dimensions that the model does not have.
    """

    def __init__(  # noqa: PLR0913  what is known of the model, each by its name
        self,
        model: ModelProto,
        *,
        dims: Mapping[str, int | str] | None = None,
        folder: Path | None = None,
        prefer: Preferences = NO_PREFERENCE,
        thorough: bool = False,
        types: Mapping[str, Type] | None = None,
        keeps_functions: str = "",
    ) -> None:
        self._why_not = keeps_functions
        self._given = {"": dict(types or {})}
        self._folder = folder
        self._thorough = thorough
        self._prefer = prefer
        self.recorded = recorded_facts(model)
        self._facts = joined_facts(self.recorded, dims or {})
        self._dimensions = Dimensions(self._facts)
        self._sites: dict[NodeId, Site] = {}
        self._contexts: Sequence[Context] = ()
        self._typed: Sequence[Context] | None = None
        self._open(model)
        self._dimensions.check_used()

    @property
    def dimension_names(self) -> frozenset[str]:
        """Every dimension that a fact can be about."""
        return frozenset(self._dimensions.names)

    @property
    def facts(self) -> Mapping[str, int | str]:
        """What is known of dimensions besides what the model's types say."""
        return self._facts

    @property
    def is_edited(self) -> bool:
        """Whether what is read is to be written, functions that were written out among it."""
        return False

    @property
    def document(self) -> Document:
        """The model with its scopes."""
        return self._document

    @property
    def contexts(self) -> Sequence[Context]:
        """The readings of all scopes, in graph order."""
        if self._stale:
            self._read()
        return self._contexts

    def learn(self, facts: Mapping[str, int | str]) -> None:
        """Read the model again with more known of its dimensions; a copy may, and reads only."""
        self._facts = joined_facts(self.recorded, {**self._facts, **facts})
        self._dimensions = Dimensions(self._facts)
        self._given = {"": dict(self._given[""])}
        self._forget_all()
        self._read()

    def typed_contexts(self) -> Sequence[Context]:
        """The same, with what inference finds of every tensor where some size lacks a name."""
        if self._stale or self._typed is None:
            self._typed = self._with_open_types(self.contexts)
        return self._typed

    def _with_open_types(self, contexts: Sequence[Context]) -> Sequence[Context]:
        if not any(_is_open(found) for context in contexts for found in _made(context)):
            return contexts
        from onnxpad.model.shapes.shape_inference import infer

        inferred = infer(contexts, self._inferred or {})
        return self._once(inferred).contexts if _tells_more(inferred, contexts) else contexts

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

    @without_collections()
    def _open(self, model: ModelProto) -> None:
        read = open_document(model, self._why_not)
        self._document: Document = replace(read, prefer=self._prefer)
        self._forget_all()
        self._read()

    def _move_to(self, model: ModelProto) -> None:
        """Go on with an equal model: what was read holds for it, whose nodes are others."""
        old = self._document
        self._document = replace(
            open_document(model, "it was asked about before"),
            kept=old.kept,
            written_out=old.written_out,
            folded_cells=old.folded_cells,
            behind_pads=old.behind_pads,
            before_pools=old.before_pools,
            quantises=old.quantises,
            prefer=old.prefer,
        )
        self._contexts, self._typed = seen_in(self._document, self._contexts), None
        self._sites = {site.address.id: site for site in _group(self._contexts)}

    def _forget_all(self) -> None:
        self._inferred: dict[str, dict[str, Type]] | None = None
        self._kept: dict[str, dict[str, Type]] = {}
        self._changed: list[tuple[Site, Sequence[str]]] = []

    @without_collections()
    def _read(self) -> None:
        """Read the model, and again as long as inference may tell what the reading lacks."""
        self._stale, self._typed = False, None
        reading, nameless = self._once(), frozenset[str]()
        for _ in range(MAX_INFERENCES):
            before, nameless = nameless, _nameless(reading) if self._thorough else nameless
            others_lack = nameless not in (before, frozenset())
            lacks = others_lack or _needs_sizes(reading) or self._is_doubted(reading)
            again = self._read_with_inference(reading) if lacks else None
            if again is None:
                break
            reading = again
        self._contexts = reading.contexts
        self._sites = {s.address.id: s for s in _group(reading.contexts)}
        self._order = {node_id: number for number, node_id in enumerate(self._sites)}

    def _is_doubted(self, reading: Reading) -> bool:
        """Whether a padded node reads a size that the file declares and inference has not seen."""
        return self._inferred is None and reading.declared_only

    def _read_with_inference(self, reading: Reading) -> Reading | None:
        """The model with what inference finds; None where that is nothing new.

        The first time inference is on its own, without what the file declares. Where it finds
        nothing so, the same reading comes back, and the next time inference believes the file.
        """
        from onnxpad.model.shapes.shape_inference import infer

        believing = self._inferred is not None or not _declares(reading)
        inferred = infer(reading.contexts, self._inferred or {}, believing=believing)
        if inferred == self._inferred:
            return None
        self._inferred = inferred
        if _tells_more(inferred, reading.contexts):
            return self._once()
        return None if believing else reading

    def _types_kept(self) -> dict[str, dict[str, Type]]:
        """The types of what changed nodes wrote: what took their place writes the same."""
        for site, outputs in self._changed:
            kept = self._kept.setdefault(site.address.scope, {})
            kept |= {name: site.context.type_of(name) for name in outputs if name}
        self._changed = []
        return self._kept

    def _forget(self, scope: str, tensor: str) -> None:
        """Drop what was found about a tensor of the scope with this id."""
        if not scope:
            self._given[""].pop(tensor, None)
        for known in (self._inferred or {}, self._types_kept()):
            known.get(scope, {}).pop(tensor, None)

    def _once(self, inferred: dict[str, dict[str, Type]] | None = None) -> Reading:
        return read(
            self._document,
            self._dimensions,
            folder=self._folder,
            prefer=self._prefer,
            inferred=self._known_types(inferred or self._inferred),
        )

    def _known_types(
        self, inferred: dict[str, dict[str, Type]] | None
    ) -> dict[str, dict[str, Type]]:
        """What was given for the main graph, what inference found, and what nodes wrote before."""
        found = {address: dict(types) for address, types in (inferred or {}).items()}
        found[""] = self._given[""] | found.get("", {})
        for address, types in self._types_kept().items():
            known = found.setdefault(address, {})
            known |= {name: merge(known.get(name, UNKNOWN), kept) for name, kept in types.items()}
        return found


def _declares(reading: Reading) -> bool:
    """Whether the file says anything of results inside, which inference may believe or not."""
    return any(context.scope.proto.value_info for context in reading.contexts)


def _tells_more(inferred: Mapping[str, Mapping[str, Type]], contexts: Sequence[Context]) -> bool:
    """Whether inference found what the contexts do not know yet."""
    read = {context.scope.id: context.types for context in contexts}
    return any(
        merge(found, read.get(address, {}).get(name, UNKNOWN))
        != read.get(address, {}).get(name, UNKNOWN)
        for address, types in inferred.items()
        for name, found in types.items()
    )


def _made(context: Context) -> Iterator[Type]:
    """The types of what the nodes of a scope write."""
    for node in context.scope.ordered():
        yield from (context.type_of(name) for name in node.outputs if name)


def _is_open(found: Type) -> bool:
    return found.dims is None or None in found.dims


def _needs_sizes(reading: Reading) -> bool:
    """Whether some pads hang on a size of which not even a name is known, or on a lost type."""
    return any(
        (chain.is_max and not chain.dtype)
        or _is_computed_from_nameless(chain.pad)
        or (
            any(axis.size is None for axis in chain.axes)
            and not chain.trouble
            and isinstance(effective_pads(chain), Skip)
        )
        for chain in reading.chains()
    )


def _is_computed_from_nameless(step: PadStep | None) -> bool:
    """Whether a Pad's pads are computed, and not only from sizes that have a name."""
    if step is None or not step.unclear or 1 not in step.computed:
        return False
    return not any(hint.startswith("--dim") for hint in step.unclear.hints)


def _nameless(reading: Reading) -> frozenset[str]:
    """Padded inputs, and weights that give the kernel, that have a size without any name."""
    found = set()
    for context, node, chain in reading.padded_nodes():
        read = list(node.inputs[:1])
        trouble = chain.trouble
        lacks_kernel = trouble and not trouble.too_new and not chain.axes
        if lacks_kernel and chain.op.weight is not None:
            read += node.inputs[chain.op.weight : chain.op.weight + 1]
        for name in filter(None, read):
            dims = context.type_of(name).dims
            if dims is None or None in dims:
                found.add(f"{context.scope.id}/{name}/{dims}")
    return frozenset(found)


def _group(found: Iterable[Context]) -> Iterator[Site]:
    for context in found:
        for node in context.scope.ordered():
            if (chain := context.chains.get(node.key)) is not None:
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
    labels = [site.address.label for site in survey.sites_now()] if globs else []
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
    labels = [site.address.label for site in survey.sites_now()] if names else []
    for name in names:
        if name not in labels:
            raise RequestError(f"{asker}: {_nothing(name, labels)}")


def _nothing(wanted: str, labels: Sequence[str]) -> RequestError:
    shown = ", ".join(labels[:_SHOWN]) + (" ..." if len(labels) > _SHOWN else "")
    return RequestError(f"no padded node matches '{wanted}'; there are: {shown or 'none'}")
