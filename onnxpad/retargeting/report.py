"""What a retarget did, node by node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from onnxpad.model.editing.script import Edit, edit_record
from onnxpad.model.graph.nodes import Address
from onnxpad.model.graph.types import Type
from onnxpad.padding.chain import Chain, Skip
from onnxpad.reports import ReportItem, reported

SizeTexts: TypeAlias = tuple[str, ...]


@reported(
    *("node.label as node", "node.scope as scope", "op", "before", "after", "output_before"),
    *("output_after", "resized", "same_values", "script as edits"),
)
@dataclass(frozen=True, slots=True, repr=False)
class Move(ReportItem):
    """One node that was moved: its padding and output sizes before and after.

    `resized` says that the output has another size, or may have one where sizes are open or not
    known, `same_values` that only the way of writing changed. `chains` are what was read before
    and is written after, for pictures.
    """

    node: Address
    op: str
    before: str
    after: str
    output_before: SizeTexts
    output_after: SizeTexts
    resized: bool
    same_values: bool
    edits: tuple[Edit, ...]
    chains: tuple[Chain, Chain]

    def __str__(self) -> str:
        """'Conv 'c': SAME_UPPER -> symmetric pads [1, 1]'."""
        return f"{self.op} '{self.node.label}': {self.before} -> {self.after}"

    @property
    def may_be_resized(self) -> bool:
        """Whether it hangs on sizes that are open, or not known, that the output gets another."""
        sizes = (*self.output_before, *self.output_after)
        return self.resized and not all(size.isdecimal() for size in sizes)

    @property
    def script(self) -> list[dict[str, Any]]:
        """The edits as plain data."""
        return [edit_record(edit) for edit in self.edits]


@reported("node.label as node", "node.scope as scope", "*")
@dataclass(frozen=True, slots=True)
class Kept:
    """One node that pads as asked already, and why."""

    node: Address
    op: str
    padding: str
    why: str


@reported(
    "node.label as node", "node.scope as scope", "op", "skip.reason as reason", "skip.hints as try"
)
@dataclass(frozen=True, slots=True, repr=False)
class Refused(ReportItem):
    """One node that could not be moved; `tensor` is its input, of type `source`."""

    node: Address
    op: str
    chain: Chain
    skip: Skip
    tensor: str
    source: Type

    def __str__(self) -> str:
        """'skip: Conv 'c': why; try --dim ...'."""
        return f"skip: {self.op} '{self.node.label}': {self.skip}"
