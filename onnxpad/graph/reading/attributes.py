"""Attributes of a node as Python values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from onnx import AttributeProto, NodeProto


@dataclass(frozen=True, slots=True)
class Unbound:
    """An attribute that refers to an attribute of the function, which the caller did not give."""

    name: str


Value: TypeAlias = int | float | str | tuple[int, ...] | tuple[float, ...] | Unbound
Bindings: TypeAlias = Mapping[str, AttributeProto]

_READERS: dict[int, Callable[[AttributeProto], Value]] = {
    AttributeProto.INTS: lambda attribute: tuple(attribute.ints),
    AttributeProto.INT: lambda attribute: attribute.i,
    AttributeProto.STRING: lambda attribute: attribute.s.decode("utf-8", "replace"),
    AttributeProto.FLOAT: lambda attribute: attribute.f,
    AttributeProto.FLOATS: lambda attribute: tuple(attribute.floats),
}


def read_attributes(node: NodeProto, bindings: Bindings | None = None) -> dict[str, Value]:
    """Numbers, texts and lists of numbers; tensors and graphs are left out.

    `bindings` are the attributes of the call that the function body is read for.
    """
    found: dict[str, Value] = {}
    for attribute in node.attribute:
        value = attribute_value(attribute, bindings)
        if value is not None:
            found[attribute.name] = value
    return found


def attribute_value(attribute: AttributeProto, bindings: Bindings | None) -> Value | None:
    """The value of one attribute, looked up at the call where it refers to one."""
    if attribute.ref_attr_name:
        bound = (bindings or {}).get(attribute.ref_attr_name)
        return Unbound(attribute.ref_attr_name) if bound is None else attribute_value(bound, None)
    read = _READERS.get(attribute.type)
    return None if read is None else read(attribute)
