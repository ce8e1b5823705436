"""Edit scripts: what a rewrite does to a model, as values that can be printed and applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple, TypeAlias

from onnxpad.model.graph.nodes import Address
from onnxpad.padding.operators import AttributeValue
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

    `begins` and `ends` count the new cells of each axis, along which the old ones lie `steps`
    apart; () stands for 1. `as_node` and `key` as in NewConstant.
    """

    before: Address
    name: str
    source: str
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    zero_point: str
    as_node: bool
    key: int
    steps: tuple[int, ...] = ()


class ReshapedConstant(NamedTuple):
    """A constant with the values of another in a new shape; `groups` as in `Reshaped`."""

    before: Address
    name: str
    source: str
    dims: tuple[int, ...]
    as_node: bool
    key: int
    groups: int = 0


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


class FixSize(NamedTuple):
    """Write a size wherever an input names a dimension, or at an axis of an input: 'x[2]'."""

    dimension: str
    size: int


class SetMetadata(NamedTuple):
    """Write an entry of the model's metadata."""

    key: str
    value: str


class MoveOpset(NamedTuple):
    """Let the model be of another opset of ONNX."""

    opset: int


class RemoveUnused(NamedTuple):
    """Remove a node that nothing reads, with the constants that only it reads."""

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
    | GrownConstant
    | ReshapedConstant
    | InsertNode
    | RemoveNode
    | RemoveUnused
    | RemoveConstant
    | ForgetType
    | Resize
    | WriteOut
    | FixSize
    | SetMetadata
    | MoveOpset
)


def edit_record(edit: Edit) -> dict[str, Any]:
    """An edit as plain JSON data; `edit` names its kind. Infinities are texts: JSON has none."""
    return {"edit": type(edit).__name__, **plain(edit)}


def describe_edit(edit: Edit) -> str:
    """An edit as one line for people, behind the label of its node where it is about one."""
    about = edit[0]
    where = f"{about.label}: " if isinstance(about, Address) else ""
    return where + _WORDS[type(edit)](edit)


def _text(value: AttributeValue) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _new(edit: NewConstant) -> str:
    size = prod(edit.dims)
    filled = f" in {list(edit.dims)}" if len(edit.values) == 1 < size else ""
    return f"new constant '{edit.name}' = {edit.dtype} {list(edit.values)}{filled}"


def _grown(edit: GrownConstant) -> str:
    by = f" holding '{edit.zero_point}'" if edit.zero_point else ""
    cells = f"{list(edit.begins)} cells before, {list(edit.ends)} behind"
    apart = f", its own {list(edit.steps)} apart" if edit.steps else ""
    return f"new constant '{edit.name}' = '{edit.source}' with {cells}{apart}{by}"


def _insertion(edit: InsertNode) -> str:
    shown = "".join(f" {key}={_text(value)}" for key, value in edit.attributes)
    op = f"{edit.domain}.{edit.op_type}" if edit.domain else edit.op_type
    side = "behind" if edit.behind else "in front"
    wires = f"{list(edit.inputs)} -> {list(edit.outputs)}"
    return f"new {op} '{edit.name}'{shown} {side}, {wires}"


def _input(edit: SetInput) -> str:
    return f"input {edit.position} " + (f"reads '{edit.tensor}'" if edit.tensor else "goes")


def _shape(edit: Resize) -> str:
    return f"the shape of '{edit.tensor}' is [{', '.join(str(size or '?') for size in edit.dims)}]"


_WORDS: Mapping[type, Callable[[Any], str]] = {
    SetAttribute: lambda edit: f"set {edit.name}={_text(edit.value)}",
    RemoveAttribute: lambda edit: f"remove {edit.name}",
    SetInput: _input,
    SetOutput: lambda edit: f"output {edit.position} is called '{edit.tensor}'",
    NewConstant: _new,
    GrownConstant: _grown,
    ReshapedConstant: lambda edit: (
        f"new constant '{edit.name}' = '{edit.source}' as {list(edit.dims)}"
        + ", turned around" * bool(edit.groups)
    ),
    InsertNode: _insertion,
    RemoveNode: lambda _: "remove",
    RemoveUnused: lambda _: "remove if nothing reads it",
    RemoveConstant: lambda edit: f"remove constant '{edit.tensor}' if nothing reads it",
    ForgetType: lambda edit: f"forget the type of '{edit.tensor}'",
    Resize: _shape,
    WriteOut: lambda edit: f"{', '.join(edit.functions)} are written out where they are called",
    FixSize: lambda edit: f"the size of {edit.dimension} is {edit.size}",
    SetMetadata: lambda edit: f"the metadata says {edit.key}: {edit.value}",
    MoveOpset: lambda edit: f"the model is of opset {edit.opset}",
}
