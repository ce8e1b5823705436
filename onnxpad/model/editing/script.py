"""Edit scripts: what a rewrite does to a model, as values that can be printed and applied.

`Names` hands out names for what they add.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, count
from typing import Any, NamedTuple, TypeAlias

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Address, Node
from onnxpad.model.graph.scopes import Document, Scope
from onnxpad.padding.operators import FREE_INITIALIZERS, AttributeValue
from onnxpad.reports import plain


class SetAttribute(NamedTuple):
    """Write an attribute, in place of what it held."""

    node: Address
    name: str
    value: AttributeValue


class RemoveAttribute(NamedTuple):
    """Take an attribute away, so that its default holds."""

    node: Address
    name: str


class SetInput(NamedTuple):
    """Let a node read another tensor at one of its inputs; '' leaves the input out."""

    node: Address
    position: int
    tensor: str


class SetOutput(NamedTuple):
    """Let a node write another tensor; what read the old one waits for a new node to write it."""

    node: Address
    position: int
    tensor: str


class NewConstant(NamedTuple):
    """A constant tensor: numbers, of which one alone fills all of its cells, or another's cells.

    The cells of `source` get the shape `dims`, or lie from `begins` on along each axis, `steps`
    apart, where they have `begins`; the cells between hold 0 or `zero_point`, one value or one a
    channel. `groups` as in `Reshaped`. `as_node` writes a Constant node with `key` in front of
    `before`, not an initializer.
    """

    before: Address
    name: str
    dtype: str
    dims: tuple[int, ...]
    values: tuple[int | float, ...]
    as_node: bool
    key: int
    source: str = ""
    groups: int = 0
    begins: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()
    zero_point: str = ""


class InsertNode(NamedTuple):
    """A new node in front of `before`, or right behind it; later edits address it by `key`."""

    before: Address
    key: int
    op_type: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[tuple[str, AttributeValue], ...] = ()
    domain: str = ""
    behind: bool = False

    @property
    def address(self) -> Address:
        """The new node's own."""
        return Address(self.before.scope, self.key, self.name)


class RemoveConstant(NamedTuple):
    """Remove a constant that `reader` read, if nothing reads it any more."""

    reader: Address
    tensor: str


class ForgetType(NamedTuple):
    """Take away what the file says of the type of a tensor that `maker` writes."""

    maker: Address
    tensor: str


class Resize(NamedTuple):
    """Write other sizes where the file says what `maker` writes.

    A size is a number, the name of a dimension, or '' where nothing is known.
    """

    maker: Address
    tensor: str
    dims: tuple[int | str, ...]


class FixSize(NamedTuple):
    """Write a size wherever an input names a dimension, or at an axis of an input: 'x[2]'."""

    dimension: str
    size: int


class SetMetadata(NamedTuple):
    """Write an entry of the model's metadata."""

    key: str
    value: str


class MoveOpset(NamedTuple):
    """Set the opset of ONNX that the model imports."""

    opset: int


class RemoveUnused(NamedTuple):
    """Remove a node that nothing reads or whose outputs others write, with its own constants."""

    node: Address


class WriteOut(NamedTuple):
    """Write out local functions where they are called, for the sake of it."""

    functions: tuple[str, ...]


Edit: TypeAlias = (
    SetAttribute
    | RemoveAttribute
    | SetInput
    | SetOutput
    | NewConstant
    | InsertNode
    | RemoveUnused
    | RemoveConstant
    | ForgetType
    | Resize
    | WriteOut
    | FixSize
    | SetMetadata
    | MoveOpset
)


_UNTOLD = {"edit", "node", "before", "maker", "reader", "as_node", "key", "groups"}


def edit_record(edit: Edit) -> dict[str, Any]:
    """An edit as plain JSON data; `edit` names its kind. Infinities are texts: JSON has none."""
    return {"edit": type(edit).__name__, **plain(edit)}


def describe_edit(edit: Edit) -> str:
    """An edit as one line for people, behind the label of its node where it is about one."""
    about = edit[0]
    where = f"{about.label}: " if isinstance(about, Address) else ""
    match edit:
        case SetAttribute(_, name, value):
            return f"{where}set {name}={plain(value)}"
        case RemoveAttribute(_, name):
            return f"{where}remove {name}"
    kind = re.sub(r"\B(?=[A-Z])", " ", type(edit).__name__).lower()
    told = [
        f"{name} {value}"
        for name, value in edit_record(edit).items()
        if name not in _UNTOLD and value not in ("", [], {}) and value is not False
    ]
    return f"{where}{kind}: {', '.join(told)}"


class Names:
    """Hands out names that no tensor and no node of the model has, nor any type of one."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._taken: set[str] | None = None

    def new(self, wanted: str) -> str:
        """`wanted`, with a number where it is taken."""
        if self._taken is None:
            self._taken = set(_all_names(self._document))
        numbered = (f"{wanted}_{number}" for number in count(1))
        name = next(one for one in chain([wanted], numbered) if one not in self._taken)
        self._taken.add(name)
        return name


def next_key(scope: Scope) -> int:
    """The identity of a new node."""
    scope.next_key += 1
    return scope.next_key - 1


def stem(node: Node) -> str:
    """What names of new nodes and tensors beside `node` begin with."""
    return node.name or next((out for out in node.outputs if out), node.op_type)


def as_nodes(context: Context) -> bool:
    """Whether new constants are Constant nodes: old models have no other."""
    model = context.document.model
    return model.ir_version < FREE_INITIALIZERS


def _all_names(document: Document) -> Iterator[str]:
    for scope in document.scopes.values():
        yield from scope.inputs
        yield from scope.outputs
        yield from scope.initializers
        for node in scope.ordered():
            yield node.name
            yield from node.outputs
        yield from (value.name for value in scope.proto.value_info)
