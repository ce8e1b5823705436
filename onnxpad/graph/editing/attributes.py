"""Attributes of a NodeProto, written in place."""

from __future__ import annotations

from onnx import AttributeProto, NodeProto

from onnxpad.expansion import AttributeValue


def set_attribute(node: NodeProto, name: str, value: AttributeValue) -> None:
    """Write an attribute where it stands, or behind the others."""
    for attribute in node.attribute:
        if attribute.name == name:
            attribute.CopyFrom(_attribute(name, value))
            return
    node.attribute.append(_attribute(name, value))


def _attribute(name: str, value: AttributeValue) -> AttributeProto:
    match value:
        case tuple():
            return AttributeProto(name=name, type=AttributeProto.INTS, ints=value)
        case int():
            return AttributeProto(name=name, type=AttributeProto.INT, i=value)
        case float():
            return AttributeProto(name=name, type=AttributeProto.FLOAT, f=value)
        case str():
            return AttributeProto(name=name, type=AttributeProto.STRING, s=value.encode())


def remove_attribute(node: NodeProto, name: str) -> None:
    """Take an attribute away; nothing happens where it is not written."""
    for index, attribute in enumerate(node.attribute):
        if attribute.name == name:
            del node.attribute[index]
            return
