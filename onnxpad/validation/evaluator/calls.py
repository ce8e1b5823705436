"""One use of an operator, and where its attributes put the windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from onnxpad.validation.evaluator.pooling import Pool
from onnxpad.validation.evaluator.windows import Array, NotEvaluable, same_pads, span


@dataclass(frozen=True)
class Call:
    """An operator with its attributes as plain values and its inputs (None: left out)."""

    op_type: str
    domain: str = ""
    opset: int = 21
    attributes: Mapping[str, Any] = field(default_factory=dict)
    inputs: Sequence[Array | None] = ()

    def given(self, position: int) -> Array | None:
        """The input at `position`, or None where it is left out."""
        return self.inputs[position] if position < len(self.inputs) else None

    def needed(self, position: int) -> Array:
        """The input at `position`; raises NotEvaluable where it is left out."""
        value = self.given(position)
        if value is None:
            raise NotEvaluable(f"{self.op_type} lacks its input {position}")
        return value

    def real(self, position: int) -> Array | None:
        """The input at `position`, floats widened to float64."""
        value = self.given(position)
        return None if value is None else widened(value)

    def ints(self, name: str, rank: int, default: int) -> list[int]:
        """An attribute with one integer per spatial axis."""
        values = self.attributes.get(name) or [default] * rank
        if len(values) != rank:
            raise NotEvaluable(f"{self.op_type}: {name} {list(values)} for {rank} spatial axes")
        return [int(value) for value in values]

    def flag(self, name: str, default: int = 0) -> int:
        """An integer attribute."""
        return int(self.attributes.get(name, default))

    @property
    def group(self) -> int:
        """Number of groups of a convolution."""
        return self.flag("group", 1)

    @property
    def auto_pad(self) -> str:
        """auto_pad, NOTSET where empty; raises NotEvaluable where it contradicts `pads`."""
        value = self.attributes.get("auto_pad") or "NOTSET"
        if value not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
            raise NotEvaluable(f"{self.op_type}: auto_pad={value} is not an ONNX value")
        if value != "NOTSET" and self.attributes.get("pads"):
            raise NotEvaluable(
                f"{self.op_type} has auto_pad={value} and pads={list(self.attributes['pads'])}: "
                "readers disagree on which one holds"
            )
        return str(value)

    def absolute(self) -> Call:
        """The same use on the magnitudes of its inputs."""
        inputs = [None if x is None else np.abs(widened(x)) for x in self.inputs]
        return replace(self, inputs=inputs)


def widened(value: Array) -> Array:
    """Floats of every width as float64; integers and booleans as they are."""
    return value if value.dtype.kind in "iub" else value.astype(np.float64)


def pool_of(call: Call, sizes: Sequence[int], kernel: Sequence[int] | None = None) -> Pool:
    """The windows of a pool or convolution over spatial `sizes`, auto_pad resolved.

    SAME follows the text of Conv-22 with the dilated kernel and makes ceil_mode idle; VALID keeps
    ceil_mode, as onnxruntime and shape inference do.
    """
    rank = len(sizes)
    kernel = call.ints("kernel_shape", rank, 0) if kernel is None else list(kernel)
    strides, dilations = call.ints("strides", rank, 1), call.ints("dilations", rank, 1)
    ceil_mode = bool(call.flag("ceil_mode"))
    if call.auto_pad.startswith("SAME"):
        lower = call.auto_pad == "SAME_LOWER"
        extents = [span(k, d) for k, d in zip(kernel, dilations, strict=True)]
        rows = zip(sizes, extents, strides, strict=True)
        pads = [same_pads(n, e, s, lower=lower) for n, e, s in rows]
        begins, ends = [b for b, _ in pads], [e for _, e in pads]
        return Pool(kernel, strides, dilations, begins, ends)
    declared = call.attributes.get("pads") or [0] * 2 * rank
    if len(declared) != 2 * rank:
        raise NotEvaluable(f"{call.op_type}: pads {list(declared)} for {rank} spatial axes")
    halves = list(declared[:rank]), list(declared[rank:])
    return Pool(kernel, strides, dilations, *halves, ceil_mode)


@dataclass(frozen=True, slots=True)
class Crop:
    """What a transposed convolution cuts off its full output, and adds behind it."""

    begins: list[int]
    ends: list[int]
    output_padding: list[int]


def crop_of(call: Call, sizes: Sequence[int], kernel: Sequence[int]) -> Crop:
    """Pads of a ConvTranspose over spatial `sizes`, auto_pad and output_shape resolved.

    ONNX Operators, ConvTranspose-22; a negative SAME total is clamped at 0 as onnxruntime does.
    Raises NotEvaluable where output_shape asks for more than a stride of extra cells.
    """
    rank = len(sizes)
    strides, dilations = call.ints("strides", rank, 1), call.ints("dilations", rank, 1)
    added = call.ints("output_padding", rank, 0)
    extents = [span(k, d) for k, d in zip(kernel, dilations, strict=True)]
    if call.attributes.get("output_shape"):
        return _to_shape(call, sizes, extents, strides, added)
    if not call.auto_pad.startswith("SAME"):
        pads = call.attributes.get("pads") or [0] * 2 * rank
        return Crop(list(pads[:rank]), list(pads[rank:]), added)
    totals = [max(0, e + a - s) for e, a, s in zip(extents, added, strides, strict=True)]
    return _split(totals, added, upper=call.auto_pad == "SAME_UPPER")


def _to_shape(
    call: Call, sizes: Sequence[int], extents: list[int], strides: list[int], added: list[int]
) -> Crop:
    wanted = [int(n) for n in call.attributes["output_shape"]][-len(sizes) :]
    rows = zip(sizes, strides, extents, added, strict=True)
    full = [(n - 1) * s + e + a for n, s, e, a in rows]
    missing = [max(0, w - f) for w, f in zip(wanted, full, strict=True)]
    if any(m >= s for m, s in zip(missing, strides, strict=True)):
        raise NotEvaluable(f"output_shape {wanted} is larger than the full output {full}")
    totals = [max(0, f - w) for w, f in zip(wanted, full, strict=True)]
    behind = [a + m for a, m in zip(added, missing, strict=True)]
    mode = call.attributes.get("auto_pad") or "NOTSET"
    return _split(totals, behind, upper=mode == "SAME_UPPER")


def _split(totals: list[int], added: list[int], *, upper: bool) -> Crop:
    begins = [t // 2 if upper else t - t // 2 for t in totals]
    ends = [t - b for t, b in zip(totals, begins, strict=True)]
    return Crop(begins, ends, added)
