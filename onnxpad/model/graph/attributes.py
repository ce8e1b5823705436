"""Attributes of a node as Python values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from onnx import AttributeProto, NodeProto

Value: TypeAlias = int | float | str | tuple[int, ...] | tuple[float, ...]

_READERS: dict[int, Callable[[AttributeProto], Value]] = {
    AttributeProto.INTS: lambda attribute: tuple(attribute.ints),
    AttributeProto.INT: lambda attribute: attribute.i,
    AttributeProto.STRING: lambda attribute: attribute.s.decode("utf-8", "replace"),
    AttributeProto.FLOAT: lambda attribute: attribute.f,
    AttributeProto.FLOATS: lambda attribute: tuple(attribute.floats),
}


def integers(attributes: Mapping[str, Value], name: str) -> tuple[int, ...]:
    """A list of numbers as integers, () where there is none."""
    value = attributes.get(name)
    return tuple(map(int, value)) if isinstance(value, tuple) else ()


def read_attributes(node: NodeProto) -> dict[str, Value]:
    """Numbers, texts and lists of numbers.

    Tensors and graphs are left out, and in functions what refers to an attribute of the call.
    """
    return {
        attribute.name: _READERS[attribute.type](attribute)
        for attribute in node.attribute
        if attribute.type in _READERS and not attribute.ref_attr_name
    }
