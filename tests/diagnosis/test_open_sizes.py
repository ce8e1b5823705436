"""Networks with open sizes and a reference of one size: the plan is right at others too."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from onnx import ModelProto

from onnxpad import diagnose, retarget
from tests.diagnosis.texts import network
from tests.retargeting.running import outputs, relative, signed

Ways = Mapping[str, str]
SAME: Ways = {"conv": "SAME_UPPER", "max": "SAME_UPPER", "average": "SAME_UPPER"}
SYMMETRIC: Ways = {"conv": "half", "max": "half", "average": "half"}
KERAS: Ways = {**SAME, "stem": "front", "pool": "front"}
BAKED: Ways = {"conv": "even", "max": "even", "average": "even"}
OPERATORS = {"conv": "Conv", "max": "MaxPool", "average": "AveragePool"}


def model(ways: Ways) -> ModelProto:
    """A stem, a pool, two blocks of three branches, and a last convolution, padded as `ways` say.

    A way is that of a name, or else of a kind of layer.
    """
    nodes, held, weights = list[str](), list[str](), dict[str, tuple[int, ...]]()

    def layer(x: str, name: str, kind: str, kernel: int, stride: int, reads: int = 4) -> str:
        way, half = ways.get(name, ways[kind]), kernel // 2
        total = max(kernel - stride, 0)
        even = [total // 2] * 2 + [total - total // 2] * 2
        pads = {"half": [half] * 4, "even": even}.get(way, [0] * 4)
        padding = f'auto_pad = "{way}"' if "SAME" in way else f"pads = {pads}"
        if way == "front":
            held.append(f"int64[8] {name}_p = {{0, 0, {half}, {half}, 0, 0, {half}, {half}}}")
            nodes.append(f"{name}_front = Pad ({x}, {name}_p)")
            x = f"{name}_front"
        given = f"{padding}, kernel_shape = {[kernel] * 2}, strides = {[stride] * 2}"
        if kind == "conv":
            weights[f"{name}_w"] = (4, reads, kernel, kernel)
            x = f"{x}, {name}_w"
        nodes.append(f"[{name}] {name}_y = {OPERATORS[kind]} <{given}> ({x})")
        if kind == "conv":
            nodes.append(f"{name}_out = Relu ({name}_y)")
        return f"{name}_out" if kind == "conv" else f"{name}_y"

    x = layer("x", "stem", "conv", 7, 2, reads=3)
    x = layer(x, "pool", "max", 3, 2)
    for block, kind in enumerate(("max", "average")):
        reads = 12 if block else 4
        branches = [
            layer(x, f"b{block}_3", "conv", 3, 2, reads),
            layer(x, f"b{block}_5", "conv", 5, 2, reads),
            layer(x, f"b{block}_pool", kind, 3, 2),
        ]
        nodes.append(f"b{block} = Concat <axis = 1> ({', '.join(branches)})")
        x = f"b{block}"
    nodes.append(f"y = Identity ({layer(x, 'last', 'conv', 3, 1, 20)})")
    body, constants = "\n".join(nodes), ", ".join(held)
    return network(body, "float[1, 3, h, w] x", constants, 17, **weights)


CASES = {
    "TensorFlow, exported symmetric": (SAME, SYMMETRIC, [(72, 72)], [(61, 90), (65, 66)]),
    "at an odd size": (SAME, SYMMETRIC, [(71, 73)], [(64, 64), (90, 61)]),
    "two samples": (SAME, SYMMETRIC, [(72, 72), (73, 75)], [(61, 90), (66, 80)]),
    "PyTorch, exported as SAME": (SYMMETRIC, SAME, [(72, 72)], [(61, 90), (65, 66)]),
    "numbers of even sizes": (SAME, BAKED, [(71, 75)], [(64, 64), (61, 90)]),
    "Keras with its symmetric stem": (KERAS, SYMMETRIC, [(64, 64)], [(64, 96), (128, 64)]),
}


@pytest.mark.part(2)
@pytest.mark.parametrize(("right", "wrong", "given", "others"), CASES.values(), ids=CASES)
def test_a_convention_is_followed_where_the_samples_do_not_tell(
    right: Ways, wrong: Ways, given: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    models = model(right), model(wrong)
    x = [signed(sum(size), 1, 3, *size) for size in given]
    y = [outputs(models[0], one)[0] for one in x]
    found = diagnose(models[1], inputs={"x": x}, outputs={"y": y})
    assert found.explained, found.reason
    mended = retarget(models[1], plan=found.plan).model
    assert isinstance(mended, ModelProto)
    for size in (*given, *others):
        other = signed(sum(size) + 1, 1, 3, *size)
        assert relative(outputs(mended, other)[0], outputs(models[0], other)[0]) < 1e-5, size
