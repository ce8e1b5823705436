"""What the random models are drawn from: one row per operator and type."""

from functools import cache
from typing import NamedTuple

import numpy as np
import onnx

from tests.models.text import text_model
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
    ranks: tuple[int, ...] = (1, 2, 2, 3)
    dilated: int = 1
    rounds: int = 0
    auto_pad: bool = True

    @property
    def is_pool(self) -> bool:
        return self.family in ("max", "average", "lp")


def _max(dtype: str, since: int) -> Kind:
    return Kind("MaxPool", "max", dtype, since, dilated=10, rounds=10)


KINDS = {
    "Conv": Kind("Conv", "conv"),
    "Conv QDQ": Kind("Conv", "conv", since=13),
    "ConvTranspose": Kind("ConvTranspose", "transposed"),
    "ConvInteger": Kind("ConvInteger", "integer", "uint8", 10),
    "ConvInteger int8": Kind("ConvInteger", "integer", "int8", 10),
    "QLinearConv": Kind("QLinearConv", "qlinear", "uint8", 10),
    "QLinearConv int8": Kind("QLinearConv", "qlinear", "int8", 10),
    "MaxPool": _max("float32", 7),
    "MaxPool double": _max("float64", 8),
    "MaxPool int8": _max("int8", 12),
    "MaxPool uint8": _max("uint8", 12),
    "MaxPool QDQ": _max("float32", 13),
    "AveragePool": Kind("AveragePool", "average", dilated=19, rounds=10),
    "AveragePool double": Kind("AveragePool", "average", "float64", 19, dilated=19, rounds=10),
    "QLinearAveragePool": Kind(
        "QLinearAveragePool", "average", "uint8", 10, MICROSOFT, dilated=0, rounds=1
    ),
    "LpPool": Kind("LpPool", "lp", dilated=18, rounds=18),
    "DeformConv": Kind("DeformConv", "deform", since=19, ranks=(2,), auto_pad=False),
    "Pad": Kind("", "pad"),
    "Pad int32": Kind("", "pad", "int32", 11),
    "Pad of com.microsoft": Kind("", "pad", domain=MICROSOFT),
}


@cache
def newest_opset() -> int:
    """The newest opset that the installed onnx knows and the installed onnxruntime runs."""
    for opset in range(onnx.defs.onnx_opset_version(), 21, -1):
        model = text_model("y = Identity (x)", "float[1] x", opset=opset)
        if not isinstance(ran(model, {"x": np.ones(1, np.float32)}, optimised=False), str):
            return opset
    return 21
