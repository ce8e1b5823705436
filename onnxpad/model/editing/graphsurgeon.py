"""Applies edit scripts to a graphsurgeon Graph, in place.

The script is first applied to the Graph's structure, which settles what goes and where new nodes
stand; the Graph then follows. Lists of nodes and readers are written once, at the end:
graphsurgeon's own `insert`, `remove` and `inputs[i] =` compare nodes one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy

import numpy as np
import onnx_graphsurgeon as gs

from onnxpad.errors import InternalError
from onnxpad.model.editing.apply import ProtoApplier
from onnxpad.model.editing.constants import AnyConstant, Derived, constant_array, derived_array
from onnxpad.model.editing.graph_as_model import (
    describe,
    name_of,
    scopes_of,
    structure_of,
)
from onnxpad.model.editing.script import (
    Edit,
    FixSize,
    ForgetType,
    GrownConstant,
    InsertNode,
    NewConstant,
    RemoveAttribute,
    ReshapedConstant,
    Resize,
    SetAttribute,
    SetInput,
    SetOutput,
)
from onnxpad.model.graph.document import open_document
from onnxpad.model.graph.nodes import Address
from onnxpad.model.graph.scopes import Scope


def apply_script(graph: gs.Graph, script: Sequence[Edit]) -> None:
    """Do to `graph` what `script`, made for its structure, says.

    Untouched nodes and tensors stay the same objects.

    Raises:
        InternalError: the script does not fit the Graph, which is then unchanged.
        ModelError: as `structure_of` and `open_document`.
    """
    if script:
        _GraphApplier(graph, script).run()


class _GraphApplier:
    def __init__(self, graph: gs.Graph, script: Sequence[Edit]) -> None:
        self._graph = graph
        self._script = script
        self._document = open_document(structure_of(graph))
        self._graphs = dict(scopes_of(graph))
        self._nodes = {id_: dict(enumerate(one.nodes)) for id_, one in self._graphs.items()}
        self._made: dict[str, dict[int, gs.Node]] = {}
        self._tensors: dict[str, dict[str, gs.Tensor]] = {}
        self._own_attributes: set[int] = set()
        self._gone: dict[int, tuple[gs.Tensor, Counter[int]]] = {}

    def run(self) -> None:
        _check(self._nodes, self._script)
        ProtoApplier(self._document).apply(self._script)
        for edit in self._script:
            self._apply(edit)
        for id_, scope in self._document.scopes.items():
            if scope.rearranged:
                self._rebuild(scope, self._graphs[id_])
        for tensor, gone in self._gone.values():
            _forget_readers(tensor, gone)

    def _apply(self, edit: Edit) -> None:
        match edit:
            case SetAttribute(address, name, value):
                self._attributes(address)[name] = list(value) if isinstance(value, tuple) else value
            case RemoveAttribute(address, name):
                self._attributes(address).pop(name, None)
            case SetInput(address, position, tensor):
                self._set_input(address, position, tensor)
            case SetOutput(address, position, tensor):
                self._set_output(address, position, tensor)
            case NewConstant() | GrownConstant() | ReshapedConstant():
                self._new_constant(edit)
            case InsertNode():
                self._insert(edit)
            case _:
                self._say_of_sizes(edit)

    def _say_of_sizes(self, edit: Edit) -> None:
        match edit:
            case ForgetType(address, tensor):
                self._tensor(address.scope, tensor).shape = None
            case Resize(address, tensor, dims):
                self._tensor(address.scope, tensor).shape = [size or None for size in dims]
            case FixSize():
                self._fix_size(edit)
            case _:
                pass  # the structure knows by now what is removed

    def _fix_size(self, edit: FixSize) -> None:
        for tensor in (one for one in self._graph.inputs if one.shape is not None):
            called = [(size, f"{tensor.name}[{axis}]") for axis, size in enumerate(tensor.shape)]
            open_sizes = [not isinstance(size, int) or size < 0 for size in tensor.shape]
            tensor.shape = [
                edit.size if still and edit.dimension in names else names[0]
                for still, names in zip(open_sizes, called, strict=True)
            ]

    def _find(self, address: Address) -> gs.Node:
        return self._nodes[address.scope][address.key]

    def _attributes(self, address: Address) -> dict[str, object]:
        """The node's attributes, in a dict that no other node shares."""
        node = self._find(address)
        if id(node) not in self._own_attributes:
            self._own_attributes.add(id(node))
            node.attrs = copy(node.attrs)
        attributes: dict[str, object] = node.attrs
        return attributes

    def _set_input(self, address: Address, position: int, name: str) -> None:
        node, tensor = self._find(address), self._tensor(address.scope, name)
        while len(node.inputs) <= position:
            list.append(node.inputs, gs.Variable.empty())
        self._forget(node.inputs[position], node)
        list.__setitem__(node.inputs, position, tensor)
        list.append(tensor.outputs, node)
        while not name and node.inputs and node.inputs[-1].is_empty():
            list.pop(node.inputs)

    def _set_output(self, address: Address, position: int, name: str) -> None:
        """Give the node a new tensor; the old one, with its readers, waits for another maker."""
        node, fresh = self._find(address), gs.Variable(name)
        old = node.outputs[position]
        kept = [maker for maker in old.inputs if maker is not node]
        list.__setitem__(old.inputs, slice(None), kept)
        list.__setitem__(node.outputs, position, fresh)
        list.append(fresh.inputs, node)
        self._known(address.scope)[name] = fresh

    def _new_constant(self, edit: AnyConstant) -> None:
        scope = edit.before.scope
        values = constant_array(edit) if isinstance(edit, NewConstant) else self._derived(edit)
        if not edit.as_node:
            self._known(scope)[edit.name] = gs.Constant(edit.name, values)
            return
        held = {"value": gs.Constant("", values)}
        node = gs.Node("Constant", attrs=held, outputs=[gs.Variable(edit.name)])
        self._add(scope, edit.key, node)

    def _derived(self, edit: Derived) -> np.ndarray:
        source = self._values(edit.before.scope, edit.source)
        zero = edit.zero_point if isinstance(edit, GrownConstant) else ""
        return derived_array(edit, source, self._values(edit.before.scope, zero) if zero else None)

    def _values(self, scope: str, name: str) -> np.ndarray:
        """The values of a constant, loaded for this once: the Graph keeps them as they are."""
        tensor = self._tensor(scope, name)
        if not isinstance(tensor, gs.Constant) and tensor.inputs:
            tensor = tensor.inputs[0].attrs["value"]
        held = tensor._values  # noqa: SLF001  the property would load the weights for good
        return held if isinstance(held, np.ndarray) else held.load()

    def _insert(self, edit: InsertNode) -> None:
        scope = edit.before.scope
        known = self._known(scope)
        node = gs.Node(
            edit.op_type,
            edit.name,
            {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in edit.attributes
            },
            inputs=[self._tensor(scope, name) for name in edit.inputs],
            outputs=[known[n] if n in known else gs.Variable(n) for n in edit.outputs],
            domain=edit.domain or None,
        )
        self._add(scope, edit.key, node)

    def _add(self, scope: str, key: int, node: gs.Node) -> None:
        self._own_attributes.add(id(node))
        self._nodes[scope][key] = node
        self._made.setdefault(scope, {})[key] = node
        self._known(scope).update((tensor.name, tensor) for tensor in node.outputs)

    def _known(self, scope: str) -> dict[str, gs.Tensor]:
        """Tensors of one graph by name; what a node makes beats another of the same name."""
        if scope not in self._tensors:
            graph = self._graphs[scope]
            nodes = [*graph.nodes, *self._made.get(scope, {}).values()]
            found = {t.name: t for node in nodes for t in node.inputs}
            found |= {t.name: t for t in (*graph.outputs, *graph.inputs)}
            found |= {t.name: t for node in nodes for t in node.outputs}
            self._tensors[scope] = found
        return self._tensors[scope]

    def _tensor(self, scope: str, name: str) -> gs.Tensor:
        self._known(scope)  # a constant that loses its last reader can still be read
        if not name:
            return gs.Variable.empty()
        inside: Scope | None = self._document.scopes[scope]
        while inside is not None:
            if name in (known := self._known(inside.id)):
                return known[name]
            inside = inside.parent
        raise InternalError(f"the script reads '{name}', which is not in the Graph")

    def _rebuild(self, scope: Scope, graph: gs.Graph) -> None:
        ordered: list[gs.Node] = []
        made = self._made.get(scope.id, {})
        for key, node in enumerate(graph.nodes):
            rows = scope.before.get(key, ()), scope.behind.get(key, ())
            before, behind = ([(new.key, made[new.key]) for new in row] for row in rows)
            for number, found in (*before, (key, node), *behind):
                if number in scope.removed:
                    self._detach(found)
                else:
                    ordered.append(found)
        graph.nodes = ordered

    def _detach(self, node: gs.Node) -> None:
        for tensor in node.inputs:
            self._forget(tensor, node)
        for tensor in node.outputs:
            kept = [maker for maker in tensor.inputs if maker is not node]
            list.__setitem__(tensor.inputs, slice(None), kept)
        list.clear(node.inputs)
        list.clear(node.outputs)

    def _forget(self, tensor: gs.Tensor, reader: gs.Node) -> None:
        self._gone.setdefault(id(tensor), (tensor, Counter()))[1][id(reader)] += 1


def _forget_readers(tensor: gs.Tensor, gone: Counter[int]) -> None:
    """Take nodes, as often as `gone` counts them, out of the readers of a tensor."""
    kept = []
    for reader in tensor.outputs:
        if gone[id(reader)] > 0:
            gone[id(reader)] -= 1
        else:
            kept.append(reader)
    list.__setitem__(tensor.outputs, slice(None), kept)


def _check(nodes: dict[str, dict[int, gs.Node]], script: Sequence[Edit]) -> None:
    """InternalError where an address leads to a node of another name."""
    for edit in script:
        addresses = [getattr(edit, field) for field in ("node", "before") if hasattr(edit, field)]
        for address in addresses:
            node = nodes.get(address.scope, {}).get(address.key)
            if node is not None and not address.label.endswith(name_of(node)):
                raise InternalError(f"the script edits {address.label}, but finds {describe(node)}")
