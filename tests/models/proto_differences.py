"""Where two protobuf messages differ, as a list of paths."""

from collections.abc import Iterator, Sequence
from typing import Any

import onnx
from google.protobuf.descriptor import FieldDescriptor  # type: ignore[import-untyped, unused-ignore]
from google.protobuf.message import Message  # type: ignore[import-untyped, unused-ignore]
from google.protobuf.unknown_fields import UnknownFieldSet  # type: ignore[import-untyped, unused-ignore]


def differences(before: Message, after: Message) -> list[str]:
    """Paths of every field that differs, fields that this onnx does not know included.

    Nodes, tensors and other named things are matched by name (a node without one by its first
    output), so that one more node is one difference; `order` says that those of both stand in
    another order.
    """
    return list(_messages(before, after, ""))


def _messages(before: Message, after: Message, path: str) -> Iterator[str]:
    if type(before) is not type(after):
        yield f"{path}: {type(after).__name__} instead of {type(before).__name__}"
        return
    for field in before.DESCRIPTOR.fields:
        here = f"{path}.{field.name}" if path else field.name
        yield from _fields(field, before, after, here)
    if _unknown(before) != _unknown(after):
        yield f"{path or type(before).__name__}: unknown fields"


def _fields(field: FieldDescriptor, before: Message, after: Message, path: str) -> Iterator[str]:
    first, second = getattr(before, field.name), getattr(after, field.name)
    if field.is_repeated:
        if field.message_type is None:
            if list(first) != list(second):
                yield f"{path}: {list(second)} instead of {list(first)}"
        else:
            yield from _lists(first, second, path)
        return
    there = before.HasField(field.name), after.HasField(field.name)
    if there[0] != there[1]:
        yield f"{path}: {'removed' if there[0] else 'added'}"
    elif there[0] and field.message_type is not None:
        yield from _messages(first, second, path)
    elif first != second:
        yield f"{path}: {second!r} instead of {first!r}"


def _lists(before: Sequence[Message], after: Sequence[Message], path: str) -> Iterator[str]:
    ours, theirs = _by_key(before), _by_key(after)
    for key, message in ours.items():
        if key in theirs:
            yield from _messages(message, theirs[key], f"{path}[{key}]")
        else:
            yield f"{path}[{key}]: removed"
    yield from (f"{path}[{key}]: added" for key in theirs if key not in ours)
    if [key for key in ours if key in theirs] != [key for key in theirs if key in ours]:
        yield f"{path}: order"


def _by_key(messages: Sequence[Message]) -> dict[str, Message]:
    found: dict[str, Message] = {}
    for index, message in enumerate(messages):
        key = _key(message)
        found[key if key and key not in found else str(index)] = message
    return found


def _key(message: Message) -> str:
    if isinstance(message, onnx.NodeProto):
        return message.name or next(iter(message.output), "")
    for name in ("name", "key", "tensor_name", "domain"):
        if name in message.DESCRIPTOR.fields_by_name:
            return str(getattr(message, name))
    return ""


def _unknown(message: Message) -> list[tuple[int, int, Any]]:
    found = []
    for field in UnknownFieldSet(message):
        data = field.data
        nested = [] if isinstance(data, int | bytes) else [(n.field_number, n.data) for n in data]
        found.append((field.field_number, field.wire_type, nested or data))
    return found
