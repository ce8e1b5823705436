"""The padding of a chain as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from onnxpad.chain import AutoPad, Chain, Padding, Pads, PadStep
from onnxpad.effective import axes_behind, axes_in_front
from onnxpad.errors import RequestError
from onnxpad.fills import Constant, Fill, Implicit, TensorValue
from onnxpad.ops import Kind
from onnxpad.plans.values import Settings, fill, flag, numbers, shown

MODES = ("constant", "reflect", "edge", "wrap")
_PAD_KEYS = ("pads", "value", "mode")


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
            raise RequestError(f"auto_pad is {shown(mode)}; it is NOTSET, {known}")
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
        return _without_pad(chain)
    present = None if chain.pad is None or chain.pad.unclear else _pad_record(chain.pad)
    if present is not None and present == record:
        return chain  # its value may be one that no plan could bring: computed, or infinite
    step = _step(chain, record)
    if present == _pad_record(step):
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
    if unknown := [key for key in record if key not in _PAD_KEYS]:
        raise RequestError(f"pad_node has {shown(unknown[0])}; it takes {', '.join(_PAD_KEYS)}")
    flat = numbers(record, "pads", 2 * chain.tensor_rank, least=None, where="pad_node ")
    mode, half = record.get("mode", "constant"), chain.tensor_rank
    if mode not in MODES:
        raise RequestError(f"pad_node has mode {shown(mode)}; it is one of {', '.join(MODES)}")
    return PadStep(
        Pads(flat[:half], flat[half:]),
        Constant(fill(record.get("value", 0))),
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
