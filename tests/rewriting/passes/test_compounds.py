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


def test_mirrors_of_nine_cells_are_one_slice_that_runs_backwards() -> None:
    model = padded("reflect", (0, 0, 9, 0, 0, 0, 10, 0), "float[1,2,12,4]")
    plain = onnxpad.rewrite(model, passes="plain-pad").model
    assert pads_in(onnxpad.rewrite(plain, passes="joined-pads").model) == pads_in(model)


@pytest.mark.parametrize(
    ("mode", "width", "why"),
    [("edge", 3, ""), ("wrap", 1, ""), ("reflect", 1, "below 2 cells no Pad does the same")],
)
def test_of_open_sizes_short_axes_decide(mode: str, width: int, why: str) -> None:
    model = padded(mode, (0, 0, width, 0, 0, 0, width, 0), SHAPE)
    plain = onnxpad.rewrite(model, passes="plain-pad").model
    done = onnxpad.rewrite(plain, passes="joined-pads")
    assert done.changed == (not why)
    assert [why in one.skip.reason for one in done.skips] == [True] * bool(why)
    known = onnxpad.rewrite(plain, passes="joined-pads", dims={"H": 9, "W": 9})
    assert pads_in(known.model) == pads_in(model)


ENDS = ", ".join(
    f"int64[1] {name} = {{{n}}}"
    for name, n in {"z": 0, "one": 1, "two": 2, "n": -1, "far": 99}.items()
)
FRONT = "s = Slice (x, n, far, two) e = Slice (x, z, one, two) "


@pytest.mark.parametrize(
    ("body", "opset"),
    [
        (FRONT + "[op] y = Concat <axis = 2> (s, x, e)", 18),  # no mode wrap yet
        (FRONT + "[op] y = Concat <axis = 2> (s, e, x)", 19),  # the halves stand together
        (FRONT + "[op] y = Concat <axis = 1> (x, x)", 19),  # all of it, twice
        (FRONT + "[op] y = Concat <axis = 2> (s, e)", 19),  # a rotation of two cells
        ("s = Slice (x, n, far, two) r = Relu (x) [op] y = Concat <axis = 2> (s, r)", 19),
    ],
)
def test_what_is_no_pad_stays(body: str, opset: int) -> None:
    model = tiny(body, "float[1,2,5]", constants=ENDS, opset=opset)
    assert not onnxpad.rewrite(model, passes="joined-pads").changed


def test_what_others_read_stays() -> None:
    body = FRONT + "[op] a = Concat <axis = 2> (s, x, e) b = Concat <axis = 2> (a, s) "
    model = tiny(body + "y = Identity (b)", "float[1,2,5]", constants=ENDS, opset=19)
    done = onnxpad.rewrite(model, passes="joined-pads")
    assert sorted(kinds(done.model)) == ["Concat", "Identity", "Pad", "Slice"]
    same_numbers(model, done.model, (1, 2, 5))


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


def test_cells_that_are_put_elsewhere_stay() -> None:
    model = batched((2, 2), 3, 1, back=(2, 3, 4, 1, 5, 0))
    assert not onnxpad.rewrite(model, passes="plain-batches").changed


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
