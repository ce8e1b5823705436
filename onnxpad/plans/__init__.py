"""Which padding each node of a model is to have, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onnxpad.errors import RequestError
from onnxpad.plans.entries import PlanEntry, read_entry
from onnxpad.plans.settings import settings_of, with_settings
from onnxpad.plans.values import shown

SCHEMA = 1
_KEYS = ("schema", "nodes")

__all__ = ["SCHEMA", "Plan", "PlanEntry", "settings_of", "with_settings"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What `diagnose` finds and `retarget` applies. `file` is where it was read, for messages."""

    entries: tuple[PlanEntry, ...] = field(default=())
    file: str = field(default="", compare=False, repr=False)

    @property
    def label(self) -> str:
        """The plan as messages name it."""
        return f"the plan '{self.file}'" if self.file else "the plan"

    def to_json(self) -> dict[str, Any]:
        """The plan as plain data, which `from_json` reads."""
        return {
            "schema": SCHEMA,
            "nodes": [
                {"node": one.node, **one.settings, "conventions": list(one.conventions)}
                for one in self.entries
            ],
        }

    @classmethod
    def from_json(cls, record: object, *, file: str = "") -> Plan:
        """Read a plan; RequestError says which part of it cannot be meant, and names `file`."""
        label = cls(file=file).label
        if isinstance(record, Mapping) and isinstance(record.get("plan"), Mapping):
            raise RequestError(
                f"{label} is a report of diagnose: its part 'plan' is the plan, which diagnose "
                "--plan FILE writes"
            )
        if not isinstance(record, Mapping) or not isinstance(record.get("nodes"), list):
            raise RequestError(f"{label} is no object with a list 'nodes', each with its 'node'")
        if unknown := [key for key in record if key not in _KEYS]:
            raise RequestError(f"{label} has {shown(unknown[0])}; it takes {', '.join(_KEYS)}")
        if (schema := record.get("schema", SCHEMA)) is True or schema != SCHEMA:
            raise RequestError(f"{label} has schema {shown(schema)}, this version reads {SCHEMA}")
        entries = tuple(read_entry(one, i, label) for i, one in enumerate(record["nodes"]))
        seen: set[str] = set()
        for entry in entries:
            if entry.node in seen:
                raise RequestError(f"{label} names node '{entry.node}' twice")
            seen.add(entry.node)
        return cls(entries, file)
