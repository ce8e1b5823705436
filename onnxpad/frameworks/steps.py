"""The ONNX nodes that compute a layer: a chain of steps, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from onnxpad.padding.chain import Pads


@dataclass(frozen=True, slots=True)
class SliceStep:
    """Keeps the cells from `starts` up to `ends` of each spatial axis."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def __str__(self) -> str:
        return f"Slice(starts={list(self.starts)}, ends={list(self.ends)})"


@dataclass(frozen=True, slots=True)
class PadWith:
    """A Pad node over the spatial axes; `value` is what mode constant writes."""

    pads: Pads
    mode: str = "constant"
    value: float = 0.0

    def __str__(self) -> str:
        value = f", value={self.value:g}" if self.mode == "constant" and self.value else ""
        return f"Pad(mode={str(self.mode)!r}, pads={list(self.pads.flat)}{value})"


@dataclass(frozen=True, slots=True)
class Windows:
    """Conv, ConvTranspose, MaxPool or AveragePool with explicit pads.

    `takes_bias` is off where the bias is added by a later step. `unpadded` writes auto_pad=VALID
    instead of zeros, which keeps onnxruntime from fusing the Pad in front into a pool.
    """

    op: str
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: Pads
    group: int = 1
    output_padding: tuple[int, ...] = ()
    ceil_mode: bool = False
    count_include_pad: bool = False
    takes_bias: bool = True
    unpadded: bool = False

    @property
    def attributes(self) -> dict[str, str | int | list[int]]:
        """The attributes of the node, as ONNX names them."""
        found: dict[str, str | int | list[int]] = {
            "kernel_shape": list(self.kernel),
            "strides": list(self.strides),
            "dilations": list(self.dilations),
        }
        if self.unpadded:
            found["auto_pad"] = "VALID"
        else:
            found["pads"] = list(self.pads.flat)
        if self.op.startswith("Conv"):
            found["group"] = self.group
        if any(self.output_padding):
            found["output_padding"] = list(self.output_padding)
        if self.ceil_mode:
            found["ceil_mode"] = 1
        if self.count_include_pad:
            found["count_include_pad"] = 1
        return found

    def __str__(self) -> str:
        ones = [1] * len(self.kernel)
        shown = {
            name: value
            for name, value in self.attributes.items()
            if not (name in {"strides", "dilations"} and value == ones)
            and not (name == "group" and value == 1)
        }
        return f"{self.op}({', '.join(f'{name}={value}' for name, value in shown.items())})"


@dataclass(frozen=True, slots=True)
class Scale:
    """Multiplies by a number."""

    factor: float

    def __str__(self) -> str:
        return f"Mul({self.factor:g})"


@dataclass(frozen=True, slots=True)
class AddBias:
    """Adds the bias that the convolution before did not."""

    def __str__(self) -> str:
        return "Add(bias)"


Step: TypeAlias = SliceStep | PadWith | Windows | Scale | AddBias
