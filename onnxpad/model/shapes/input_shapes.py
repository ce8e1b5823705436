"""Shapes that users give inputs, as facts about the dimensions that the file leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import ModelProto

from onnxpad.errors import RequestError, nearest
from onnxpad.geometry.size_fact import SizeFact, Told

InputSizes = Mapping[str, Sequence[int | str] | None]
"""Sizes by input: a number, or the name of a dimension; None of an input without a shape."""


def input_sizes(model: ModelProto) -> dict[str, list[int | str] | None]:
    """Sizes of each input that has no initializer; None without a shape; 'x[2]' if unnamed."""
    initializers = {tensor.name for tensor in model.graph.initializer}
    sizes: dict[str, list[int | str] | None] = {}
    for value in model.graph.input:
        if value.name in initializers:
            continue
        tensor = value.type.tensor_type
        sizes[value.name] = None
        if tensor.HasField("shape"):
            sizes[value.name] = [
                dim.dim_value
                if dim.HasField("dim_value") and dim.dim_value >= 0
                else dim.dim_param or f"{value.name}[{axis}]"
                for axis, dim in enumerate(tensor.shape.dim)
            ]
    return sizes


def facts_of_shapes(
    inputs: InputSizes, shapes: Mapping[str, Sequence[int]], dims: Mapping[str, Told] | None
) -> dict[str, Told]:
    """The facts in `dims`, with those that follow from shapes of inputs.

    Raises RequestError for an input that the model does not have, for another rank or fixed size,
    and where two shapes, or a shape and a fact, contradict each other.
    """
    found = dict(dims or {})
    for name, shape in shapes.items():
        if name not in inputs:
            near = nearest(name, inputs)
            known = ", ".join(f"'{one}'" for one in inputs) or "none"
            hint = f"did you mean '{near[0]}'?" if near else f"its inputs are {known}"
            raise RequestError(f"the model has no input '{name}': {hint}")
        stated = inputs[name]
        pairs = list(zip(stated or (), shape, strict=False))
        is_other = stated is None or len(stated) != len(shape)
        if is_other or any(isinstance(own, int) and own != size for own, size in pairs):
            says = "gives it none" if stated is None else f"says {' x '.join(map(str, stated))}"
            asked = " x ".join(map(str, shape))
            raise RequestError(f"the shape given for '{name}' is {asked}, and the file {says}")
        for own, size in pairs:
            if isinstance(own, str):
                other = SizeFact.read(own, found.get(own, size))
                if other.and_also(SizeFact.read(own, size)) is None:
                    raise RequestError(
                        f"the shape given for '{name}' has {size} for '{own}', where "
                        f"{other.of(own)} is given as well"
                    )
                found[own] = size
    return found
