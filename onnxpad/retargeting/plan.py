"""Which padding each node of a model is to have, as plain data."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from reprlib import Repr
from typing import Any, TypeAlias

from onnxpad.errors import RequestError
from onnxpad.padding.chain import AutoPad, Chain, NewPad, Padding, Pads, PadStep
from onnxpad.padding.effective_pads import axes_behind
from onnxpad.padding.fills import Constant, number_of
from onnxpad.padding.operators import Kind
from onnxpad.reports import Report, reported
from onnxpad.retargeting.hand_written_pads import counting, without_pad

__all__ = ["Plan", "PlanEntry", "settings_of", "with_settings"]

Settings: TypeAlias = Mapping[str, Any]
KEYS = ("auto_pad", "pads", "ceil_mode", "count_include_pad", "output_padding", "pad_node")
MODES = ("constant", "reflect", "edge", "wrap")
_WIDEST = 2**20
_SHORT = Repr()
_SHORT.maxlist = _SHORT.maxtuple = 12
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 60
shown = _SHORT.repr


@reported("node", "settings.*", "conventions")
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


@reported("entries as nodes")
@dataclass(frozen=True, slots=True, repr=False)
class Plan(Report):
    """What `diagnose` finds and `retarget` applies. `file` is where it was read, for messages."""

    entries: tuple[PlanEntry, ...] = field(default=())
    file: str = field(default="", compare=False, repr=False)

    schema = 1

    @property
    def label(self) -> str:
        """The plan as messages name it."""
        return f"the plan '{self.file}'" if self.file else "the plan"

    @classmethod
    def from_json(cls, record: object, *, file: str = "") -> Plan:
        """Read a plan; RequestError says which part of it cannot be meant, and names `file`."""
        label = cls(file=file).label
        if not isinstance(record, Mapping) or not isinstance(record.get("nodes"), list):
            raise RequestError(
                f"{label} must be an object with a list 'nodes', whose entries have a 'node'"
            )
        _refuse_unknown(label, record, ("schema", "nodes"))
        if (schema := record.get("schema", cls.schema)) is True or schema != cls.schema:
            raise RequestError(
                f"{label} has schema {shown(schema)}, this version reads {cls.schema}"
            )
        entries: dict[str, PlanEntry] = {}
        for index, one in enumerate(record["nodes"]):
            entry = _entry(one, index, label)
            if entries.setdefault(entry.node, entry) is not entry:
                raise RequestError(f"{label} names node '{entry.node}' twice")
        return cls(tuple(entries.values()), file)


def _entry(record: object, index: int, label: str) -> PlanEntry:
    if not isinstance(record, Mapping) or not isinstance(record.get("node"), str):
        raise RequestError(
            f"entry {index} of {label} lacks 'node', the address that inspect prints"
        )
    where = f"{label}, node '{record['node']}'"
    _refuse_unknown(where, record, KEYS, "node", "conventions")
    if record.get("auto_pad") not in ("NOTSET", None) and record.get("pads") is not None:
        raise RequestError(f"{where} has auto_pad and pads: give one")
    names = record.get("conventions", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise RequestError(f"{where}: conventions must be a list of names")
    settings = {key: record[key] for key in KEYS if key in record}
    return PlanEntry(record["node"], settings, tuple(names))


def _refuse_unknown(where: str, record: Settings, keys: tuple[str, ...], *more: str) -> None:
    if unknown := [key for key in record if key not in (*keys, *more)]:
        raise RequestError(f"{where} has {shown(unknown[0])}; it takes {', '.join(keys)}")


def settings_of(chain: Chain) -> dict[str, Any]:
    """The padding of a chain as plain data, everything spelled out.

    Raises RequestError where the chain's padding is not clear.
    """
    if chain.op.kind is Kind.PAD and chain.pad is not None:
        return {"pad_node": _pad_record(chain.pad)}
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
    op, opset = chain.op, chain.opset or chain.op.ceil_mode
    is_transposed, is_average = op.kind is Kind.TRANSPOSED, op.kind is Kind.AVERAGE
    result = _with_pad(chain, settings["pad_node"]) if "pad_node" in settings else chain
    padding = _padding(chain, settings)
    if padding is not None:
        result = replace(result.with_padding(padding), output_shape=())
    if "ceil_mode" in settings:
        may = op.is_pool and 0 < op.ceil_mode <= opset
        result = replace(result, ceil_mode=_flag(chain, settings, "ceil_mode", may=may))
    if "count_include_pad" in settings:
        counts = _flag(chain, settings, "count_include_pad", may=is_average)
        result = counting(result, counts=counts) if is_average else result
    if "output_padding" in settings:
        growth = _numbers(settings, "output_padding", chain.rank, "one for each axis")
        if any(growth) and not is_transposed:
            raise RequestError(f"{op.name} has no output_padding")
        result = replace(result, output_padding=growth if any(growth) else ())
    return result


def _flag(chain: Chain, settings: Settings, name: str, *, may: bool) -> bool:
    """0 or 1, and 1 only where the operator has the attribute; RequestError for anything else."""
    value = settings[name]
    if not isinstance(value, int) or value not in (0, 1):
        raise RequestError(f"{name} is {shown(value)}, but must be 0 or 1")
    if value and not may:
        raise RequestError(f"{chain.op.name} of opset {chain.opset} has no {name}")
    return bool(value)


def _padding(chain: Chain, settings: Settings) -> Padding | None:
    mode = settings.get("auto_pad")
    if mode not in ("NOTSET", None):
        if mode not in [*AutoPad] or not chain.op.auto_pad:
            known = ", ".join(AutoPad) if chain.op.auto_pad else f"as {chain.op.name} has none"
            raise RequestError(f"auto_pad is {shown(mode)}, but must be NOTSET, {known}")
        return AutoPad(mode)
    if settings.get("pads") is None:
        return None if mode is None else Pads.zero(chain.rank)
    flat = _numbers(settings, "pads", 2 * chain.rank, _BEGINS)
    return Pads(flat[: chain.rank], flat[chain.rank :])


def _with_pad(chain: Chain, record: object) -> Chain:
    if record is None:
        return without_pad(chain)
    present = None if chain.pad is None or chain.pad.unclear else _pad_record(chain.pad)
    if present == record:
        return chain  # its value may be one that no plan could bring: computed, or infinite
    step = _step(chain, record)
    if present == _pad_record(step):
        return chain
    bare = without_pad(chain)
    return replace(bare, axes=axes_behind(bare, chain.inner(step.pads)), pad=step)


def _step(chain: Chain, record: object) -> NewPad:
    if not isinstance(record, Mapping):
        raise RequestError("pad_node must be null, or an object with pads, value and mode")
    _refuse_unknown("pad_node", record, ("pads", "value", "mode"))
    half, mode, value = chain.tensor_rank, record.get("mode", "constant"), record.get("value", 0)
    flat = _numbers(record, "pads", 2 * half, _BEGINS, least=-_WIDEST)
    if mode not in MODES:
        raise RequestError(f"pad_node has mode {shown(mode)}; known are {', '.join(MODES)}")
    value = -math.inf if value == "-inf" else value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not -math.inf <= value <= sys.float_info.max:
        raise RequestError(f"pad_node has value {shown(value)}: give a number, or '-inf'")
    pads = Pads(flat[:half], flat[half:])
    return NewPad(pads, Constant(value), mode, instead=chain.pad is not None)


def _pad_record(step: PadStep) -> dict[str, Any]:
    value = number_of(step.fill)
    return {
        "pads": list(step.pads.flat),
        "value": "-inf" if value == -math.inf else value,
        "mode": step.mode,
    }


_BEGINS = "the begin of each axis, then the end of each"


def _numbers(
    settings: Settings, name: str, count: int, layout: str, *, least: int = 0
) -> tuple[int, ...]:
    """`count` integers within limits; RequestError for anything else."""
    value: Any = settings.get(name)
    is_list = isinstance(value, list | tuple) and len(value) == count
    if not is_list or not all(type(n) is int and least <= n <= _WIDEST for n in value):
        raise RequestError(
            f"{name} is {shown(value)}, but must be a list of {count} integers from {least} to "
            f"{_WIDEST}: {layout}"
        )
    return tuple(value)
