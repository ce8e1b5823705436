"""Small models, each padded or written in one way, as values that are varied one word at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from onnxpad.model.opened import Model
from onnxpad.model.small_models import Array, Piece, assembled
from onnxpad.padding.operators import MICROSOFT, OPERATORS, Kind, Operator, Since

Words = dict[str, Any]
_SEED = 7
_INT64 = 7  # as TensorProto counts types
_VALUE_INPUT = 11
POOLS = ("MaxPool", "AveragePool", "LpPool", f"{MICROSOFT}.QLinearAveragePool")
QUANTISED = ("QLinearConv", "ConvInteger")
CONVOLUTIONS = ("Conv", "ConvTranspose", *QUANTISED)
INTEGER_OPERATORS = ("QLinearConv", "ConvInteger", f"{MICROSOFT}.QLinearAveragePool")


@dataclass(frozen=True, slots=True)
class Specimen:
    """A model of one padded operator, in words; a field that says nothing is not written.

    `pads` are the cells before and behind each spatial axis; of a Pad node `padded` says which
    axes. `front` stands between the input and the operator, `group` is a number, 'each' (one
    channel a group) or 'two each'; `uneven` leaves the last axis without dilation, `flat` gives it
    a kernel of 1, a stride of 1 and no padding. A `stride` of 0 is not written. `open` names what
    the file leaves open of the sizes, `weight` how the weight comes to be.
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
    uneven: bool = False
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
    weight_zero: int | None = None
    scales: str = ""
    producer: str = ""
    mode: str = "constant"
    mode_written: bool = True
    value: float | None = None
    value_listed: bool = False
    padded: str = "spatial"
    axes: bool = False
    computed: bool = False
    fed: bool = False

    @property
    def kind(self) -> Kind | None:
        """What the operator does with padding."""
        found = self._facts
        return found.kind if found else None

    @property
    def written_opset(self) -> int:
        """The opset of its model: `opset`, or the first one that has the attributes it writes."""
        facts = self._facts
        asked = [
            (self.dilation, facts.dilations if facts else 0),
            (self.ceil_mode, facts.ceil_mode if facts else 0),
            (self.axes, Since.PAD_AXES),
        ]
        return max(self.opset, *(since for is_written, since in asked if is_written), 0)

    @property
    def _facts(self) -> Operator | None:
        domain, _, name = self.operator.rpartition(".")
        return OPERATORS.get((domain, name))

    @classmethod
    def of(cls, words: Words) -> Specimen:
        """The specimen of these words, as a file of data holds them."""
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

    def varied(self, **words: Any) -> Specimen:  # noqa: ANN401 - the fields
        """The same with other words."""
        return replace(self, **words)


@dataclass
class Draft:
    """A model that is being written, from `x` on."""

    of: Specimen
    pieces: list[Piece] = field(default_factory=list)
    inputs: dict[str, tuple[str, tuple[int | str, ...]]] = field(default_factory=dict)
    fed: dict[str, Array] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)

    def feed(self, name: str, value: Array, dims: tuple[int | str, ...] | None = None) -> str:
        """Add an input of the model; gives its name."""
        self.inputs[name] = str(value.dtype), value.shape if dims is None else dims
        self.fed[name] = value
        return name

    def constant(self, name: str, value: Array) -> str:
        """Add a constant; gives its name."""
        self.constants[name] = value
        return name

    def add(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:  # noqa: ANN401
        """Add a node; gives the name of what it makes."""
        self.pieces.append(Piece(operator, inputs, [output], attributes))
        return output

    def finished(self) -> tuple[Model, Mapping[str, Array]]:
        """The model, and an input that tells right from wrong."""
        results = {name: (dtype, None) for name, dtype in self.outputs.items()}
        one = self.of
        made = assembled(
            self.pieces,
            self.inputs,
            results,
            self.constants,
            opset=one.opset,
            producer=one.producer or "onnxpad",
        )
        return made, self.fed


def drafted(one: Specimen) -> tuple[Model, Mapping[str, Array]]:
    """The model that a specimen describes, and its inputs."""
    draft = Draft(one.varied(opset=one.written_opset))
    if one.kind is Kind.PAD:
        _pad_node(draft)
    else:
        _windowed(draft)
    return draft.finished()


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


def weights(shape: tuple[int, ...], dtype: str, zero: int = 0) -> Array:
    """Small whole numbers around `zero`, none of them the same as its neighbour."""
    count = int(np.prod(shape))
    drawn = np.random.default_rng(_SEED + 1).permutation(count).reshape(shape) % 7 - 2
    made: Array = (drawn + zero).astype(np.dtype(dtype))
    return made


def _data(draft: Draft, channels: int) -> str:
    """The input, and what stands in front of the operator; the name of what that reads."""
    one = draft.of
    dtype = one.dtype or ("uint8" if one.operator in INTEGER_OPERATORS else "float32")
    shape = (one.batch, channels, *[one.size + axis for axis in range(one.rank)])
    dims: list[int | str] = list(shape)
    if one.open == "batch":
        dims[0] = "N"
    if one.open == "sizes":
        dims[2:] = [f"size{axis}" for axis in range(one.rank)]
    if not one.front.startswith(("quantised", "dequantised")):
        draft.feed("x", values(shape, dtype, one.kind), tuple(dims))
    return _fronted(draft, shape)


def _fronted(draft: Draft, shape: tuple[int, ...]) -> str:
    one = draft.of
    match one.front.split():
        case []:
            return "x"
        case ["relu"]:
            return draft.add("Relu", ["x"], "above_zero")
        case ["pad", *more]:
            return _padded_front(draft, more[0] if more else "0")
        case ["relu-pad", value]:
            draft.add("Relu", ["x"], "above_zero")
            return _padded_front(draft, value, "above_zero")
        case ["quantised" | "dequantised" as how, *more]:
            made = _quantised_front(draft, shape, how, zero=3 if "off-zero" in more else 0)
            return _padded_front(draft, "0", made) if "pad" in more else made
    raise AssertionError(one.front)


def _padded_front(draft: Draft, value: str, reads: str = "x") -> str:
    one = draft.of
    if value == "identity":
        reads = draft.add("Relu", [reads], "above_zero")
    mode = value if value in ("reflect", "edge") else "constant"
    sides = [0, 0, *[1] * one.rank]
    if one.opset < _VALUE_INPUT:
        number = {} if mode != "constant" else {"value": float(value)}
        return draft.add("Pad", [reads], "padded", mode=mode, pads=sides * 2, **number)
    inputs = [reads, draft.constant("front_pads", np.array(sides * 2, np.int64))]
    if mode == "constant" and value not in ("0", "identity"):
        inputs.append(draft.constant("front_value", np.array(float(value), np.float32)))
    made = draft.add("Pad", inputs, "padded", mode=mode)
    if value == "identity":
        draft.add("Identity", [reads], "same")
        draft.outputs["same"] = one.dtype or "float32"
    return made


def _quantised_front(draft: Draft, shape: tuple[int, ...], how: str, zero: int) -> str:
    """QuantizeLinear of a float input, and with 'dequantised' the way back as well."""
    one = draft.of
    draft.feed("x", values(shape, "float32", one.kind))
    scale = draft.constant("scale", np.array(1, np.float32))
    worth_0 = draft.constant("zero", np.array(zero, np.dtype(one.dtype or "int8")))
    made = draft.add("QuantizeLinear", ["x", scale, worth_0], "quantised")
    if how == "dequantised":
        made = draft.add("DequantizeLinear", [made, scale, worth_0], "dequantised")
    return made


def _group(one: Specimen) -> tuple[int, int, int]:
    """Groups, channels that are read, and channels that are made."""
    match one.group:
        case "":
            return 1, 2, 1 if one.weight == "computed, one channel" else 2
        case "each":
            return 2, 2, 2
        case "two each":
            return 2, 2, 4
        case number:
            return int(number), 2 * int(number), 2 * int(number)


def _windowed(draft: Draft) -> None:
    """A convolution or a pool."""
    one = draft.of
    group, cin, cout = _group(one)
    attributes = _attributes(one)
    if group > 1 and one.kind in (Kind.CONVOLUTION, Kind.TRANSPOSED):
        attributes["group"] = group
    data = _data(draft, cin)
    inputs = [data]
    if one.operator in CONVOLUTIONS:
        inputs += _operands(draft, group, cin, cout)
    elif one.operator in INTEGER_OPERATORS:
        inputs += _scaled(draft, "x") + _scaled(draft, "y", 4)
    made = ["y", "indices"] if one.indices else ["y"]
    draft.pieces.append(Piece(one.operator, inputs, made, attributes))
    _results(draft)


def _results(draft: Draft) -> None:
    one = draft.of
    dtype = one.dtype or ("uint8" if one.operator in INTEGER_OPERATORS else "float32")
    if one.operator == "ConvInteger":
        dtype = "int32"
    if one.front.startswith("dequantised"):
        dtype = "float32"
    draft.outputs["y"] = dtype
    if one.front == "quantised":
        _dequantised(draft)
    if one.indices:
        draft.outputs["indices"] = "int64"


def _dequantised(draft: Draft) -> None:
    """What the last node makes is a float again, as it was before it was quantised in front."""
    draft.pieces[-1] = replace(draft.pieces[-1], outputs=["whole"])
    draft.add("DequantizeLinear", ["whole", "scale", "zero"], "y")
    draft.outputs["y"] = "float32"


def _attributes(one: Specimen) -> Words:
    """What a convolution or a pool writes."""
    found = Words()
    if one.kernel_written:
        found["kernel_shape"] = _on_axes(one, one.kernel, 1)
    if one.stride:
        found["strides"] = _on_axes(one, one.stride, 1)
    if one.dilation:
        found["dilations"] = _on_axes(one, one.dilation, 1, one.uneven)
    if one.auto_pad:
        found["auto_pad"] = one.auto_pad
    if one.pads is not None:
        found["pads"] = _on_axes(one, one.pads[0], 0) + _on_axes(one, one.pads[1], 0)
    if one.output_padding:
        found["output_padding"] = _on_axes(one, one.output_padding, 0)
    if one.output_shape:
        found["output_shape"] = _asked_sizes(one)
    for name in ("ceil_mode", "count_include_pad", "storage_order"):
        if getattr(one, name):
            found[name] = 1
    return found


def _on_axes(one: Specimen, value: int, flat: int, uneven: bool = False) -> list[int]:  # noqa: FBT001, FBT002 - a field
    """A number for each spatial axis, the last of which may be the one that does nothing."""
    last = one.flat or uneven
    return [value] * (one.rank - last) + [flat] * last


def _asked_sizes(one: Specimen) -> list[int]:
    """Sizes that crop the whole result of a transposed convolution, by one cell or by two."""
    steps = zip(
        _on_axes(one, one.kernel, 1),
        _on_axes(one, max(one.stride, 1), 1),
        _on_axes(one, max(one.dilation, 1), 1, one.uneven),
        _on_axes(one, 1 if one.output_shape == "odd" else 2, 0),
        strict=True,
    )
    return [
        (one.size + axis - 1) * stride + (kernel - 1) * dilation + 1 - cropped
        for axis, (kernel, stride, dilation, cropped) in enumerate(steps)
    ]


def _operands(draft: Draft, group: int, cin: int, cout: int) -> list[str]:
    """Weight and bias; of quantised convolutions scales and zero points as well."""
    one = draft.of
    sizes = _on_axes(one, one.kernel, 1)
    turned = one.kind is Kind.TRANSPOSED
    shape = (cin, cout // group, *sizes) if turned else (cout, cin // group, *sizes)
    if one.operator in QUANTISED:
        return _whole_operands(draft, shape, cout)
    found = [_weight(draft, shape)]
    if one.bias:
        bias = np.arange(1, cout + 1).astype(np.dtype(one.dtype or "float32"))
        found.append(draft.constant("bias", bias))
    return found


def _weight(draft: Draft, shape: tuple[int, ...]) -> str:
    one = draft.of
    value = weights(shape, one.dtype or "float32")
    match one.weight:
        case "computed" | "computed, one channel":
            return draft.add("Relu", [draft.feed("w", value)], "weight")
        case "padded":
            inner = tuple(slice(0, -1) if axis > 1 else slice(None) for axis in range(value.ndim))
            small = draft.constant("w", np.ascontiguousarray(value[inner]))
            pads = draft.constant("w_pads", np.array([0] * (value.ndim + 2) + [1] * one.rank))
            return draft.add("Pad", [small, pads], "weight")
    return draft.constant("weight", value)


def _whole_operands(draft: Draft, shape: tuple[int, ...], cout: int) -> list[str]:
    one = draft.of
    middle = 128 if one.weight_dtype == "uint8" else 0
    start = middle if one.weight_zero is None else one.weight_zero
    weight = draft.constant("weight", weights(shape, one.weight_dtype, start))
    zero: Array = np.array(start, np.dtype(one.weight_dtype))
    many = {"list": 1, "each": cout}.get(one.scales)
    if one.operator == "ConvInteger":
        given: Array = np.array(3, np.dtype(one.dtype or "uint8"))
        return [weight, draft.constant("x_zero", given), draft.constant("weight_zero", zero)]
    scale: Array = np.array(0.5, np.float32)
    if many:
        zero, scale = np.full(many, zero), (np.arange(many) / 4 + 0.5).astype(np.float32)
    found = [*_scaled(draft, "x"), weight, draft.constant("weight_scale", scale)]
    found += [draft.constant("weight_zero", zero), *_scaled(draft, "y", 16)]
    if one.bias:
        found.append(draft.constant("bias", np.arange(1, cout + 1).astype(np.int32) * 64))
    return found


def _scaled(draft: Draft, name: str, scale: float = 1) -> list[str]:
    """Scale and zero point of a tensor."""
    dtype = np.dtype(draft.of.dtype or "uint8")
    return [
        draft.constant(f"{name}_scale", np.array(scale, np.float32)),
        draft.constant(f"{name}_zero", np.array(3 if name == "x" else 60, dtype)),
    ]


def _pad_node(draft: Draft) -> None:
    one = draft.of
    dtype, count = one.dtype or "float32", one.rank + 2
    data = _data(draft, 2)
    begin, end = one.pads or (1, 1)
    places = {
        "spatial": range(2, count),
        "last": range(count - 1, count),
        "channels": range(1, 2),
        "batch": range(1),
        "all": range(count),
        "apart": range(0, count, 2),
    }[one.padded]
    sides = [[cells if axis in places else 0 for axis in range(count)] for cells in (begin, end)]
    attributes: Words = {"mode": one.mode} if one.mode_written else {}
    if one.opset < _VALUE_INPUT:
        number = {} if one.value is None else {"value": float(one.value)}
        draft.add("Pad", [data], "y", pads=sides[0] + sides[1], **number, **attributes)
    else:
        draft.add("Pad", [data, *_pad_inputs(draft, sides)], "y", **attributes)
    draft.outputs["y"] = dtype
    if one.front == "quantised":
        _dequantised(draft)


def _pad_inputs(draft: Draft, sides: list[list[int]]) -> Iterator[str]:
    """Pads, value and axes."""
    one = draft.of
    listed = [axis for axis in range(len(sides[0])) if sides[0][axis] or sides[1][axis]]
    kept = [[side[axis] for axis in listed] for side in sides] if one.axes else sides
    flat = np.array(kept[0] + kept[1], np.int64)
    if one.fed:
        yield draft.feed("pads", flat)
    elif one.computed:
        yield draft.add("Cast", [draft.feed("pads", flat.astype(np.int32))], "computed", to=_INT64)
    else:
        yield draft.constant("pads", flat)
    if one.value is not None:
        dtype = np.dtype(one.dtype or "float32")
        lowest = np.iinfo(dtype).min if dtype.kind in "iu" else one.value
        value = lowest if one.value == float("-inf") else one.value
        yield draft.constant(
            "value", np.array([value] if one.value_listed else value).astype(dtype)
        )
    elif one.axes:
        yield ""
    if one.axes:
        yield draft.constant("axes", np.array(listed, np.int64))
