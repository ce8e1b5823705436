"""Frameworks and operators by the names that people give them."""

from __future__ import annotations

import re

from onnxpad.errors import RequestError
from onnxpad.frameworks import values
from onnxpad.frameworks.conventions import Convention, all_conventions
from onnxpad.frameworks.words import Layer

OPS = ("conv", "depthwise_conv", "grouped_conv", "max_pool", "avg_pool", "conv_transpose")
_OP_ALIASES = {
    "convolution": "conv",
    "depthwise": "depthwise_conv",
    "depthwise_convolution": "depthwise_conv",
    "grouped": "grouped_conv",
    "group_conv": "grouped_conv",
    "maxpool": "max_pool",
    "max_pooling": "max_pool",
    "maxpooling": "max_pool",
    "avgpool": "avg_pool",
    "average_pool": "avg_pool",
    "averagepool": "avg_pool",
    "average_pooling": "avg_pool",
    "averagepooling": "avg_pool",
    "avg_pooling": "avg_pool",
    "convtranspose": "conv_transpose",
    "transposed_conv": "conv_transpose",
    "transpose_conv": "conv_transpose",
    "deconv": "conv_transpose",
    "deconvolution": "conv_transpose",
}


def find_convention(framework: str) -> Convention:
    """A framework by its name or alias; capitals, '_' and ' ' do not matter."""
    there = all_conventions()
    names = dict(there)
    for item in there.values():
        names |= dict.fromkeys(item.aliases, item)
    key = re.sub(r"[\s_]+", "-", str(framework).strip().casefold())
    if key in names:
        return names[key]
    raise RequestError(f"no framework is called {framework!r}{values.hint(key, there)}")


def find_op(op: str) -> tuple[str, int | None]:
    """(operator, rank) of a name such as conv, Conv2D, MaxPool2d; no rank without a digit."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(op).strip()).casefold()
    key = re.sub(r"[\s_-]+", "_", word)
    digit = re.search(r"([123])_?d", key)
    key = re.sub(r"_?[123]_?d", "", key)
    found = _OP_ALIASES.get(key, key)
    if found not in OPS:
        raise RequestError(f"no operator is called {op!r}{values.hint(key, dict.fromkeys(OPS))}")
    return found, int(digit[1]) if digit else None


def find_layer(convention: Convention, op: str) -> Layer:
    """The framework's layer for an operator; grouped and depthwise ones may be its conv."""
    for layer in convention.layers:
        if layer.op == op:
            return layer
    for layer in convention.layers:
        if layer.op == "conv" and op in {"depthwise_conv", "grouped_conv"}:
            return layer
    known = ", ".join(layer.op for layer in convention.layers)
    raise RequestError(f"{convention.name}: nothing is known of its {op}, only of {known}")
