"""Kernel, stride, dilation, groups and padding, put into the words of a framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnxpad.errors import RequestError
from onnxpad.frameworks import values
from onnxpad.frameworks.words import Layer, Role, Special, Word
from onnxpad.resolving import Resolution, resolve
from onnxpad.resolving.finding import find_convention, find_layer, find_op


def resolve_general(
    framework: str,
    op: str,
    *,
    input_shape: Sequence[int],
    weight_shape: Sequence[int | None] | None,
    general: Mapping[Role, object],
    attributes: Mapping[str, object],
) -> Resolution:
    """Like `resolve`, with some attributes given by what they mean.

    `general` holds values by role; `attributes`, in the framework's own names, win over them.
    A kernel without a word of its own becomes the weight's. RequestError where the framework
    has no such attribute.
    """
    convention = find_convention(framework)
    layer = find_layer(convention, find_op(op)[0])
    rank = len(input_shape) - 2
    own: dict[str, object] = {}
    for role, value in general.items():
        words = _words(layer, role, value)
        if role is Role.KERNEL and not words:
            weight_shape = weight_shape or (None, None, *_kernel(value, rank))
            continue
        if not words:
            raise RequestError(f"{convention.name} {layer.op} has no {role}{_there(layer)}")
        if not _also_given(layer, words, attributes):
            own |= _split(words, value, rank)
    return resolve(
        framework,
        op,
        input_shape=input_shape,
        weight_shape=weight_shape,
        **(own | dict(attributes)),
    )


def _kernel(value: object, rank: int) -> tuple[int, ...]:
    parts = values.items(value) if values.is_list(value) else [value] * rank
    return tuple(values.whole(part, "the kernel", 1) for part in parts)


def _words(layer: Layer, role: Role, value: object) -> list[Word]:
    """The words that take such a value: one for all axes, else those for single axes."""
    named = isinstance(value, str)
    found = [word for word in layer.words if word.role is role]
    if role is Role.PADDING:
        fitting = [word for word in found if bool(word.modes if named else word.layouts)]
        found = fitting or found
    plain = [word for word in found if word.axis is None]
    return plain[:1] or found


def refuse_doubles(
    framework: str, op: str, general: Mapping[Role, object], attributes: Mapping[str, object]
) -> None:
    """RequestError where `attributes` say again what `general` says."""
    convention = find_convention(framework)
    layer = find_layer(convention, find_op(op)[0])
    for role, value in general.items():
        words = _words(layer, role, value)
        if words and (twice := _also_given(layer, words, attributes)):
            raise RequestError(
                f"{convention.name} {layer.op}: the {role} is given twice, as --{role} {value} and "
                f"as {twice}={attributes[twice]}: give one"
            )


def _also_given(layer: Layer, words: Sequence[Word], attributes: Mapping[str, object]) -> str:
    """An attribute that says what `words` say, or one axis of it; '' for none."""
    role = words[0].role
    same = [*words, *(word for word in layer.words if word.role is role and word.axis is not None)]
    return next((name for word in same for name in word.names if name in attributes), "")


def _split(words: Sequence[Word], value: object, rank: int) -> dict[str, object]:
    if words[0].axis is None:
        return {words[0].name: value}
    parts = values.items(value) if values.is_list(value) else [value] * rank
    return {word.name: part for word, part in zip(words, parts, strict=False)}


def _there(layer: Layer) -> str:
    named = [word.name for word in layer.words if word.default is not Special.REQUIRED]
    return f"; it has {', '.join(named)}"
