"""Models of one padded operator, with or without a Pad in front of it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.random import Generator
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from tests.laws.small_operators import OPERATORS, POOLS

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """All that makes one model; the node that it is about is called `node`.

    `front` is what a Pad in front writes, `around` its pads. With `open_sizes` the model names
    the spatial sizes of its input and does not tell them; `mode` is that of a Pad. With `indices`
    the result is not the maxima, but where they stand.
    """

    kind: str
    spatial: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: str
    pads: tuple[int, ...]
    front: str = "none"
    around: tuple[int, ...] = ()
    ceil: bool = False
    counts: bool = False
    output_padding: tuple[int, ...] = ()
    output_shape: tuple[int, ...] = ()
    mode: str = "constant"
    indices: bool = False
    open_sizes: bool = False
    opset: int = 22
    seed: int = 0

    @property
    def op(self) -> str:
        return OPERATORS[self.kind].op

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(OPERATORS[self.kind].dtype)

    @property
    def first_axis(self) -> int:
        return 1 if OPERATORS[self.kind].channels_last else 2

    def model(self) -> onnx.ModelProto:
        return _model(self)

    def feed(self) -> dict[str, Array]:
        rng = np.random.default_rng(self.seed)
        shape = (1, *self.spatial, 2) if self.first_axis == 1 else (1, 2, *self.spatial)
        x = _data(rng, self.dtype, shape, negative=self.op.endswith("MaxPool"))
        zero = {"zero": np.asarray(_zero(self), self.dtype)} if self._zero_is_fed else {}
        return {"x": x, **zero}

    @property
    def _zero_is_fed(self) -> bool:
        return self.op == "ConvInteger" and self.seed % 3 == 0


def _zero(case: Case) -> int:
    return 7 if case.op.startswith("QLinear") or case.op == "ConvInteger" else 0


def _data(
    rng: Generator, dtype: np.dtype[Any], shape: Sequence[int], *, negative: bool = False
) -> Array:
    """Values that are all different as long as the type has enough, in random order."""
    count = math.prod(shape)
    low, high = (1, 255) if dtype.kind == "u" else (-120, 0 if negative else 120)
    values = rng.permutation(np.linspace(low, high - 1, count)).reshape(shape)
    whole: Array = np.floor(values) if dtype.kind != "f" else np.floor(values * 16) / 16
    return whole.astype(dtype)


def _attributes(case: Case) -> dict[str, Any]:
    rank = len(case.spatial)
    if case.op == "Pad":
        return {"mode": case.mode}
    found: dict[str, Any] = {"kernel_shape": case.kernel, "strides": case.strides}
    if case.dilations != (1,) * rank:
        found["dilations"] = case.dilations
    if case.padding == "pads":
        found["pads"] = case.pads
    elif case.padding != "none":
        found["auto_pad"] = case.padding
    if case.ceil:
        found["ceil_mode"] = 1
    if case.counts:
        found["count_include_pad"] = 1
    if case.output_padding:
        found["output_padding"] = case.output_padding
    if case.output_shape:
        found["output_shape"] = case.output_shape
    return found | _particulars(case)


def _particulars(case: Case) -> dict[str, Any]:
    if case.op == "LpPool":
        return {"p": 1 + case.seed % 3}
    if case.indices:
        return {"storage_order": case.seed % 2}
    return {"channels_last": 1} if case.first_axis == 1 and case.op.startswith("QLinear") else {}


def _weights(case: Case, rng: Generator) -> Array:
    shape = (2, 3, *case.kernel) if case.op == "ConvTranspose" else (3, 2, *case.kernel)
    signed = rng.integers(1, 10, shape) * rng.choice([-1, 1], shape)
    if case.dtype == np.uint8 and case.op == "ConvInteger":
        return np.asarray(np.abs(signed), np.uint8)
    w: Array = signed.astype(np.float32 if case.dtype.kind == "f" else np.int8)
    return w


def _operands(case: Case) -> dict[str, Array]:
    """The inputs behind the data, in order."""
    rng = np.random.default_rng(case.seed + 1)
    zero, scale = np.asarray(_zero(case), case.dtype), np.asarray(0.5, np.float32)
    if case.op == "QLinearAveragePool":
        return {"x_scale": scale, "zero": zero, "y_scale": scale, "y_zero": zero}
    if case.op in POOLS:
        return {}
    if case.op == "Pad":
        value = np.asarray(5, case.dtype)
        return {"amounts": _over_all_axes(case, case.pads), "value": value}
    w = _weights(case, rng)
    if case.op == "ConvInteger":
        return {"w": w, "zero": zero, "w_zero": np.asarray(2, w.dtype)}
    if case.op == "QLinearConv":
        quantised = {"w": w, "w_scale": scale, "w_zero": np.asarray(0, w.dtype)}
        result = {"y_scale": np.asarray(32, np.float32), "y_zero": np.asarray(3, case.dtype)}
        return {"x_scale": scale, "zero": zero} | quantised | result
    return {"w": w, "b": np.asarray([1, -2, 3], np.float32)}


def _model(case: Case) -> onnx.ModelProto:
    operands = _operands(case)
    domain = OPERATORS[case.kind].domain
    name = "x" if case.front == "none" else "padded"
    node = helper.make_node(
        case.op, [name, *operands], _outputs(case), "node", domain=domain, **_attributes(case)
    )
    nodes = [node]
    if case.front != "none":
        pad, constants = _pad(case, operands)
        nodes, operands = [pad, node], operands | constants
    fed = {key: helper.np_dtype_to_tensor_dtype(value.dtype) for key, value in case.feed().items()}
    shapes: dict[str, Sequence[int | str]] = {k: v.shape for k, v in case.feed().items()}
    if case.open_sizes:
        spatial = range(case.first_axis, case.first_axis + len(case.spatial))
        shapes["x"] = [f"d{n}" if n in spatial else size for n, size in enumerate(shapes["x"])]
    sizes = [f"y{axis}" for axis in range(len(case.spatial) + 2)]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info(key, kind, shapes[key]) for key, kind in fed.items()],
        [helper.make_tensor_value_info("y", _result(case), sizes)],
        [numpy_helper.from_array(v, key) for key, v in operands.items() if key not in fed],
    )
    versions = {"": case.opset} | ({domain: 1} if domain else {})
    imports = [helper.make_opsetid(*version) for version in versions.items()]
    return helper.make_model(graph, ir_version=8, opset_imports=imports)


def _outputs(case: Case) -> list[str]:
    return ["maxima", "y"] if case.indices else ["y"]


def _result(case: Case) -> int:
    integers = np.dtype(np.int32) if case.op == "ConvInteger" else case.dtype
    return helper.np_dtype_to_tensor_dtype(np.dtype(np.int64) if case.indices else integers)


def _pad(case: Case, operands: Mapping[str, Array]) -> tuple[onnx.NodeProto, dict[str, Array]]:
    flat = _over_all_axes(case, case.around)
    value = {"zero": 0, "other": 5}.get(case.front, _fitting(case))
    if case.opset < 11:
        written = {"pads": flat.tolist(), "value": float(value)}
        return helper.make_node("Pad", ["x"], ["padded"], "front", **written), {}
    inputs = ["x", "around", "front_value"]
    constants = {"around": flat, "front_value": np.asarray(value, case.dtype)}
    if case.front == "tensor" and "zero" in operands:
        inputs[2] = "zero"
        del constants["front_value"]
    return helper.make_node("Pad", inputs, ["padded"], "front"), constants


def _over_all_axes(case: Case, pads: Sequence[int]) -> Array:
    rank, behind = len(case.spatial), 2 - case.first_axis
    halves = np.asarray(pads, np.int64).reshape(2, rank)
    return np.pad(halves, ((0, 0), (case.first_axis, behind))).ravel()


def _fitting(case: Case) -> float:
    """What the operator's own padding stands for."""
    if not case.op.endswith("MaxPool"):
        return _zero(case)
    return -math.inf if case.dtype.kind == "f" else int(np.iinfo(case.dtype).min)
