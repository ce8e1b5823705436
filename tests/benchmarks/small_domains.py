"""Whole domains of models of one padded operator, for the recorder of answers.

Every small window meets every way to write its padding; opset, size, what stands in front and the
rest are drawn, always the same for one key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, helper, numpy_helper

from tests.benchmarks import text_domains

Array = NDArray[Any]
MICROSOFT = "com.microsoft"


class Kind(NamedTuple):
    """An operator, the type of its data, and the opsets that it is drawn in."""

    op: str
    dtype: str
    opsets: tuple[int, ...]
    domain: str = ""
    last: bool = False


KINDS = {
    "Conv": Kind("Conv", "float32", (7, 10, 11, 13, 18, 22)),
    "Conv half": Kind("Conv", "float16", (11, 22)),
    "FusedConv": Kind("FusedConv", "float32", (11, 17), MICROSOFT),
    "ConvInteger": Kind("ConvInteger", "uint8", (10, 11, 18)),
    "QLinearConv": Kind("QLinearConv", "uint8", (10, 11, 18)),
    "QLinearConv signed": Kind("QLinearConv", "int8", (13, 22)),
    "QLinearConv last": Kind("QLinearConv", "uint8", (11, 17), MICROSOFT, last=True),
    "ConvTranspose": Kind("ConvTranspose", "float32", (7, 10, 11, 22)),
    "DeformConv": Kind("DeformConv", "float32", (19, 22)),
    "MaxPool": Kind("MaxPool", "float32", (7, 8, 10, 11, 12, 18, 22)),
    "MaxPool double": Kind("MaxPool", "float64", (12, 22)),
    "MaxPool int8": Kind("MaxPool", "int8", (12, 22)),
    "MaxPool uint8": Kind("MaxPool", "uint8", (12, 22)),
    "NhwcMaxPool": Kind("NhwcMaxPool", "int8", (12, 17), MICROSOFT, last=True),
    "AveragePool": Kind("AveragePool", "float32", (7, 10, 11, 19, 22)),
    "AveragePool half": Kind("AveragePool", "float16", (11, 22)),
    "QLinearAveragePool": Kind("QLinearAveragePool", "uint8", (11, 17), MICROSOFT),
    "QLinearAveragePool last": Kind("QLinearAveragePool", "uint8", (11, 17), MICROSOFT, last=True),
    "LpPool": Kind("LpPool", "float32", (2, 11, 18, 22)),
    "Col2Im": Kind("Col2Im", "float32", (18, 22)),
}
DILATIONS_SINCE = {"AveragePool": 19, "LpPool": 18, "QLinearAveragePool": 99, "MaxPool": 10}
CEIL_SINCE = {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}
FRONTS = ("zero", "minus zero", "lowest", "other", "tensor", "fits")
BETWEEN = ("", "", "", "Relu", "Identity", "LeakyRelu", "Transpose", "two readers", "result")
AUTO = ("VALID", "SAME_UPPER", "SAME_LOWER")
SIDES = ((0, 0), (1, 1), (0, 1), (1, 0), (2, 1), (0, 3), (3, 3), (-1, 1))
FRONT_SIDES = ((0, 0), (1, 1), (0, 1), (2, 0), (1, 3), (-1, 2), (4, 4))


@dataclass(frozen=True)
class Case:
    """All that makes one model; `padding` is None, an auto_pad, or begins and ends.

    `front` is what a Pad in front writes and `around` its pads, `between` what stands behind it.
    """

    kind: str
    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: str | tuple[int, ...] | None
    opset: int
    front: str = ""
    around: tuple[int, ...] = ()
    between: str = ""
    ceil: bool = False
    counts: bool = False
    indices: bool = False
    output_padding: tuple[int, ...] = ()
    output_shape: tuple[int, ...] = ()
    open_sizes: bool = False
    declared: bool = True

    @property
    def about(self) -> Kind:
        """The operator."""
        return KINDS[self.kind]

    @property
    def key(self) -> str:
        """Words that tell this case from every other."""
        words = [self.kind, f"opset {self.opset}", f"x {self.sizes}", f"k {self.kernel}"]
        words += [f"s {self.strides}", f"d {self.dilations}", f"pads {self.padding}"]
        words += [f"Pad {self.front} {self.around}"] if self.front else []
        words += [self.between] if self.between else []
        flags = ("ceil", "counts", "indices", "open_sizes")
        words += [flag for flag in flags if getattr(self, flag)]
        words += [] if self.declared else ["undeclared"]
        words += [f"output_padding {self.output_padding}"] if self.output_padding else []
        words += [f"output_shape {self.output_shape}"] if self.output_shape else []
        return ", ".join(words).replace(",)", ")")


def windows() -> Iterator[tuple[str, ModelProto]]:
    """Every window of one axis with every padding, and some of two and three axes."""
    geometry = list(product(range(1, 5), range(1, 4), (1, 2)))
    ways: list[str | tuple[int, ...] | None] = [None, *AUTO, *SIDES]
    seen: set[str] = set()
    for kind in KINDS:
        for (kernel, stride, dilation), padding in product(geometry, ways):
            rng = _draws(f"{kind} {kernel} {stride} {dilation} {padding}")
            case = _drawn(rng, kind, (kernel,), (stride,), (dilation,), padding)
            yield from _once(case, seen)
        for turn in range(72):
            rng = _draws(f"{kind} {turn}")
            rank = 3 if turn % 12 == 0 else 2
            kernel_, strides, dilations = zip(*rng.choices(geometry, k=rank), strict=True)
            sides = rng.choices(SIDES, k=rank)
            pads = tuple(begin for begin, _ in sides) + tuple(end for _, end in sides)
            way = rng.choice([None, *AUTO, pads, pads, pads])
            yield from _once(_drawn(rng, kind, kernel_, strides, dilations, way), seen)


def pads() -> Iterator[tuple[str, ModelProto]]:
    """Pad nodes by themselves: every mode, opset, type and way to write them."""
    for turn in range(900):
        rng = _draws(f"Pad {turn}")
        opset = rng.choice((2, 10, 11, 13, 18, 18, 21, 25))
        dtype = rng.choice(("float32", "float32", "float16", "float64", "int8", "uint8", "int64"))
        if opset < 11:
            dtype = "float32"
        shape = tuple(rng.randint(1, 6) for _ in range(rng.randint(1, 4)))
        mode = rng.choice(("constant", "constant", "reflect", "edge", "wrap"))
        value = rng.choice((None, 0.0, -0.0, 5.0, -math.inf))
        if "int" in dtype and value is not None:
            value = abs(value) if math.isfinite(value) else 7.0
        listed = tuple(sorted(rng.sample(range(len(shape)), rng.randint(1, len(shape)))))
        axes = listed if opset >= 18 and rng.random() < 0.5 else None
        count = len(shape if axes is None else axes)
        amounts = [rng.choice((0, 0, 0, 1, 1, 2, 3, -1, -2)) for _ in range(2 * count)]
        shown = [size if rng.random() < 0.7 else f"d{axis}" for axis, size in enumerate(shape)]
        words = (turn, opset, dtype, mode, value, shown, amounts, axes)
        yield "Pad " + " ".join(map(str, words)), _lone_pad(*words[1:])


def _draws(key: str) -> Random:
    return Random(key)


def _once(case: Case, seen: set[str]) -> Iterator[tuple[str, ModelProto]]:
    if case.key not in seen:
        seen.add(case.key)
        yield case.key, model_of(case)


def _drawn(
    rng: Random,
    kind: str,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    padding: str | tuple[int, ...] | None,
) -> Case:
    about, rank = KINDS[kind], len(kernel)
    opset = rng.choice(about.opsets)
    late = opset >= DILATIONS_SINCE.get(about.op, 1)
    rounds = about.op.endswith("Pool") and opset >= CEIL_SINCE.get(about.op, 1)
    case = Case(
        kind,
        sizes=tuple(rng.randint(1, 9) for _ in range(rank)),
        kernel=kernel,
        strides=strides,
        dilations=dilations if late else (1,) * rank,
        padding=padding,
        opset=opset,
        ceil=rounds and rng.random() < 0.4,
        counts=about.op.endswith("AveragePool") and rng.random() < 0.5,
        indices=about.op == "MaxPool" and opset >= 8 and rng.random() < 0.15,
        open_sizes=rng.random() < 0.25,
        declared=rng.random() < 0.8,
    )
    if about.op not in {"ConvTranspose", "Col2Im"} and rng.random() < 0.5:
        sides = rng.choices(FRONT_SIDES, k=rank)
        around = tuple(begin for begin, _ in sides) + tuple(end for _, end in sides)
        between = rng.choice(BETWEEN) if about.dtype.startswith("float") else ""
        case = replace(case, front=rng.choice(FRONTS), around=around, between=between)
    if about.op == "ConvTranspose":
        extra = tuple(rng.randint(0, stride) for stride in strides)
        shape = tuple(
            max(1, (size - 1) * stride + rng.randint(1, 5))
            for size, stride in zip(case.sizes, strides, strict=True)
        )
        case = replace(case, output_padding=rng.choice(((), (), extra)))
        case = replace(case, output_shape=rng.choice(((), (), shape)))
    return case


def model_of(case: Case) -> ModelProto:
    """The model of a case; the node that it is about is called `node`."""
    about, operands = case.about, _operands(case)
    front, held, data = _in_front(case, operands)
    outputs = ["maxima", "y"] if case.indices else ["y"]
    node = helper.make_node(
        about.op, [data, *operands], outputs, "node", domain=about.domain, **_attributes(case)
    )
    data_type = np.dtype(about.dtype)
    result = {"ConvInteger": np.dtype(np.int32)}.get(about.op, data_type)
    result = np.dtype(np.int64) if case.indices else result
    more = ["seen"] if case.between in {"two readers", "result"} else []
    shape = _input_shape(case)
    graph = helper.make_graph(
        [*front, node],
        "small",
        [_value("x", data_type, shape)],
        [_value("y", result, [f"y{axis}" for axis in range(len(shape))] if case.declared else None)]
        + [
            _value(name, data_type, [f"{name}{axis}" for axis in range(len(shape))])
            for name in more
        ],
        [numpy_helper.from_array(array, name) for name, array in (operands | held).items()],
    )
    imports = [helper.make_opsetid("", case.opset)]
    imports += [helper.make_opsetid(about.domain, 1)] if about.domain else []
    return helper.make_model(graph, ir_version=8, opset_imports=imports)


def _value(name: str, dtype: np.dtype[Any], shape: Sequence[int | str] | None) -> Any:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape)


def _input_shape(case: Case) -> list[int | str]:
    sizes: list[int | str] = [*case.sizes]
    if case.open_sizes:
        sizes = [f"d{axis}" for axis in range(len(sizes))]
    if case.about.op == "Col2Im":
        return [1, 2 * math.prod(case.kernel), "blocks"]
    return [1, *sizes, 2] if case.about.last else [1, 2, *sizes]


def _attributes(case: Case) -> dict[str, Any]:
    found: dict[str, Any] = {"strides": case.strides}
    if case.about.op != "Col2Im":
        found["kernel_shape"] = case.kernel
    if any(step > 1 for step in case.dilations):
        found["dilations"] = case.dilations
    if isinstance(case.padding, str) and case.about.op not in {"Col2Im", "DeformConv"}:
        found["auto_pad"] = case.padding
    elif isinstance(case.padding, tuple):
        found["pads"] = case.padding
    flags = {"ceil_mode": case.ceil, "count_include_pad": case.counts}
    found |= {name: 1 for name, given in flags.items() if given}
    found |= {"output_padding": case.output_padding} if case.output_padding else {}
    found |= {"output_shape": case.output_shape} if case.output_shape else {}
    if case.about.last and case.about.op.startswith("QLinear"):
        found["channels_last"] = 1
    return found | ({"p": 1 + case.kernel[0] % 3} if case.about.op == "LpPool" else {})


def _operands(case: Case) -> dict[str, Array]:
    """The inputs behind the data, in order."""
    about, dtype = case.about, np.dtype(case.about.dtype)
    zero, scale = np.asarray(7, dtype), np.asarray(0.5, np.float32)
    if about.op == "QLinearAveragePool":
        return {"x_scale": scale, "zero": zero, "y_scale": scale, "y_zero": zero}
    if about.op.endswith("Pool"):
        return {}
    if about.op == "Col2Im":
        image = [size + 3 for size in case.sizes]
        return {"image": np.asarray(image), "block": np.asarray(case.kernel)}
    shape = (2, 3, *case.kernel) if about.op == "ConvTranspose" else (3, 2, *case.kernel)
    w = (np.arange(math.prod(shape)).reshape(shape) % 9 + 1).astype(
        dtype if dtype.kind == "f" else np.int8
    )
    if about.op == "ConvInteger":
        return {"w": w.astype(np.uint8), "zero": zero}
    if about.op == "QLinearConv":
        weight = {"w": w, "w_scale": scale, "w_zero": np.asarray(0, np.int8)}
        result = {"y_scale": np.asarray(32, np.float32), "y_zero": np.asarray(3, dtype)}
        return {"x_scale": scale, "zero": zero} | weight | result
    if about.op == "DeformConv":
        taps = 2 * math.prod(case.kernel)
        return {"w": w, "offset": np.zeros((1, taps, *case.sizes), np.float32)}
    return {"w": w, "b": np.asarray([1, -2, 3], dtype)}


def _in_front(
    case: Case, operands: dict[str, Array]
) -> tuple[list[NodeProto], dict[str, Array], str]:
    """The Pad with what stands behind it, what both hold, and the tensor that the node reads."""
    if not case.front:
        return [], {}, "x"
    dtype = np.dtype(case.about.dtype)
    outer = (1, 1) if case.about.last else (2, 0)
    halves = np.asarray(case.around, np.int64).reshape(2, len(case.sizes))
    flat = np.pad(halves, ((0, 0), outer)).ravel()
    value = np.asarray(_front_value(case, dtype), dtype)
    held: dict[str, Array] = {}
    if case.opset < 11:
        written: dict[str, Any] = {"pads": flat.tolist(), "value": float(value)}
        nodes = [helper.make_node("Pad", ["x"], ["padded"], "front", **written)]
    elif case.front == "tensor" and "zero" in operands:
        held = {"around": flat}
        nodes = [helper.make_node("Pad", ["x", "around", "zero"], ["padded"], "front")]
    else:
        held = {"around": flat, "front_value": value}
        nodes = [helper.make_node("Pad", ["x", "around", "front_value"], ["padded"], "front")]
    behind, data = _behind(case)
    return [*nodes, *behind], held, data


def _behind(case: Case) -> tuple[list[NodeProto], str]:
    """What stands between the Pad and the node, or beside the node."""
    match case.between:
        case "":
            return [], "padded"
        case "result":
            return [helper.make_node("Identity", ["padded"], ["seen"], "beside")], "padded"
        case "two readers":
            return [helper.make_node("Neg", ["padded"], ["seen"], "beside")], "padded"
        case "Transpose":
            last = [*range(2, len(case.sizes) + 2)]
            there = helper.make_node("Transpose", ["padded"], ["t"], "to", perm=[0, *last, 1])
            back_order = [0, len(last) + 1, *range(1, len(last) + 1)]
            back = helper.make_node("Transpose", ["t"], ["moved"], "back", perm=back_order)
            return [there, back], "moved"
        case op:
            return [helper.make_node(op, ["padded"], ["moved"], "between")], "moved"


def _front_value(case: Case, dtype: np.dtype[Any]) -> float:
    """What the Pad writes; where the type cannot hold it, the nearest that it can."""
    is_max = case.about.op.endswith("MaxPool")
    lowest = -math.inf if dtype.kind == "f" else int(np.iinfo(dtype).min)
    quantised = case.about.op.startswith("QLinear") or case.about.op == "ConvInteger"
    fits = lowest if is_max else 7 * quantised
    named = {"zero": 0.0, "minus zero": -0.0, "lowest": lowest, "other": 3, "tensor": 5}
    return float(named.get(case.front, fits))


def _lone_pad(
    opset: int,
    dtype: str,
    mode: str,
    value: float | None,
    shown: Sequence[int | str],
    amounts: Sequence[int],
    axes: Sequence[int] | None,
) -> ModelProto:
    held: dict[str, Array] = {}
    attributes: dict[str, Any] = {} if mode == "constant" and len(amounts) > 4 else {"mode": mode}
    inputs = ["x"]
    if opset < 11:
        attributes["pads"] = amounts
        attributes |= {} if value is None else {"value": value}
    else:
        held["pads"] = np.asarray(amounts, np.int64)
        if value is not None:
            held["value"] = np.asarray(value, dtype)
        if axes is not None:
            held["axes"] = np.asarray(axes, np.int64)
        inputs = ["x", *(name if name in held else "" for name in ("pads", "value", "axes"))]
        while not inputs[-1]:
            inputs.pop()
    graph = helper.make_graph(
        [helper.make_node("Pad", inputs, ["y"], "node", **attributes)],
        "pad",
        [_value("x", np.dtype(dtype), shown)],
        [_value("y", np.dtype(dtype), [f"y{axis}" for axis in range(len(shown))])],
        [numpy_helper.from_array(array, name) for name, array in held.items()],
    )
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, ir_version=8, opset_imports=imports)


DOMAINS: dict[str, Callable[[], Iterator[tuple[str, ModelProto]]]] = {
    "windows": windows,
    "pads": pads,
    "surroundings": text_domains.surroundings,
    "computed": text_domains.computed,
    "infinity": text_domains.infinity,
}
