"""joined-pads and plain-batches: what several nodes write together, and inputs as left context."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import onnx
import pytest

import onnxpad
from tests.models.tiny import kinds, tiny
from tests.oracle.interpreter import run_model

SHAPE = "float[1,2,H,W]"


def padded(mode: str, pads: tuple[int, ...], x: str = "float[1,2,5,4]") -> onnx.ModelProto:
    flat = ", ".join(map(str, pads))
    node = f'[op] y = Pad <mode = "{mode}"> (x, p)'
    return tiny(node, x, constants=f"int64[8] p = {{{flat}}}", opset=19)


def pads_in(model: onnx.ModelProto) -> list[tuple[str, tuple[int, ...]]]:
    nodes = onnxpad.inspect(model).nodes
    return [(str(one.written["mode"]), one.pads or ()) for one in nodes if one.op == "Pad"]


def same_numbers(before: onnx.ModelProto, after: onnx.ModelProto, shape: tuple[int, ...]) -> None:
    feed = {"x": np.random.default_rng(0).integers(-99, 99, shape).astype(np.float32)}
    np.testing.assert_array_equal(run_model(before, feed)["y"], run_model(after, feed)["y"])


@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
def test_plain_pad_is_taken_back(mode: str) -> None:
    for top, left, bottom, right in product((0, 1, 2), (0, 3), (0, 1), (0, 1, 2)):
        pads = (0, 0, top, left, 0, 0, bottom, right)
        if not any(pads):
            continue
        model = padded(mode, pads)
        plain = onnxpad.rewrite(model, passes="plain-pad").model
        (named,) = onnxpad.inspect(plain).nodes
        assert (named.op, named.pads, "joined" in named.forms) == ("Concat", pads, True)
        back = onnxpad.rewrite(plain, passes="joined-pads")
        assert kinds(back.model) == ["Pad"]
        ((found, there),) = pads_in(back.model)
        assert there == pads
        same_numbers(plain, back.model, (1, 2, 5, 4))
        if found != mode:  # where the cells are those of both
            same_numbers(model, back.model, (1, 2, 5, 4))
    assert onnxpad.validate(plain, back.model, proof_only=True).verdict == "proved"


ENDS = ", ".join(
    f"int64[1] {name} = {{{n}}}"
    for name, n in {"z": 0, "one": 1, "two": 2, "n": -1, "far": 99}.items()
)
FRONT = "s = Slice (x, n, far, two) e = Slice (x, z, one, two) "


def batched(
    block: tuple[int, int], kernel: int, pad: int, back: tuple[int, ...] = (2, 3, 4, 0, 5, 1)
) -> onnx.ModelProto:
    """SpaceToBatchND around a Conv of 2 channels over [1, 2, 12, 12], as TensorFlow's exporter."""
    down, right = block
    sizes = [12 // step + 2 * pad - kernel + 1 for step in block]
    lists: dict[str, tuple[int, ...]] = {
        "r1": (1, 2, 12 // down, down, 12 // right, right),
        "r2": (down * right, 2, 12 // down, 12 // right),
        "r3": (down, right, 1, 3, *sizes),
        "r4": (1, 3, sizes[0] * down, sizes[1] * right),
    }
    held = [f"int64[{len(one)}] {name} = {{{str(one)[1:-1]}}}" for name, one in lists.items()]
    count = 6 * kernel * kernel
    values = ",".join(str((7 * n) % 11 - 5) for n in range(count))
    held += [f"float[3,2,{kernel},{kernel}] w = {{{values}}}", "float[3] b = {1, -2, 3}"]
    return tiny(
        "a = Reshape (x, r1) c = Transpose <perm = [3, 5, 0, 1, 2, 4]> (a) d = Reshape (c, r2) "
        f"[op] e = Conv <pads = [{pad}, {pad}, {pad}, {pad}]> (d, w, b) f = Reshape (e, r3) "
        f"g = Transpose <perm = {list(back)}> (f) y = Reshape (g, r4)",
        "float[1,2,12,12]",
        constants=", ".join(held),
    )


def test_batches_become_dilations() -> None:
    for block, kernel, pad in product([(2, 2), (3, 3), (2, 3), (1, 4)], (1, 2, 3), (0, 1)):
        model = batched(block, kernel, pad)
        done = onnxpad.rewrite(model, passes="plain-batches")
        assert kinds(done.model) == ["Conv"]
        (conv,) = onnxpad.inspect(done.model).nodes
        assert conv.dilations == block
        assert conv.pads == tuple(pad * step for step in block) * 2
        same_numbers(model, done.model, (1, 2, 12, 12))
    assert onnxpad.validate(model, done.model, proof_only=True).verdict == "proved"


@pytest.mark.parametrize(
    ("node", "width", "named"),
    [
        ("y = Conv (a, w)", 2, True),
        ("y = Conv (a, w)", 4, False),  # more than a window reads: other data, no context
        ("y = Conv <pads = [1, 0]> (a, w)", 2, False),
        ("t = Identity (a) y = Conv (t, w)", 2, True),
        ("t = Relu (a) y = Conv (t, w)", 2, False),
        ("y = Relu (a)", 2, False),
    ],
)
def test_an_input_as_left_context_is_named(node: str, width: int, *, named: bool) -> None:
    model: Any = tiny(
        f"a = Concat <axis = 2> (c, x) {node}",
        "float[1,1,T]",
        inputs=f"float[1,1,{width}] c",
        constants="float[1,1,3] w = {1, 2, 3}",
    )
    found = [one for one in onnxpad.inspect(model).nodes if "context" in one.forms]
    assert [(one.op, one.pads, one.input) for one in found] == [
        ("Concat", (0, 0, width, 0, 0, 0), "x")
    ] * named
    assert not onnxpad.rewrite(model, passes="joined-pads").changed


@pytest.mark.parametrize("opset", [9, 13, 19])
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
def test_a_plan_pads_otherwise_where_a_concat_pads(mode: str, opset: int) -> None:
    lists = "(x, n, far, two)", "(x, z, one, two)"
    given = [f"Slice {one}" for one in lists]
    if opset < 10:
        given = [
            "Slice <starts = [-1], ends = [99], axes = [2]> (x)",
            "Slice <starts = [0], ends = [1], axes = [2]> (x)",
        ]
    body = f"s = {given[0]} e = {given[1]} [op] a = Concat <axis = 2> (s, x, e) y = Relu (a)"
    model = tiny(body, "float[1,2,5]", constants=ENDS, opset=opset)
    pads = [0, 0, 1, 0, 0, 1]
    entry = {"node": "op", "pad_node": {"pads": pads, "value": 0, "mode": mode}, "conventions": []}
    done = onnxpad.retarget(model, plan={"schema": 1, "nodes": [entry]})
    assert kinds(done.model) == ["Pad", "Relu"]
    x = np.random.default_rng(1).integers(-9, 9, (1, 2, 5)).astype(np.float32)
    numpy_mode: Any = mode
    wanted = np.maximum(np.pad(x, [(0, 0), (0, 0), (1, 1)], numpy_mode), 0)
    np.testing.assert_array_equal(run_model(done.model, {"x": x})["y"], wanted)
