"""Small models, each padded or written in one way, as values that are varied one word at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onnxpad.model.opened import Model
from onnxpad.model.small_models import Array, assembled, node
from onnxpad.padding.operators import MICROSOFT, OPERATORS, Kind, Operator, Since

Words = dict[str, Any]
_SEED = 7
_INT64 = 7  # as TensorProto counts types
_GROUPS = {"": (1, 2, 2), "2": (2, 4, 4), "each": (2, 2, 2), "two each": (2, 2, 4)}
"""By how a specimen says it: groups, channels that are read, and channels that are made."""
POOLS = ("MaxPool", "AveragePool", "LpPool", f"{MICROSOFT}.QLinearAveragePool")
QUANTISED = ("QLinearConv", "ConvInteger")
CONVOLUTIONS = ("Conv", "ConvTranspose", *QUANTISED)
INTEGER_OPERATORS = ("QLinearConv", "ConvInteger", f"{MICROSOFT}.QLinearAveragePool")


@dataclass(frozen=True, slots=True)
class Specimen:
    """A model of one padded operator, in words; a field that says nothing is not written.

    `pads` are the cells before and behind each spatial axis; of a Pad node `padded` says which
    axes. `front` stands between the input and the operator, `group` is a number, 'each' (one
    channel a group) or 'two each'; `flat` gives the last axis a kernel, a stride and a dilation of
    1 and no padding. A `stride` of 0 is not written. `open` names what the file leaves open of the
    sizes, `weight` how the weight comes to be, `scales` whether each channel has its own.
    """

    operator: str
    opset: int = 17
    rank: int = 2
    dtype: str = ""
    batch: int = 1
    size: int = 5
    kernel: int = 3
    kernel_written: bool = True
    stride: int = 1
    dilation: int = 0
    flat: bool = False
    pads: tuple[int, int] | None = None
    auto_pad: str = ""
    ceil_mode: bool = False
    count_include_pad: bool = False
    output_padding: int = 0
    output_shape: str = ""
    group: str = ""
    bias: bool = False
    indices: bool = False
    storage_order: bool = False
    open: str = ""
    front: str = ""
    weight: str = ""
    weight_dtype: str = "uint8"
    scales: bool = False
    mode: str = "constant"
    mode_written: bool = True
    value: float | None = None
    padded: str = "spatial"
    axes: bool = False
    computed: bool = False

    @property
    def facts(self) -> Operator:
        """What is known of the operator."""
        domain, _, name = self.operator.rpartition(".")
        return OPERATORS[domain, name]

    @property
    def written_opset(self) -> int:
        """The opset of its model: `opset`, or the first one that has the attributes it writes."""
        facts = self.facts
        asked = (facts.dilations * bool(self.dilation), facts.ceil_mode * self.ceil_mode)
        return max(self.opset, *asked, Since.PAD_AXES * self.axes)

    @classmethod
    def of(cls, words: Words) -> Specimen:
        """The specimen that a section of the data file describes."""
        lists = {name: tuple(value) for name, value in words.items() if isinstance(value, list)}
        value = {"value": float(words["value"])} if "value" in words else {}
        return cls(**(words | lists | value))

    @property
    def complexity(self) -> float:
        """How large its model is, to sort by: the fewer words and cells, the smaller."""
        plain = Specimen(self.operator)
        fields = Specimen.__dataclass_fields__
        changed = sum(getattr(self, name) != getattr(plain, name) for name in fields)
        return float(changed) + self.size / 1_000


def drafted(one: Specimen) -> tuple[Model, Mapping[str, Array]]:
    """The model that a specimen describes, and an input that tells right from wrong."""
    draft = _Draft(one)
    if one.facts.kind is Kind.PAD:
        draft.write_pad()
    else:
        draft.write_window()
    outputs = {name: (dtype, None) for name, dtype in draft.outputs.items()}
    made = draft.nodes, draft.inputs, outputs, draft.constants
    return assembled(*made, opset=draft.opset), draft.fed


def values(shape: tuple[int, ...], dtype: str, kind: Kind | None) -> Array:
    """Whole numbers in an order of their own: below 0 for max pools, above it for averages."""
    count = int(np.prod(shape))
    drawn = np.random.default_rng(_SEED).permutation(count).reshape(shape)
    if dtype in ("uint8", "int8"):
        below = 250 if kind is Kind.MAX and dtype == "uint8" else 120  # above 127 signs are told
        whole: Array = (drawn * 5 % below + (0 if dtype == "uint8" else -125)).astype(dtype)
        return whole
    if kind is Kind.MAX:
        drawn = -1 - drawn
    elif kind in (Kind.AVERAGE, Kind.LP):
        drawn = drawn + 1
    else:
        drawn = drawn % 19 - 9
    return drawn.astype(np.dtype(dtype))


def _weights(shape: tuple[int, ...], dtype: str, zero: int = 0) -> Array:
    """Small whole numbers around `zero`, none of them the same as its neighbour."""
    count = int(np.prod(shape))
    drawn = np.random.default_rng(_SEED + 1).permutation(count).reshape(shape) % 7 - 2
    made: Array = (drawn + zero).astype(np.dtype(dtype))
    return made


class _Draft:
    """The model of a specimen as it is written, from `x` on."""

    def __init__(self, of: Specimen) -> None:
        self.of, self.opset, self.kind = of, of.written_opset, of.facts.kind
        self.nodes = list[Any]()
        self.inputs: dict[str, tuple[str, tuple[int | str, ...]]] = {}
        self.fed: dict[str, Array] = {}
        self.constants: dict[str, Array] = {}
        self.outputs: dict[str, str] = {}
        self.dtype = of.dtype or ("uint8" if of.operator in INTEGER_OPERATORS else "float32")

    def write_window(self) -> None:
        """A convolution or a pool."""
        one = self.of
        group, cin, cout = _GROUPS[one.group]
        attributes = self._attributes()
        if group > 1 and one.operator in CONVOLUTIONS:
            attributes["group"] = group
        inputs = [self._data(cin)]
        if one.operator in CONVOLUTIONS:
            inputs += self._operands(group, cin, cout)
        elif one.operator in INTEGER_OPERATORS:
            inputs += self._scaled("x") + self._scaled("y", 4)
        made = ["y", "indices"] if one.indices else ["y"]
        self.nodes.append(node(one.operator, inputs, made, attributes))
        dtype = "int32" if one.operator == "ConvInteger" else self.dtype
        self._result("float32" if one.front.startswith("dequantised") else dtype)
        if one.indices:
            self.outputs["indices"] = "int64"

    def write_pad(self) -> None:
        """A Pad node."""
        one, count = self.of, self.of.rank + 2
        places = {
            "spatial": range(2, count),
            "last": range(count - 1, count),
            "channels": range(1, 2),
            "batch": range(1),
            "all": range(count),
            "apart": range(0, count, 2),
        }[one.padded]
        sides = [[n if axis in places else 0 for axis in range(count)] for n in one.pads or (1, 1)]
        attributes: Words = {"mode": one.mode} if one.mode_written else {}
        self._pad(self._data(2), "y", sides, one.value, **attributes)
        self._result(one.dtype or "float32")

    def _pad(
        self, data: str, made: str, sides: list[list[int]], value: float | None, **attributes: str
    ) -> str:
        """A Pad of `data` that makes `made`: the specimen's own makes 'y', others are plain."""
        one, prefix = self.of, "" if made == "y" else "front_"
        if self.opset < Since.PAD_INPUTS:
            number = {} if value is None else {"value": float(value)}
            return self._add("Pad", [data], made, pads=sides[0] + sides[1], **number, **attributes)
        listed = [axis for axis, cells in enumerate(zip(*sides, strict=True)) if any(cells)]
        lists_axes = one.axes and not prefix
        flat = np.array(sides, np.int64)[:, listed if lists_axes else slice(None)].ravel()
        if one.computed and not prefix:
            read = self._feed("pads", flat.astype(np.int32))
            inputs = [data, self._add("Cast", [read], "computed", to=_INT64)]
        else:
            inputs = [data, self._constant(f"{prefix}pads", flat)]
        if value is not None:
            dtype = np.dtype("float32" if prefix else one.dtype or "float32")
            is_lowest = value == float("-inf") and dtype.kind in "iu"
            least = np.iinfo(dtype).min if is_lowest else value
            inputs.append(self._constant(f"{prefix}value", np.array(least).astype(dtype)))
        if lists_axes:
            inputs += [""] * (value is None)
            inputs.append(self._constant("axes", np.array(listed, np.int64)))
        return self._add("Pad", inputs, made, **attributes)

    def _feed(self, name: str, value: Array, dims: tuple[int | str, ...] | None = None) -> str:
        self.inputs[name] = str(value.dtype), value.shape if dims is None else dims
        self.fed[name] = value
        return name

    def _constant(self, name: str, value: Array) -> str:
        self.constants[name] = value
        return name

    def _add(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:  # noqa: ANN401
        self.nodes.append(node(operator, inputs, [output], attributes))
        return output

    def _result(self, dtype: str) -> None:
        """What the last node makes, as a float again where it was quantised in front."""
        self.outputs["y"] = dtype
        if self.of.front == "quantised":
            self.nodes[-1].output[0] = "whole"
            self._add("DequantizeLinear", ["whole", "scale", "zero"], "y")
            self.outputs["y"] = "float32"

    def _data(self, channels: int) -> str:
        """The input, and what stands in front of the operator; the name of what that reads."""
        one, (how, _, value) = self.of, self.of.front.partition(" ")
        shape = (one.batch, channels, *[one.size + axis for axis in range(one.rank)])
        if how in ("quantised", "dequantised"):
            read = self._feed("x", values(shape, "float32", self.kind))
            scale = self._constant("scale", np.array(1, np.float32))
            zero = self._constant("zero", np.array(0, np.dtype(one.dtype or "int8")))
            made = self._add("QuantizeLinear", [read, scale, zero], "quantised")
            if how == "quantised":
                return made
            return self._add("DequantizeLinear", [made, scale, zero], "dequantised")
        dims: list[int | str] = list(shape)
        if one.open == "batch":
            dims[0] = "N"
        if one.open == "sizes":
            dims[2:] = [f"size{axis}" for axis in range(one.rank)]
        read = self._feed("x", values(shape, self.dtype, self.kind), tuple(dims))
        if how.startswith("relu"):
            read = self._add("Relu", [read], "above_zero")
        if not how.endswith("pad"):
            return read
        mode = value if value in ("reflect", "edge") else "constant"
        is_left_out = mode != "constant" or (self.opset >= Since.PAD_INPUTS and value in ("", "0"))
        sides = [[0, 0, *[1] * one.rank]] * 2
        return self._pad(
            read, "padded", sides, None if is_left_out else float(value or 0), mode=mode
        )

    def _axes(self, value: int, plain: int) -> list[int]:
        """A number for each spatial axis, the last of which may be the one that does nothing."""
        return [value] * (self.of.rank - self.of.flat) + [plain] * self.of.flat

    def _attributes(self) -> Words:
        """What a convolution or a pool writes."""
        one, found = self.of, Words()
        if one.kernel_written:
            found["kernel_shape"] = self._axes(one.kernel, 1)
        if one.stride:
            found["strides"] = self._axes(one.stride, 1)
        if one.dilation:
            found["dilations"] = self._axes(one.dilation, 1)
        if one.auto_pad:
            found["auto_pad"] = one.auto_pad
        if one.pads is not None:
            found["pads"] = [cells for side in one.pads for cells in self._axes(side, 0)]
        if one.output_padding:
            found["output_padding"] = self._axes(one.output_padding, 0)
        if one.output_shape:  # the whole result, cropped by one cell or by two
            spans = self._axes((one.kernel - 1) * max(one.dilation, 1) + 1, 1)
            strides = self._axes(max(one.stride, 1), 1)
            cropped = self._axes(1 if one.output_shape == "odd" else 2, 0)
            sides = enumerate(zip(strides, spans, cropped, strict=True))
            found["output_shape"] = [
                (one.size + axis - 1) * stride + span - cells
                for axis, (stride, span, cells) in sides
            ]
        names = ("ceil_mode", "count_include_pad", "storage_order")
        return found | {name: 1 for name in names if getattr(one, name)}

    def _operands(self, group: int, cin: int, cout: int) -> list[str]:
        """Weight and bias; of quantised convolutions scales and zero points as well."""
        one, is_whole = self.of, self.of.operator in QUANTISED
        turned = self.kind is Kind.TRANSPOSED
        first = (cin, cout // group) if turned else (cout, cin // group)
        shape = (*first, *self._axes(one.kernel, 1))
        dtype = one.weight_dtype if is_whole else one.dtype or "float32"
        middle = 128 if is_whole and dtype == "uint8" else 0
        value, zero = _weights(shape, dtype, middle), np.array(middle, np.dtype(dtype))
        bias = np.arange(1, cout + 1).astype(np.int32 if is_whole else np.dtype(dtype))
        if one.weight == "computed":
            found = [self._add("Relu", [self._feed("w", value)], "weight")]
        elif one.weight == "padded":
            inner = value[(slice(None), slice(None), *[slice(0, -1)] * one.rank)]
            small = self._constant("w", np.ascontiguousarray(inner))
            pads = np.array([0] * (value.ndim + 2) + [1] * one.rank)
            found = [self._add("Pad", [small, self._constant("w_pads", pads)], "weight")]
        else:
            found = [self._constant("weight", value)]
        if one.operator == "ConvInteger":
            found.append(self._constant("x_zero", np.array(3, np.dtype(self.dtype))))
            return [*found, self._constant("weight_zero", zero)]
        if is_whole:
            scale: Array = np.array(0.5, np.float32)
            if one.scales:
                zero = np.full(cout, zero)
                scale = (np.arange(cout) / 4 + 0.5).astype(np.float32)
            found = [*self._scaled("x"), *found, self._constant("weight_scale", scale)]
            found += [self._constant("weight_zero", zero), *self._scaled("y", 16)]
            bias *= 64
        return found + ([self._constant("bias", bias)] if one.bias else [])

    def _scaled(self, name: str, scale: float = 1) -> list[str]:
        """Scale and zero point of a tensor."""
        zero = np.array(3 if name == "x" else 60, np.dtype(self.of.dtype or "uint8"))
        return [
            self._constant(f"{name}_scale", np.array(scale, np.float32)),
            self._constant(f"{name}_zero", zero),
        ]
