"""Which padding each node of a model is to have, as plain data."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from reprlib import Repr
from typing import Any, TypeAlias

from onnxpad.errors import RequestError, counted
from onnxpad.padding.chain import AutoPad, Chain, NewPad, Padding, Pads, PadStep
from onnxpad.padding.effective_pads import axes_behind
from onnxpad.padding.fills import Constant, number_of
from onnxpad.padding.operators import Kind
from onnxpad.reports import Report, reported
from onnxpad.retargeting.hand_written_pads import counting, without_pad

Settings: TypeAlias = Mapping[str, Any]
_WIDEST = 2**20
_SHORT = Repr()
_SHORT.maxlist = _SHORT.maxtuple = 12
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 60


def shown(value: object) -> str:
    """The value as Python writes it, cut where it is long."""
    return _SHORT.repr(value)


def numbers(
    settings: Settings, name: str, count: int, *, least: int | None, where: str = ""
) -> tuple[int, ...]:
    """`count` integers, `least` or more each; RequestError for anything else.

    `where` stands in front of the name in messages.
    """
    value, name = settings.get(name), f"{where}{name}"
    if value is None:
        raise RequestError(f"{name} is missing: give a list of {count} integers")
    if not isinstance(value, list | tuple) or any(
        isinstance(one, bool) or not isinstance(one, int) for one in value
    ):
        raise RequestError(f"{name} is {shown(value)}, but must be a list of {count} integers")
    if len(value) != count:
        has = counted(len(value), "number")
        raise RequestError(
            f"{name} has {has}, but needs {count}: the begin of each axis, then the end of each"
            if name.endswith("pads")
            else f"{name} has {has}, but needs {count}, one for each axis"
        )
    if least is not None and any(one < least for one in value):
        raise RequestError(f"{name} is {shown(list(value))}: no number may be below {least}")
    if any(abs(one) > _WIDEST for one in value):
        raise RequestError(f"{name} is {shown(list(value))}: {_WIDEST} cells are the most")
    return tuple(value)


def flag(settings: Settings, name: str) -> bool:
    """0 or 1; RequestError for anything else."""
    value = settings[name]
    if not isinstance(value, int) or value not in (0, 1):
        raise RequestError(f"{name} is {shown(value)}, but must be 0 or 1")
    return bool(value)


def fill(value: object) -> float | int:
    """What a Pad node fills in: a number, or the lowest one as '-inf'."""
    if value == "-inf":
        return -math.inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RequestError(f"pad_node has value {shown(value)}, but must be a number or '-inf'")
    if not (value == -math.inf or abs(value) <= sys.float_info.max):
        raise RequestError(f"pad_node has value {shown(value)}: give a number, or '-inf'")
    return value


KEYS = ("auto_pad", "pads", "ceil_mode", "count_include_pad", "output_padding", "pad_node")


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
        raise RequestError(f"{where}: conventions must be a list of names")
    settings = {key: record[key] for key in KEYS if key in record}
    return PlanEntry(record["node"], settings, tuple(names))


MODES = ("constant", "reflect", "edge", "wrap")
_PAD_KEYS = ("pads", "value", "mode")


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
    result = _with_pad(chain, settings)
    padding = _padding(chain, settings)
    if padding is not None:
        result = replace(result.with_padding(padding), output_shape=())
    if "ceil_mode" in settings:
        result = _with_ceil(result, flag(settings, "ceil_mode"))
    if "count_include_pad" in settings:
        result = _with_counts(result, counts=flag(settings, "count_include_pad"))
    if "output_padding" in settings:
        growth = numbers(settings, "output_padding", chain.rank, least=0)
        if any(growth) and chain.op.kind is not Kind.TRANSPOSED:
            raise RequestError(f"{chain.op.name} has no output_padding")
        result = replace(result, output_padding=growth if any(growth) else ())
    return result


def _padding(chain: Chain, settings: Settings) -> Padding | None:
    mode = settings.get("auto_pad", "NOTSET")
    if mode not in ("NOTSET", None):
        if not isinstance(mode, str) or mode not in AutoPad.__members__:
            known = ", ".join(AutoPad.__members__)
            raise RequestError(f"auto_pad is {shown(mode)}, but must be NOTSET, {known}")
        if not chain.op.auto_pad:
            raise RequestError(f"{chain.op.name} has no auto_pad")
        return AutoPad(mode)
    if settings.get("pads") is None:
        return Pads.zero(chain.rank) if mode == "NOTSET" and "auto_pad" in settings else None
    flat = numbers(settings, "pads", 2 * chain.rank, least=0)
    return Pads(flat[: chain.rank], flat[chain.rank :])


def _with_pad(chain: Chain, settings: Settings) -> Chain:
    if "pad_node" not in settings:
        return chain
    record = settings["pad_node"]
    if record is None:
        return without_pad(chain)
    present = None if chain.pad is None or chain.pad.unclear else _pad_record(chain.pad)
    if present is not None and present == record:
        return chain  # its value may be one that no plan could bring: computed, or infinite
    step = _step(chain, record)
    if present == _pad_record(step):
        return chain
    bare = without_pad(chain)
    return replace(bare, axes=axes_behind(bare, chain.inner(step.pads)), pad=step)


def _step(chain: Chain, record: object) -> NewPad:
    if not isinstance(record, Mapping):
        raise RequestError("pad_node must be null, or an object with pads, value and mode")
    if unknown := [key for key in record if key not in _PAD_KEYS]:
        raise RequestError(f"pad_node has {shown(unknown[0])}; it takes {', '.join(_PAD_KEYS)}")
    flat = numbers(record, "pads", 2 * chain.tensor_rank, least=None, where="pad_node ")
    mode, half = record.get("mode", "constant"), chain.tensor_rank
    if mode not in MODES:
        raise RequestError(f"pad_node has mode {shown(mode)}; known are {', '.join(MODES)}")
    return NewPad(
        Pads(flat[:half], flat[half:]),
        Constant(fill(record.get("value", 0))),
        mode,
        instead=chain.pad is not None,
    )


def _pad_record(step: PadStep) -> dict[str, Any]:
    value = number_of(step.fill)
    shown = "-inf" if value == float("-inf") else value
    return {"pads": list(step.pads.flat), "value": shown, "mode": step.mode}


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
    return counting(chain, counts=counts)


_KEYS = ("schema", "nodes")

__all__ = ["Plan", "PlanEntry", "settings_of", "with_settings"]


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
        if isinstance(record, Mapping) and isinstance(record.get("plan"), Mapping):
            raise RequestError(
                f"{label} is a report of diagnose: its part 'plan' is the plan, which diagnose "
                "--plan FILE writes"
            )
        if not isinstance(record, Mapping) or not isinstance(record.get("nodes"), list):
            raise RequestError(
                f"{label} must be an object with a list 'nodes', whose entries have a 'node'"
            )
        if unknown := [key for key in record if key not in _KEYS]:
            raise RequestError(f"{label} has {shown(unknown[0])}; it takes {', '.join(_KEYS)}")
        if (schema := record.get("schema", cls.schema)) is True or schema != cls.schema:
            raise RequestError(
                f"{label} has schema {shown(schema)}, this version reads {cls.schema}"
            )
        entries = tuple(read_entry(one, i, label) for i, one in enumerate(record["nodes"]))
        seen: set[str] = set()
        for entry in entries:
            if entry.node in seen:
                raise RequestError(f"{label} names node '{entry.node}' twice")
            seen.add(entry.node)
        return cls(entries, file)
