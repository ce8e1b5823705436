"""Pairs of a wrong and a right model: the plan gives the reference on a sample that is not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, numpy_helper

from onnxpad import diagnose
from tests.diagnosis.texts import BEGIN, END, HALF, NONE, against, assert_found, network
from tests.retargeting.running import outputs, signed

KERNEL = (3, 2, 3, 3)


def conv(pads: str, stride: int = 2, kernel: int = 3) -> ModelProto:
    body = f"y = Conv <strides = [{stride}, {stride}], pads = [{pads}]> (x, w)"
    return network(body, w=(3, 2, kernel, kernel))


def behind(pads: str, mode: str = "constant", stride: int = 1, value: float = 0.0) -> ModelProto:
    """A convolution behind a Pad node of this mode and value."""
    begins, ends = (", ".join(pads.split(", ")[half]) for half in (slice(0, 2), slice(2, 4)))
    body = f'q = Pad <mode = "{mode}"> (x, p, v) y = Conv <strides = [{stride}, {stride}]> (q, w)'
    held = f"int64[8] p = {{0, 0, {begins}, 0, 0, {ends}}}, float v = {{{value}}}"
    return network(body, constants=held, w=KERNEL)


def lone(opset: int, mode: str, pads: str, value: float = 0.0) -> ModelProto:
    """A Pad node that no convolution or pool reads."""
    given = "(r) " if opset < 11 else "(r, p, v)"
    more = f", pads = [{pads}], value = {value}" if opset < 11 else ""
    held = "" if opset < 11 else f"int64[8] p = {{{pads}}}, float v = {{{value}}}"
    body = (
        f'r = LeakyRelu (x) a = Pad <mode = "{mode}"{more}> {given} y = ReduceMean <axes = [1]> (a)'
    )
    return network(body, "float[1, 2, H, W] x", held, opset)


def ups(growth: str = "", ceil: int = 1) -> ModelProto:
    """A pool that rounds up, and two transposed convolutions that grow."""
    up = f"ConvTranspose <strides = [2, 2], pads = [1, 1, 1, 1]{growth}>"
    pool = f"MaxPool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = {ceil}>"
    last = "ConvTranspose <strides = [2, 2], pads = [1, 1, 1, 1]>"
    body = f"a = {pool} (x) b = {up} (a, w) y = {last} (b, w)"
    return network(body, "float[1, 2, 17, 17] x", w=(2, 2, 4, 4))


def modes(mode: str) -> ModelProto:
    """Four convolutions with three cells on each side; '' pads by itself."""
    front = f'p{{n}} = Pad <mode = "{mode}"> ({{x}}, p) {{y}} = Conv (p{{n}}, w)'
    step = front if mode else "{y} = Conv <pads = [3, 3, 3, 3]> ({x}, w)"
    names = ["x", "y0", "y1", "y2", "y"]
    body = " ".join(step.format(n=n, x=names[n], y=names[n + 1]) for n in range(4))
    held = "int64[8] p = {0, 0, 3, 3, 0, 0, 3, 3}" if mode else ""
    return network(body, constants=held, w=(2, 2, 7, 7))


def filled(op: str, value: float, own: bool = False) -> ModelProto:
    """A layer whose padded cells hold a value, and two more behind it."""
    layer = "Conv <{}> ({}, w)" if op == "Conv" else f"{op} <kernel_shape = [3, 3]{{}}> ({{}})"
    separator = "" if op == "Conv" else ", "
    if own:
        front, first = "", layer.format(f"{separator}pads = [1, 1, 1, 1]", "x")
    else:
        front, first = "q = Pad (x, p, v) ", layer.format("", "q").replace(" <>", "")
    tail = " b = LeakyRelu (a) c = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (b, u) y = Relu (c)"
    held = "" if own else f"int64[8] p = {{0, 0, 1, 1, 0, 0, 1, 1}}, float v = {{{value}}}"
    channels = 6 if op == "Conv" else 2
    weights: dict[str, Any] = {"w": (6, 2, 3, 3)} if op == "Conv" else {}
    return network(f"{front}a = {first}{tail}", constants=held, **weights, u=(6, channels, 3, 3))


SIDES = ("0,0,1,2,0,0,1,0", "0,0,1,1,0,0,1,1", "0,0,0,0,0,0,2,2", "0,0,2,2,0,0,0,0")
LONE = {
    f"a lone Pad of opset {opset}, {mode} {side}": (
        lone(opset, "constant", SIDES[0]),
        lone(opset, mode, side),
    )
    for opset, mode in ((9, "reflect"), (13, "constant"), (13, "edge"), (17, "reflect"))
    for side in SIDES
}
FILLS = {
    f"{value} around {op}": (filled(op, 0, own=True), filled(op, value))
    for op, value in (
        *(("Conv", value) for value in (1.0, -0.3712, 127.0)),
        *(("AveragePool", value) for value in (1.0, 0.3712)),
        *(("MaxPool", value) for value in (1.0, 127.0)),
    )
}
CASES: dict[str, tuple[ModelProto, ModelProto]] = {
    "2 of 11 cells for SAME": (conv("3, 3, 4, 4", 4, 11), conv("2, 2, 2, 2", 4, 11)),
    "1 of 4 cells for none": (conv(NONE, 2, 4), conv(HALF, 2, 4)),
    "more at the end": (conv(HALF), conv(END)),
    "a mirror for zeros": (conv(HALF, 1), behind(HALF, "reflect")),
    "zeros for a mirror": (behind(HALF, "reflect"), behind(HALF)),
    "zeros for a value": (behind(HALF, value=-1), behind(HALF)),
    "another value": (behind(HALF, value=1), behind(HALF, value=-0.25)),
    "an edge at the end": (behind(HALF, "edge", 2), behind(END, "edge", 2)),
    "a value at the end": (behind(HALF, stride=2, value=-1), behind(END, stride=2, value=-1)),
    "a fill in other places": (conv(BEGIN), behind(END, stride=2, value=0.5)),
    "rounding up": (ups(ceil=0), ups()),
    "output_padding": (ups(), ups(", output_padding = [1, 1]")),
    **{
        f"{right or 'own'} for {wrong or 'own'} everywhere": (modes(wrong), modes(right))
        for wrong, right in (("", "reflect"), ("", "wrap"), ("edge", ""), ("edge", "wrap"))
    },
    **LONE,
    "a number of a lone Pad": (
        lone(13, "constant", SIDES[0]),
        lone(13, "constant", SIDES[0], -0.3),
    ),
    **FILLS,
}


@pytest.mark.part(3)
@pytest.mark.parametrize(("wrong", "right"), CASES.values(), ids=CASES)
def test_what_is_written_otherwise_is_found(wrong: ModelProto, right: ModelProto) -> None:
    if wrong == right:
        assert not against(wrong, right).plan.entries
        return
    found = assert_found(wrong, right, sizes=(9,))
    assert found.cause == "padding"
    assert found.tried < 2_000


def test_padding_of_a_function_is_searched() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
    g (float[1, 1, 8, 8] x, float[1, 1, 3, 3] w) => (float[1, 1, N, M] y) { y = my.Block (x, w) }
    <domain: "my", opset_import: ["" : 17]>
    Block (x, w) => (y) { y = Conv <strides = [2, 2], pads = [PADS]> (x, w) }"""
    wrong, right = (onnx.parser.parse_model(text.replace("PADS", one)) for one in (HALF, END))
    feeds = {"x": signed(0, 1, 1, 8, 8), "w": signed(1, 1, 1, 3, 3)}
    found = diagnose(wrong, inputs=feeds, outputs={"y": outputs(right, feeds)[0]})
    assert (found.cause, found.residual) == ("padding", 0)
    assert [(one.node, one.after) for one in found.nodes] == [("y/y", f"pads [{END}]")]


def test_all_convolutions_with_one_fill() -> None:
    pads = "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}, float v = {0.5}"
    front = "q = Pad (x, p, v) a = Conv (q, w) b = Relu (a) r = Pad (b, p, v) y = Conv (r, u)"
    own = "a = Conv <pads = [1, 1, 1, 1]> (x, w) b = Relu (a) y = Conv <pads = [1, 1, 1, 1]> (b, u)"
    weights: dict[str, Any] = {"w": (6, 2, 3, 3), "u": (6, 6, 3, 3)}
    found = assert_found(network(own, **weights), network(front, constants=pads, **weights))
    assert [entry.settings["pad_node"]["value"] for entry in found.plan.entries] == [0.5, 0.5]


def test_a_sum_of_6400_terms_is_rounding_and_wrong_pads_are_padding() -> None:
    """A public post sees more than 1e-3: relative to the outputs it is 1e-6."""
    random = np.random.RandomState(0)
    x = random.rand(1, 256, 8, 8).astype(np.float32)
    weight = random.rand(32, 256, 5, 5).astype(np.float32)
    whole, size = np.pad(x, [(0, 0), (0, 0), (1, 2), (1, 2)]), range(4)
    reference = np.zeros((1, 32, 4, 4), np.float32)
    for row, column in ((row, column) for row in size for column in size):
        window = whole[0, :, 2 * row : 2 * row + 5, 2 * column : 2 * column + 5]
        products = (weight * window).reshape(32, -1)
        reference[0, :, row, column] = np.cumsum(products, axis=1, dtype=np.float32)[:, -1]
    for pads, cause in (("1, 1, 2, 2", "rounding"), ("2, 2, 2, 2", "padding")):
        body = f"y = Conv <strides = [2, 2], pads = [{pads}]> (x, w)"
        model = network(body, "float[1, 256, 8, 8] x")
        model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
        found = diagnose(model, inputs={"x": x}, outputs={"y": reference})
        assert found.cause == cause, found.reason
        assert [one.settings["pads"] for one in found.plan.entries] in ([], [[1, 1, 2, 2]])


def test_padding_that_shows_behind_an_operator_with_limits_is_found() -> None:
    body = (
        "a = Conv <strides = [2, 2], pads = [P]> (x, w) b = GlobalAveragePool (a) y = Sigmoid (b)"
    )
    models = [network(body.replace("P]", f"{one}]"), w=(8, 2, 3, 3)) for one in (HALF, END)]
    assert [one.node for one in assert_found(*models).plan.entries] == ["a"]
