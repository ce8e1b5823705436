"""Texts of a file that are none: protobuf hands out a name that is no UTF-8 as bytes."""

from google.protobuf.descriptor import (  # type: ignore[import-untyped, unused-ignore]
    FieldDescriptor,
)
from google.protobuf.message import Message  # type: ignore[import-untyped, unused-ignore]


def no_text(message: Message) -> bytes | None:
    """The first name, operator or doc string of a message, at any depth, that is no UTF-8."""
    for field, value in message.ListFields():
        if field.type not in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_MESSAGE):
            continue
        for item in [value] if isinstance(value, str | bytes | Message) else value:
            if isinstance(item, bytes):
                return item
            if isinstance(item, Message) and (found := no_text(item)) is not None:
                return found
    return None
