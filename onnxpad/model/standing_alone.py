"""An excerpt as a model of its own: inputs with types, and every weight with values."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

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
    part: Excerpt, name: str, draw: Draw, *, grown: int = 0
) -> tuple[ModelProto, dict[str, Array]]:
    """The model and an input for it; weights that the excerpt left out are drawn.

    `name` is what the node in its middle is called; open sizes are `grown` steps above the
    smallest that is fed, a step being what they are divided by. Raises RequestError where the type
    of an input is not known.
    """
    model = ModelProto()
    model.CopyFrom(part.model)
    model.graph.name = "reproducer"
    if name:
        model.graph.node[part.focus].name = name
    held = {tensor.name for tensor in model.graph.initializer}
    feeds: dict[str, Array] = {}
    for value in model.graph.input:
        found = part.types.get(value.name, Type())
        dims = _named(found, value.name)
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


def _named(found: Type, name: str) -> list[int | str]:
    if not found.dtype or found.dims is None or None in found.dims:
        raise RequestError(
            f"the sizes of '{name}', which the node reads, are not known: say them with --dim"
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
