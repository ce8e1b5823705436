"""Shapes of weights, and the groups that follow from them."""

from __future__ import annotations

from collections.abc import Sequence

from onnxpad.errors import RequestError
from onnxpad.frameworks import values
from onnxpad.frameworks.reading import Wish
from onnxpad.frameworks.words import Layer

Channels = tuple[int | None, int | None]


def read_weight(
    weight_shape: Sequence[object] | None, rank: int, layer: Layer
) -> tuple[Channels, tuple[int, ...]] | None:
    """The first two sizes of a weight (ONNX layout) and its kernel."""
    if weight_shape is None:
        return None
    if layer.op in {"max_pool", "avg_pool"}:
        raise RequestError("a pool has no weight: leave weight_shape out")
    found = values.items(weight_shape) if values.is_list(weight_shape) else []
    if len(found) != rank + 2:
        raise RequestError(
            f"weight_shape is {weight_shape!r}, but must have {rank + 2} sizes like input_shape"
        )
    known = [None if size is None else _size(size) for size in found[:2]]
    return (known[0], known[1]), tuple(_size(size) for size in found[2:])


def _size(value: object) -> int:
    return values.whole(value, "a size of weight_shape", 1)


def groups_of(
    op: str, layer: Layer, wish: Wish, inputs: int, weight: Channels
) -> tuple[int, int | None]:
    """(groups, channels of the output), checked against the weight's shape."""
    if layer.op in {"max_pool", "avg_pool"}:
        return 1, inputs
    first, second = weight
    group = wish.groups
    if group is None and op == "depthwise_conv":
        group = inputs
    if layer.op == "conv_transpose":
        group = group or 1
        if first not in {None, inputs}:
            raise RequestError(f"the weight takes {first} channels, the input has {inputs}")
        _divides(group, inputs, "channel")
        return group, None if second is None else second * group
    if group is None:
        group = inputs // second if second is not None and inputs % second == 0 else 1
    _divides(group, inputs, "channel")
    if second is not None and second * group != inputs:
        raise RequestError(
            f"the weight takes {values.many(second, 'channel')}"
            f"{'' if group == 1 else f' for each of {group} groups'}, the input has {inputs}"
        )
    if first is not None:
        _divides(group, first, "filter")
    return group, first


def _divides(group: int, number: int, what: str) -> None:
    if number % group:
        raise RequestError(f"{values.many(number, what)} cannot be divided into {group} groups")
