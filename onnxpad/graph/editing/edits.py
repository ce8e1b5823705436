"""Edit scripts: what a rewrite does to a model, as values that can be printed and applied."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from onnxpad.graph.reading.ordering import Address

AttributeValue: TypeAlias = int | float | str | tuple[int, ...]


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
    """Let a node read another tensor at one of its inputs."""

    node: Address
    position: int
    tensor: str


class NewConstant(NamedTuple):
    """A constant tensor.

    `as_node` writes a Constant node with `key` in front of `before`, not an initializer.
    """

    before: Address
    name: str
    dtype: str
    dims: tuple[int, ...]
    values: tuple[int | float, ...]
    as_node: bool
    key: int


class InsertNode(NamedTuple):
    """A new node in front of `before`; later edits address it by `key`."""

    before: Address
    key: int
    op_type: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[tuple[str, AttributeValue], ...] = ()


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
    | NewConstant
    | InsertNode
    | RemoveUnused
    | CloneFunction
)
