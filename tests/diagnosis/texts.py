"""Small networks as text, whose padding a test chooses, and what a diagnosis of them came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnx import ModelProto, numpy_helper, parser

from onnxpad import Diagnosis, diagnose, retarget
from tests.retargeting.running import Array, outputs, relative, signed

HALF, END, BEGIN, NONE = "1, 1, 1, 1", "0, 0, 1, 1", "1, 1, 0, 0", "0, 0, 0, 0"


def network(
    body: str,
    x: str = "float[1, 2, 24, 24] x",
    constants: str = "",
    opset: int = 19,
    **weights: Any,
) -> ModelProto:
    """A network from x to y; `weights` are the shapes of those that it reads besides."""
    held = f"<{constants}>" if constants else ""
    text = f'<ir_version: 9, opset_import: ["" : {opset}]>'
    model = parser.parse_model(f"{text} g ({x}) => (float[a, b, c, d] y) {held} {{ {body} }}")
    for number, (name, shape) in enumerate(weights.items()):
        weight = signed(number + 1, *shape) / 2
        model.graph.initializer.append(numpy_helper.from_array(weight, name))
    kind = model.graph.output[0].type.tensor_type
    kind.ClearField("shape")
    return model


def deep(pads: str, size: int = 64) -> ModelProto:
    """A classifier of three convolutions, 'a', 'c' and 'e', the first two with these pads."""
    step = f"Conv <strides = [2, 2], pads = [{pads}]>"
    body = f"""a = {step} (x, w) b = LeakyRelu (a) c = {step} (b, v) d = LeakyRelu (c)
    e = Conv <pads = [1, 1, 1, 1]> (d, u) f = LeakyRelu (e) g = GlobalAveragePool (f)
    h = Flatten (g) y = MatMul (h, m)"""
    shapes: dict[str, Any] = {"w": (8, 3, 3, 3), "v": (8, 8, 3, 3), "u": (8, 8, 3, 3), "m": (8, 10)}
    return network(body, f"float[1, 3, {size}, {size}] x", **shapes)


def drawn(model: ModelProto, seed: int, size: int = 24) -> Array:
    """An input of a model; sizes that it leaves open are `size`."""
    dims = model.graph.input[0].type.tensor_type.shape.dim
    return signed(seed, *(dim.dim_value or size for dim in dims))


def against(
    wrong: ModelProto, right: ModelProto, *seeds: int, sizes: Sequence[int] = (24,), **more: Any
) -> Diagnosis:
    """The diagnosis of one model by what another one gives for drawn inputs."""
    pairs = [(seed, size) for seed in seeds or (2,) for size in sizes]
    x = [drawn(wrong, seed, size) for seed, size in pairs]
    y = [outputs(right, one)[0] for one in x]
    return diagnose(wrong, inputs={"x": x}, outputs={"y": y}, **{"budget": 60, **more})


def assert_found(
    wrong: ModelProto, right: ModelProto, *seeds: int, sizes: Sequence[int] = (24,), **more: Any
) -> Diagnosis:
    """The same, and the plan gives the reference on a sample that was not seen."""
    found = against(wrong, right, *seeds, sizes=sizes, **more)
    assert found.explained, found.reason
    mended = retarget(wrong, plan=found.plan)
    assert not mended.skips
    assert isinstance(mended.model, ModelProto)
    x = drawn(wrong, 77, sizes[0])
    assert relative(outputs(mended.model, x)[0], outputs(right, x)[0]) < 1e-4
    return found
