"""One model being worked on: read, changed by edit scripts, read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onnx import ModelProto

from onnxpad.chain import Chain, Skip
from onnxpad.effective import effective_pads
from onnxpad.graph.applying import ProtoApplier
from onnxpad.graph.chain_reading import Preference
from onnxpad.graph.cloning import calls_by_group, can_be_cloned, free_function_name
from onnxpad.graph.context import Context
from onnxpad.graph.document import Document, open_document
from onnxpad.graph.edits import Address, CloneFunction, Edit
from onnxpad.graph.emitting import Names, address_of, emit
from onnxpad.graph.inference import infer
from onnxpad.graph.ordering import Node
from onnxpad.graph.reading import Declared, Reading, read
from onnxpad.graph.types import Dimensions, Type

MAX_INFERENCES = 8


@dataclass(eq=False, slots=True)
class Site:
    """A padded node; `chains` has one reading for each kind of call of its function."""

    address: Address
    op: str
    node: Node
    contexts: tuple[Context, ...]
    chains: tuple[Chain, ...]

    @property
    def chain(self) -> Chain:
        """The first reading, which stands for all where there is only one."""
        return self.chains[0]

    @property
    def input_type(self) -> Type:
        """Type of the tensor that is padded."""
        return self.contexts[0].type_of(self.node.inputs[0]) if self.node.inputs else Type()

    @property
    def output_type(self) -> Type:
        """Type of the first output."""
        return self.contexts[0].type_of(self.node.outputs[0]) if self.node.outputs else Type()


class Session:
    """Holds the document of one model between passes.

    The model is changed in place, from the first edit on; `script` is what was done to it.
    `owned` False makes the session work on a copy as soon as something changes.
    """

    def __init__(
        self,
        model: ModelProto,
        *,
        dims: Mapping[str, int | str] | None = None,
        folder: Path | None = None,
        prefer: Preference = None,
        owned: bool = True,
    ) -> None:
        self._owned = owned
        self._folder = folder
        self._prefer = prefer
        self._dimensions = Dimensions(dims)
        self._memory: dict[tuple[str, int], tuple[Chain, Chain | Skip]] = {}
        self._sites: dict[tuple[str, int], Site] = {}
        self.script: list[Edit] = []
        self._open(model)
        self._dimensions.check_used()

    @property
    def model(self) -> ModelProto:
        """The model in its present state; call `finish` first."""
        return self._document.model

    def sites(self) -> Iterator[Site]:
        """Every padded node in graph order, read anew where the model has changed."""
        if self._stale:
            self._read()
        yield from self._sites.values()

    def change(self, site: Site, after: Chain) -> list[Edit]:
        """Make the node compute `after`; the edits are applied and remembered."""
        if not self._owned:
            self._take_copy()
        site = self._sites[site.address.scope, site.address.key]
        self._stale = True
        edits = emit(site.contexts[0], site.node, site.chain, after, self._names)
        self._applier.apply(edits)
        self.script += edits
        return edits

    def tell_apart(self, site: Site, groups: Sequence[int]) -> bool:
        """Give each group of readings of a function its own copy; False where that fails.

        `groups` has a number for each of the site's chains; group 0 keeps the original.
        """
        scope = site.contexts[0].scope
        if not self._owned:
            self._take_copy()
            site = self._sites[site.address.scope, site.address.key]
            scope = site.contexts[0].scope
        calls = calls_by_group(site.contexts, groups)
        if calls is None or not can_be_cloned(scope):
            return False
        self._stale = True
        for group in sorted(set(groups) - {0}):
            name = free_function_name(self._document, scope)
            edit = CloneFunction(scope.id, name, tuple(calls.get(group, ())))
            self._applier.apply([edit])
            self.script.append(edit)
        return True

    def remembered(
        self, name: str, chain: Chain, compute: Callable[[], Chain | Skip]
    ) -> Chain | Skip:
        """The result of a pass on a chain, computed once: equal chains are read as one object."""
        key = (name, id(chain))
        if key not in self._memory:
            self._memory[key] = (chain, compute())
        return self._memory[key][1]

    def finish(self) -> ModelProto:
        """Write new nodes into the model and give it back."""
        self._applier.finish()
        return self._document.model

    def _open(self, model: ModelProto) -> None:
        self._document: Document = open_document(model)
        self._names = Names(self._document)
        self._applier = ProtoApplier(self._document)
        self._inferred: Declared | None = None
        self._read()

    def _take_copy(self) -> None:
        copy = ModelProto()
        copy.CopyFrom(self._document.model)
        self._owned = True
        inferred = self._inferred
        self._open(copy)
        self._inferred = inferred

    def _read(self) -> None:
        self._stale = False
        reading = self._once()
        for _ in range(MAX_INFERENCES):
            if not _needs_sizes(reading):
                break
            inferred = infer(reading)
            if inferred == self._inferred:
                break
            self._inferred = inferred
            reading = self._once()
        self._sites = {(s.address.scope, s.address.key): s for s in _group(reading)}

    def _once(self) -> Reading:
        return read(
            self._document,
            self._dimensions,
            folder=self._folder,
            prefer=self._prefer,
            inferred=self._inferred,
        )


def _needs_sizes(reading: Reading) -> bool:
    """Whether some pads hang on a size of which not even a name is known."""
    return any(
        any(axis.size is None for axis in chain.axes)
        and not chain.trouble
        and isinstance(effective_pads(chain), Skip)
        for _, _, chain in reading.sites()
    )


def _group(reading: Reading) -> Iterator[Site]:
    found: dict[tuple[str, int], list[tuple[Context, Node, Chain]]] = {}
    for context, node, chain in reading.sites():
        found.setdefault((context.scope.id, node.key), []).append((context, node, chain))
    for rows in found.values():
        context, node, _ = rows[0]
        yield Site(
            address_of(context.scope, node),
            node.op_type,
            node,
            tuple(row[0] for row in rows),
            tuple(row[2] for row in rows),
        )
