"""What the random models are drawn from: one row per operator and type."""

from functools import cache
from typing import NamedTuple

import numpy as np
import onnx

from tests.oracle.onnxruntime_levels import ran

MICROSOFT = "com.microsoft"


class Kind(NamedTuple):
    """An operator; `family` says how its operands are made and how it is judged.

    `dilated` and `rounds` are the opsets that brought dilations and ceil_mode (0: never).
    """

    op: str
    family: str
    dtype: str = "float32"
    since: int = 7
    domain: str = ""
    channels_last: bool = False
    ranks: tuple[int, ...] = (1, 2, 2, 3)
    dilated: int = 1
    rounds: int = 0
    auto_pad: bool = True

    @property
    def is_pool(self) -> bool:
        return self.family in ("max", "average", "lp")

    @property
    def is_left_alone(self) -> bool:
        """Whether no pass changes it."""
        return self.channels_last or self.op in ("FusedConv", "ConvTransposeWithDynamicPads")

    @property
    def first_axis(self) -> int:
        return 1 if self.channels_last else 2


def _max(dtype: str, since: int) -> Kind:
    return Kind("MaxPool", "max", dtype, since, dilated=10, rounds=10)


def _nhwc(dtype: str) -> Kind:
    return Kind("NhwcMaxPool", "max", dtype, 10, MICROSOFT, channels_last=True, rounds=1)


def _quantised_average(*, channels_last: bool) -> Kind:
    op = "QLinearAveragePool"
    return Kind(op, "average", "uint8", 10, MICROSOFT, channels_last, dilated=0, rounds=1)


KINDS = {
    "Conv": Kind("Conv", "conv"),
    "Conv QDQ": Kind("Conv", "conv", since=13),
    "FusedConv": Kind("FusedConv", "conv", domain=MICROSOFT),
    "ConvTranspose": Kind("ConvTranspose", "transposed"),
    "ConvTransposeWithDynamicPads": Kind(
        "ConvTransposeWithDynamicPads", "transposed", domain=MICROSOFT, auto_pad=False
    ),
    "ConvInteger": Kind("ConvInteger", "integer", "uint8", 10),
    "ConvInteger int8": Kind("ConvInteger", "integer", "int8", 10),
    "QLinearConv": Kind("QLinearConv", "qlinear", "uint8", 10),
    "QLinearConv int8": Kind("QLinearConv", "qlinear", "int8", 10),
    "QLinearConv channels last": Kind(
        "QLinearConv", "qlinear", "uint8", 10, MICROSOFT, channels_last=True
    ),
    "MaxPool": _max("float32", 7),
    "MaxPool double": _max("float64", 8),
    "MaxPool int8": _max("int8", 12),
    "MaxPool uint8": _max("uint8", 12),
    "MaxPool QDQ": _max("float32", 13),
    "NhwcMaxPool": _nhwc("int8"),
    "NhwcMaxPool uint8": _nhwc("uint8"),
    "AveragePool": Kind("AveragePool", "average", dilated=19, rounds=10),
    "AveragePool double": Kind("AveragePool", "average", "float64", 19, dilated=19, rounds=10),
    "QLinearAveragePool": _quantised_average(channels_last=False),
    "QLinearAveragePool channels last": _quantised_average(channels_last=True),
    "LpPool": Kind("LpPool", "lp", dilated=18, rounds=18),
    "DeformConv": Kind("DeformConv", "deform", since=19, ranks=(2,), auto_pad=False),
    "Col2Im": Kind("Col2Im", "col2im", since=18, ranks=(1, 2, 2), auto_pad=False),
    "Pad": Kind("", "pad"),
    "Pad int32": Kind("", "pad", "int32", 11),
    "Pad of com.microsoft": Kind("", "pad", domain=MICROSOFT),
}


@cache
def newest_opset() -> int:
    """The newest opset that the installed onnx knows and the installed onnxruntime runs."""
    for opset in range(onnx.defs.onnx_opset_version(), 21, -1):
        values = [
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xy"
        ]
        node = onnx.helper.make_node("Identity", ["x"], ["y"])
        model = onnx.helper.make_model(
            onnx.helper.make_graph([node], "probe", values[:1], values[1:]),
            ir_version=8,
            opset_imports=[onnx.helper.make_opsetid("", opset)],
        )
        if not isinstance(ran(model, {"x": np.ones(1, np.float32)}, optimised=False), str):
            return opset
    return 21
