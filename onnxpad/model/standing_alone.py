"""An excerpt as a model of its own: inputs with types, and every weight with values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from onnxpad.errors import RequestError
from onnxpad.geometry.size import Symbol, lower_bound
from onnxpad.model.excerpt import Excerpt
from onnxpad.model.graph.types import Type, dtype_code

Array = NDArray[Any]
Draw = Callable[[tuple[int, ...], str], Array]
_LEAST = 8
"""A size that is not known is at least so large, so that windows fit."""


MOST_CELLS = 1 << 22
"""Cells of an input or a weight that are drawn at most."""


def standing_alone(
    part: Excerpt, draw: Draw, *, grown: int = 0
) -> tuple[ModelProto, dict[str, Array]]:
    """The model and an input for it; weights that the excerpt left out are drawn.

    Open sizes are `grown` steps above the smallest that is fed, a step being what they are divided
    by. Raises RequestError where the type of an input is not known.
    """
    model = ModelProto()
    model.CopyFrom(part.model)
    model.graph.name = "reproducer"
    held = {tensor.name for tensor in model.graph.initializer}
    feeds: dict[str, Array] = {}
    for value in model.graph.input:
        found = part.types.get(value.name, Type())
        dims = _named(found)
        code = dtype_code(found.dtype)
        value.CopyFrom(helper.make_tensor_value_info(value.name, code, dims))
        if value.name not in held:
            feeds[value.name] = _fed(found, value.name, draw, grown)
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            shape = _checked(tuple(tensor.dims), tensor.name)
            kind = helper.tensor_dtype_to_np_dtype(tensor.data_type)
            tensor.CopyFrom(numpy_helper.from_array(draw(shape, str(kind)), tensor.name))
    return model, feeds


def left_out(part: Excerpt) -> list[str]:
    """The constants that the excerpt has no values of, as types."""
    return [
        f"{helper.tensor_dtype_to_np_dtype(tensor.data_type)} {list(tensor.dims)}"
        for tensor in part.model.graph.initializer
        if tensor.data_location == TensorProto.EXTERNAL
    ]


def _named(found: Type) -> list[int | str]:
    if not found.dtype or found.dims is None or None in found.dims:
        raise RequestError(
            "the sizes of what the node reads are not known; where the model's inputs leave sizes "
            "open, --dim gives them"
        )
    return [size.name if isinstance(size, Symbol) else int(size or 0) for size in found.dims]


def _checked(shape: tuple[int, ...], name: str) -> tuple[int, ...]:
    if min(shape, default=0) < 0 or prod(shape) > MOST_CELLS:
        raise RequestError(
            f"'{name}' has {list(shape)} cells, and a reproducer at most {MOST_CELLS}: say smaller "
            "sizes with --dim, or choose a smaller node"
        )
    return shape


def _fed(found: Type, name: str, draw: Draw, grown: int) -> Array:
    """Numbers for an input; zeros for integers that may be pads or axes."""
    shape = _checked(tuple(_size(size, grown) for size in found.dims or ()), name)
    if found.dtype in ("int64", "int32", "bool"):
        return np.zeros(shape, np.dtype(found.dtype))
    return draw(shape, found.dtype)


def _size(size: object, grown: int) -> int:
    if not isinstance(size, Symbol):
        return int(size)  # type: ignore[call-overload, no-any-return]
    least = lower_bound(size)
    return least + (-(-max(0, _LEAST - least) // size.modulus) + grown) * size.modulus


_READS = dict.fromkeys(("QLinearConv", "QLinearAveragePool", "DequantizeLinear"), 1)
_MAKES = {"QuantizeLinear": 1, "QLinearConv": 6, "QLinearAveragePool": 3}
"""Where the scale of the bytes that an operator reads or makes stands; the zero point is next."""


def in_floats(
    model: ModelProto, feeds: list[dict[str, Array]]
) -> tuple[ModelProto, list[dict[str, Array]], dict[str, str]]:
    """The same function of floats: bytes that have a scale are converted in the model.

    Runtimes take and give bytes otherwise than those between a QuantizeLinear and a
    DequantizeLinear, which is where quantised operators stand in models. Gives the outputs' new
    names by their old ones as well.
    """
    copy = ModelProto()
    copy.CopyFrom(model)
    held = {tensor.name: tensor for tensor in copy.graph.initializer}
    fed, renamed = [dict(values) for values in feeds], dict[str, str]()
    nodes = list(copy.graph.node)
    for value in copy.graph.input:
        name, real = value.name, f"{value.name}/real"
        reader = next((node for node in nodes if name in node.input[:1]), None)
        scaled = None if reader is None else _scaled(reader, _READS, held)
        if scaled is None or name not in fed[0] or fed[0][name].dtype != scaled.zero.dtype:
            continue
        node = helper.make_node("QuantizeLinear", [real, *scaled.names], [name], name=f"{real}/q")
        copy.graph.node.insert(0, node)
        value.name, value.type.tensor_type.elem_type = real, TensorProto.FLOAT
        for values in fed:
            whole = values.pop(name).astype(np.float32)
            values[real] = (whole - scaled.zero.astype(np.float32)) * scaled.step
    for value in copy.graph.output:
        name, real = value.name, f"{value.name}/real"
        maker = next((node for node in nodes if name in node.output), None)
        scaled = None if maker is None else _scaled(maker, _MAKES, held)
        if scaled is not None:
            node = helper.make_node("DequantizeLinear", [name, *scaled.names], [real], name=real)
            copy.graph.node.append(node)
            value.CopyFrom(helper.make_empty_tensor_value_info(real))
            renamed[name] = real
    return copy, fed, renamed


class _Scaled(NamedTuple):
    names: tuple[str, ...]
    step: np.float32
    zero: Array


def _scaled(
    node: NodeProto, places: Mapping[str, int], held: Mapping[str, TensorProto]
) -> _Scaled | None:
    """The one scale and zero point of a node's bytes; None where they are not known numbers."""
    place = places.get(node.op_type)
    if place is None:
        return None
    scale, zero = (*node.input[place : place + 2], "", "")[:2]
    if scale not in held or (zero and zero not in held):
        return None
    step = numpy_helper.to_array(held[scale])
    middle = numpy_helper.to_array(held[zero]) if zero else np.zeros((), np.uint8)
    if step.size != 1 or step.dtype != np.float32 or middle.dtype.itemsize != 1:
        return None
    names = (scale, zero) if zero else (scale,)
    return _Scaled(names, np.float32(step.reshape(())), middle.reshape(()))
