"""Attributes of a node as Python values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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


def read_attributes(node: NodeProto, bindings: Bindings | None) -> dict[str, Value]:
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


def bindings_of(
    call: NodeProto, bindings: Bindings | None, defaults: Iterable[AttributeProto]
) -> dict[str, AttributeProto]:
    """The attributes that a call gives to its function, which has `defaults` for the others.

    `bindings` are those of the function around the call. What that was not given stays a
    reference: onnxruntime 1.31.1 takes the default for it, onnx 1.23.2 leaves it out.
    """
    known = bindings or {}
    found = {one.name: known.get(one.ref_attr_name, one) for one in call.attribute}
    for default in defaults:
        found.setdefault(default.name, default)
    return found


def resolved(node: NodeProto, bindings: Bindings | None) -> NodeProto | None:
    """The node as the call means it: with the call's values where attributes are references.

    None where the call does not give one of them, or one of another type. A node without
    references is given back itself.
    """
    if not any(attribute.ref_attr_name for attribute in node.attribute):
        return node
    found = NodeProto()
    found.CopyFrom(node)
    for attribute in found.attribute:
        if not attribute.ref_attr_name:
            continue
        bound = (bindings or {}).get(attribute.ref_attr_name)
        if bound is None or bound.ref_attr_name or attribute.type not in (0, bound.type):
            return None
        name = attribute.name
        attribute.CopyFrom(bound)
        attribute.name = name
    return found
