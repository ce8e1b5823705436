"""Edit scripts: what a rewrite does to a model, as values that can be printed and applied."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from onnxpad.expansion import AttributeValue
from onnxpad.graph.reading.ordering import Address


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
    """A constant tensor; one value alone fills all of its cells.

    `as_node` writes a Constant node with `key` in front of `before`, not an initializer.
    """

    before: Address
    name: str
    dtype: str
    dims: tuple[int, ...]
    values: tuple[int | float, ...]
    as_node: bool
    key: int


class GrownConstant(NamedTuple):
    """A constant made of another: new cells hold 0 or `zero_point`, one value or one a channel.

    `begins` and `ends` count the new cells of each axis. `as_node` and `key` as in NewConstant.
    """

    before: Address
    name: str
    source: str
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    zero_point: str
    as_node: bool
    key: int


class ReshapedConstant(NamedTuple):
    """A constant with the values of another in a new shape."""

    before: Address
    name: str
    source: str
    dims: tuple[int, ...]
    as_node: bool
    key: int


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


class RemoveNode(NamedTuple):
    """Remove a node whose outputs others write by now, with the constants that only it reads."""

    node: Address


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


class RemoveUnused(NamedTuple):
    """Remove a node that nothing reads, with the constants that only it reads."""

    node: Address


class CloneFunction(NamedTuple):
    """A copy of a local function under another name, called by `calls` from now on."""

    scope: str
    name: str
    calls: tuple[Address, ...]


Edit: TypeAlias = (
    SetAttribute
    | RemoveAttribute
    | SetInput
    | SetOutput
    | NewConstant
    | GrownConstant
    | ReshapedConstant
    | InsertNode
    | RemoveNode
    | RemoveUnused
    | RemoveConstant
    | ForgetType
    | Resize
    | CloneFunction
)
