"""Which padding each node of a model is to have, as plain data."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from onnxpad.chain import AutoPad, Chain, Padding, Pads, PadStep
from onnxpad.effective import axes_behind, axes_in_front
from onnxpad.errors import RequestError
from onnxpad.fills import Constant, Fill, Implicit, TensorValue
from onnxpad.ops import Kind

SCHEMA = 1
MODES = ("constant", "reflect", "edge", "wrap")
_WIDEST = 2**20
Settings: TypeAlias = Mapping[str, Any]
_KEYS = ("auto_pad", "pads", "ceil_mode", "count_include_pad", "output_padding", "pad_node")


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


@dataclass(frozen=True, slots=True)
class Plan:
    """What `diagnose` finds and `retarget` applies."""

    entries: tuple[PlanEntry, ...] = field(default=())

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
    def from_json(cls, record: object) -> Plan:
        """Read a plan; RequestError says which part of it cannot be meant."""
        if not isinstance(record, Mapping) or not isinstance(record.get("nodes"), list):
            raise RequestError("a plan is an object with a list 'nodes', each with its 'node'")
        if record.get("schema", SCHEMA) != SCHEMA:
            raise RequestError(
                f"the plan has schema {record['schema']!r}, this version reads {SCHEMA}"
            )
        entries = tuple(_entry(one, index) for index, one in enumerate(record["nodes"]))
        seen: set[str] = set()
        for entry in entries:
            if entry.node in seen:
                raise RequestError(f"the plan names node '{entry.node}' twice")
            seen.add(entry.node)
        return cls(entries)


def settings_of(chain: Chain) -> dict[str, Any]:
    """The padding of a chain as plain data, everything spelled out.

    Raises RequestError where the chain's padding is not clear.
    """
    found: dict[str, Any] = {}
    match chain.padding:
        case AutoPad() as mode:
            found["auto_pad"] = str(mode)
        case Pads() as pads:
            found["pads"] = list(pads.flat)
        case unclear:
            raise RequestError(f"the padding is not known: {unclear.reason}")
    if chain.op.is_pool:
        found["ceil_mode"] = int(chain.ceil_mode)
    if chain.op.kind is Kind.AVERAGE:
        found["count_include_pad"] = int(chain.counts_padding)
    if chain.op.kind is Kind.TRANSPOSED:
        found["output_padding"] = list(chain.output_padding or (0,) * chain.rank)
    step = chain.pad
    if step is None or not step.unclear:
        found["pad_node"] = None if step is None else _pad_record(step)
    return found


def with_settings(chain: Chain, settings: Settings) -> Chain:
    """The chain with the padding that `settings` say; what they leave out stays.

    Raises RequestError where they do not fit the node.
    """
    result = _with_pad(chain, settings)
    padding = _padding(chain, settings)
    if padding is not None:
        result = replace(result, padding=padding, ambiguous=False, output_shape=())
    if "ceil_mode" in settings:
        result = _with_ceil(result, _flag(settings, "ceil_mode"))
    if "count_include_pad" in settings:
        result = _with_counts(result, counts=_flag(settings, "count_include_pad"))
    if "output_padding" in settings:
        growth = _numbers(settings, "output_padding", chain.rank, least=0)
        if any(growth) and chain.op.kind is not Kind.TRANSPOSED:
            raise RequestError(f"{chain.op.name} has no output_padding")
        result = replace(result, output_padding=growth if any(growth) else ())
    return result


def _entry(record: object, index: int) -> PlanEntry:
    where = f"entry {index} of the plan"
    if not isinstance(record, Mapping) or not isinstance(record.get("node"), str):
        raise RequestError(f"{where} lacks 'node', the address that inspect prints")
    where = f"the plan for node '{record['node']}'"
    unknown = [key for key in record if key not in (*_KEYS, "node", "conventions")]
    if unknown:
        raise RequestError(f"{where} has '{unknown[0]}'; it takes {', '.join(_KEYS)}")
    if record.get("auto_pad", "NOTSET") != "NOTSET" and record.get("pads") is not None:
        raise RequestError(f"{where} has auto_pad and pads: give one")
    names = record.get("conventions", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise RequestError(f"{where}: conventions are a list of names")
    settings = {key: record[key] for key in _KEYS if key in record}
    return PlanEntry(record["node"], settings, tuple(names))


def _padding(chain: Chain, settings: Settings) -> Padding | None:
    mode = settings.get("auto_pad", "NOTSET")
    if mode not in ("NOTSET", None):
        if not isinstance(mode, str) or mode not in AutoPad.__members__:
            known = ", ".join(AutoPad.__members__)
            raise RequestError(f"auto_pad is {mode!r}; it is NOTSET, {known}")
        if not chain.op.auto_pad:
            raise RequestError(f"{chain.op.name} has no auto_pad")
        return AutoPad(mode)
    if settings.get("pads") is None:
        return Pads.zero(chain.rank) if mode == "NOTSET" and "auto_pad" in settings else None
    flat = _numbers(settings, "pads", 2 * chain.rank, least=0)
    return Pads(flat[: chain.rank], flat[chain.rank :])


def _with_pad(chain: Chain, settings: Settings) -> Chain:
    if "pad_node" not in settings:
        return chain
    record = settings["pad_node"]
    if record is None:
        return _without_pad(chain)
    step = _step(chain, record)
    present = chain.pad
    if present is not None and not present.unclear and _pad_record(present) == _pad_record(step):
        return chain
    bare = _without_pad(chain)
    spatial = Pads(step.pads.begins[chain.spatial], step.pads.ends[chain.spatial])
    return replace(bare, axes=axes_behind(bare, spatial), pad=step)


def _without_pad(chain: Chain) -> Chain:
    step = chain.pad
    if step is None:
        return chain
    if step.unclear:
        axes = tuple(replace(axis, size=None) for axis in chain.axes)
    else:
        front = Pads(step.pads.begins[chain.spatial], step.pads.ends[chain.spatial])
        axes = axes_in_front(chain, front)
    return replace(chain, axes=axes, pad=None)


def _step(chain: Chain, record: object) -> PadStep:
    if not isinstance(record, Mapping):
        raise RequestError("pad_node is null, or an object with pads, value and mode")
    flat = _numbers(record, "pads", 2 * chain.tensor_rank, least=None)
    mode, value = record.get("mode", "constant"), record.get("value", 0)
    if mode not in MODES:
        raise RequestError(f"pad_node has mode {mode!r}; it is one of {', '.join(MODES)}")
    if value == "-inf":
        value = float("-inf")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RequestError(f"pad_node has value {value!r}, which is no number and not '-inf'")
    if not (value == -math.inf or abs(value) <= sys.float_info.max):
        raise RequestError(f"pad_node has value {value}: give a number, or '-inf'")
    half = chain.tensor_rank
    return PadStep(
        Pads(flat[:half], flat[half:]),
        Constant(value),
        mode,
        is_new=True,
        replaces=chain.pad is not None,
    )


def _pad_record(step: PadStep) -> dict[str, Any]:
    value = _value(step)
    shown = "-inf" if value == float("-inf") else value
    return {"pads": list(step.pads.flat), "value": shown, "mode": step.mode}


def _value(step: PadStep) -> float | int | None:
    fill: Fill = step.fill
    return fill.value if isinstance(fill, Constant | TensorValue) else None


def _with_ceil(chain: Chain, flag: bool) -> Chain:  # noqa: FBT001
    if flag and not chain.op.is_pool:
        raise RequestError(f"{chain.op.name} has no ceil_mode")
    if flag and (not chain.op.ceil_mode or chain.opset < chain.op.ceil_mode) and chain.opset:
        raise RequestError(f"{chain.op.name} of opset {chain.opset} has no ceil_mode")
    return replace(chain, ceil_mode=flag)


def _with_counts(chain: Chain, *, counts: bool) -> Chain:
    if counts == chain.counts_padding:
        return chain
    if chain.op.kind is not Kind.AVERAGE:
        raise RequestError(f"{chain.op.name} has no count_include_pad")
    fill: Fill = Constant(0) if counts else Implicit.NOTHING
    return replace(chain, counts_padding=counts, fill=fill)


def _flag(settings: Settings, name: str) -> bool:
    value = settings[name]
    if value not in (0, 1):
        raise RequestError(f"{name} is {value!r}, but is 0 or 1")
    return bool(value)


def _numbers(settings: Settings, name: str, count: int, *, least: int | None) -> tuple[int, ...]:
    value = settings.get(name)
    if not isinstance(value, list | tuple) or any(
        isinstance(one, bool) or not isinstance(one, int) for one in value
    ):
        raise RequestError(f"{name} is {value!r}, but is a list of {count} integers")
    if len(value) != count:
        raise RequestError(f"{name} has {len(value)} numbers, but needs {count}")
    if least is not None and any(one < least for one in value):
        raise RequestError(f"{name} is {list(value)}: numbers below {least} are not taken")
    if any(abs(one) > _WIDEST for one in value):
        raise RequestError(f"{name} is {list(value)}: more than {_WIDEST} cells are not taken")
    return tuple(value)
