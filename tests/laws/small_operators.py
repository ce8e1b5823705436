"""Operators that models of the laws are made of."""

from typing import NamedTuple

POOLS = ("MaxPool", "AveragePool", "LpPool", "NhwcMaxPool", "QLinearAveragePool")
MICROSOFT = "com.microsoft"


class Kind(NamedTuple):
    """An operator with the type of its data and the opsets that it is drawn in."""

    op: str
    dtype: str
    opsets: tuple[int, ...]
    domain: str = ""
    channels_last: bool = False


OPERATORS = {
    "Conv": Kind("Conv", "float32", (7, 10, 11, 13, 18, 22)),
    "FusedConv": Kind("FusedConv", "float32", (11, 17), MICROSOFT),
    "ConvInteger": Kind("ConvInteger", "uint8", (10, 11, 18)),
    "ConvInteger signed": Kind("ConvInteger", "int8", (11, 13)),
    "QLinearConv": Kind("QLinearConv", "uint8", (10, 11, 18)),
    "QLinearConv signed": Kind("QLinearConv", "int8", (13, 22)),
    "QLinearConv channels last": Kind("QLinearConv", "uint8", (11, 17), MICROSOFT, True),
    "ConvTranspose": Kind("ConvTranspose", "float32", (10, 11, 22)),
    "MaxPool": Kind("MaxPool", "float32", (10, 11, 12, 18, 22)),
    "MaxPool double": Kind("MaxPool", "float64", (12, 22)),
    "MaxPool int8": Kind("MaxPool", "int8", (12, 22)),
    "MaxPool uint8": Kind("MaxPool", "uint8", (12, 22)),
    "NhwcMaxPool": Kind("NhwcMaxPool", "int8", (12, 17), MICROSOFT, True),
    "AveragePool": Kind("AveragePool", "float32", (10, 11, 19, 22)),
    "AveragePool double": Kind("AveragePool", "float64", (19, 22)),
    "QLinearAveragePool": Kind("QLinearAveragePool", "uint8", (11, 17), MICROSOFT),
    "QLinearAveragePool channels last": Kind(
        "QLinearAveragePool", "uint8", (11, 17), MICROSOFT, True
    ),
    "LpPool": Kind("LpPool", "float32", (11, 18, 22)),
    "LpPool double": Kind("LpPool", "float64", (18, 22)),
    "Pad": Kind("Pad", "float32", (11, 13, 18, 22)),
}
