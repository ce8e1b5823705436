"""What a plan says of one node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from onnxpad.errors import RequestError
from onnxpad.plans.values import Settings

KEYS = ("auto_pad", "pads", "ceil_mode", "count_include_pad", "output_padding", "pad_node")


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """The padding of one node; what `settings` leaves out stays as it is.

    `node` is the address that inspect prints. `settings` holds auto_pad or pads, and ceil_mode,
    count_include_pad, output_padding, pad_node (None for no Pad in front, else pads over all
    axes, value and mode). `conventions` name who writes it so.
    """

    node: str
    settings: Settings
    conventions: tuple[str, ...] = ()


def read_entry(record: object, index: int, label: str) -> PlanEntry:
    """Entry `index` of the plan that messages call `label`; RequestError for what is no entry."""
    if not isinstance(record, Mapping) or not isinstance(record.get("node"), str):
        raise RequestError(
            f"entry {index} of {label} lacks 'node', the address that inspect prints"
        )
    where = f"{label}, node '{record['node']}'"
    unknown = [key for key in record if key not in (*KEYS, "node", "conventions")]
    if unknown:
        raise RequestError(f"{where} has '{unknown[0]}'; it takes {', '.join(KEYS)}")
    if record.get("auto_pad") not in ("NOTSET", None) and record.get("pads") is not None:
        raise RequestError(f"{where} has auto_pad and pads: give one")
    names = record.get("conventions", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise RequestError(f"{where}: conventions are a list of names")
    settings = {key: record[key] for key in KEYS if key in record}
    return PlanEntry(record["node"], settings, tuple(names))
