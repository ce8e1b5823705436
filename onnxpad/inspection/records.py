"""What inspect reports, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from onnxpad.forms import Form
from onnxpad.planning.records import verdict_record
from onnxpad.planning.verdicts import Opening, Verdict
from onnxpad.traps import Trap, all_rules

SCHEMA = 1
Plain: TypeAlias = int | float | str | tuple[int, ...] | tuple[float, ...]
Sizes: TypeAlias = tuple[int | str | None, ...] | None


class PaddedNode(NamedTuple):
    """A node that pads, or can pad, as it is read from one kind of call.

    `node` is its address: scopes and name. `scope` is the id of the graph or function that it
    lives in ('' for the main graph), `calls` who calls that function in the way read here.
    Sizes are numbers, names, or None where nothing is known; a shape is None where not even the
    rank is. `pads` are begins, then ends, in cells: over the spatial axes, over all axes for Pad
    nodes; None where `reason` says why they cannot be known and `hints` what to try.
    """

    node: str
    scope: str
    calls: tuple[str, ...]
    op: str
    opset: int
    dtype: str
    input: str
    input_shape: Sizes
    output_shape: Sizes
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    written: Mapping[str, Plain]
    pads: tuple[int, ...] | None
    reason: str
    hints: tuple[str, ...]
    forms: tuple[str, ...]
    conventions: tuple[str, ...]
    traps: tuple[Trap, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as plain data; `reason` and `try` only where the pads are not known.

        Each trap names the passes that take a node out of it, where they can.
        """
        found = self._asdict()
        found["written"] = {name: _jsonable(value) for name, value in self.written.items()}
        found["traps"] = [
            trap._asdict() | {"passes": list(all_rules()[trap.code].passes)} for trap in self.traps
        ]
        return found | {"try": found.pop("hints")}


@dataclass(frozen=True, eq=False)
class Inspection:
    """Every padded node of a model in graph order; `assumed` are the sizes that the user stated.

    `targets` has what each target that was asked for does with every node, `openings` what a
    rewrite for it could be told about nodes for which there is no way, `placement` the
    onnxruntime provider of each node where a `device` was asked for.
    """

    nodes: tuple[PaddedNode, ...]
    assumed: Mapping[str, int | str]
    targets: Mapping[str, tuple[Verdict, ...]] = field(default_factory=dict)
    placement: Mapping[str, str] = field(default_factory=dict)
    device: str = ""
    openings: Mapping[str, Opening] = field(default_factory=dict)

    @property
    def summary(self) -> dict[str, Any]:
        """Counts: nodes, those that pad, unevenly or by an unknown amount; traps; forms."""
        forms = [form for node in self.nodes for form in node.forms]
        return {
            "nodes": len(self.nodes),
            "padding": sum(1 for node in self.nodes if any(node.pads or ())),
            "asymmetric": sum(1 for node in self.nodes if _is_uneven(node.pads or ())),
            "unknown": sum(1 for node in self.nodes if node.pads is None),
            "traps": sum(len(node.traps) for node in self.nodes),
            "forms": {str(form): forms.count(form) for form in Form},
        }

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "schema": SCHEMA,
            "summary": self.summary,
            "assumed": dict(self.assumed),
            "nodes": [node.to_json() for node in self.nodes],
            "targets": {
                name: [verdict_record(verdict) for verdict in found]
                for name, found in self.targets.items()
            },
            "openings": {name: found.to_json() for name, found in self.openings.items()},
            "placement": dict(self.placement),
        }

    @property
    def off_device(self) -> dict[str, str]:
        """Padded nodes that leave the GPU that was asked for, with where they run."""
        gone = self.placement.items() if self.device == "cuda" else ()
        return {label: provider for label, provider in gone if not provider.startswith("CUDA")}

    @property
    def fails(self) -> bool:
        """Whether a target refuses a node or computes it wrongly, or one leaves the GPU."""
        found = (verdict for verdicts in self.targets.values() for verdict in verdicts)
        return bool(self.off_device) or any(verdict.judgement.answer.fails for verdict in found)


def _is_uneven(pads: tuple[int, ...]) -> bool:
    return pads[: len(pads) // 2] != pads[len(pads) // 2 :]


def _jsonable(value: Plain) -> Plain:
    return str(value) if isinstance(value, float) and not isfinite(value) else value
