"""What was done to single nodes, and what was not, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from onnxpad.model.editing.script import Edit, edit_record
from onnxpad.model.reading.nodes import Address
from onnxpad.model.shapes.types import Type
from onnxpad.padding.chain import Chain, Skip

Sizes: TypeAlias = tuple[str, ...]


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
