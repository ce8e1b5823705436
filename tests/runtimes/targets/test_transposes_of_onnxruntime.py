"""Pads with axes that onnxruntime moves past Transposes: each was run in 1.17 to 1.32."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnxruntime.capi import onnxruntime_pybind11_state as errors

import onnxpad
from onnxpad.probing.expected import expected
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.targets.composed import drawn
from tests.runtimes.targets.test_held_out_facts import answers

T, BACK = "Transpose <perm = [0, 3, 1, 2]>", "Transpose <perm = [0, 2, 3, 1]>"
ORDERS: dict[str, list[int]] = {
    "2, 3": [2, 3],
    "-2, -1": [2, 3],
    "1": [1],
    "0, 1, 2, 3": [0, 1, 2, 3],
    "0, 1, 3, 2": [0, 1, 3, 2],
    "3, 2, 1, 0": [3, 2, 1, 0],
    "0, 2, 3, 1": [0, 2, 3, 1],
}
FAILS = {"2, 3": Answer.REFUSES, "-2, -1": Answer.REFUSES, "1": Answer.REFUSES} | dict.fromkeys(
    ("0, 1, 3, 2", "3, 2, 1, 0"), Answer.MISCOMPUTES
)
"""By the axes; in their order all of them are right, and rotated like the Transposes as well."""
CONSTANTS = (
    "half = Constant <value = float {0.5}> () two = Constant <value = float[4] {1, 1, 2, 2}> () "
    "same = Constant <value = int64[4] {1, 8, 11, 4}> () "
    "other = Constant <value = int64[4] {1, 4, 8, 11}> () "
    "w = Constant <value = float[2, 4, 1, 1] {1, 2, -1, 3, 2, -2, 1, 1}> () "
    "b = Constant <value = float[4, 1, 1] {1, 2, 3, 4}> () "
    "s = Constant <value = float {0.02}> () z = Constant <value = uint8 {3}> () "
    "low = Constant <value = uint8 {0}> () zero = Constant <value = int8 {0}> () "
    "v = Constant <value = int8[4, 4, 1, 1] {1, 2, -1, 3, 2, -2, 1, 1, 1, 2, -1, 3, 2, -2, 1, 1}> "
    "() "
)
MOVED = [
    f"t = {T} (x) p = PAD (t) y = {BACK} (p)",
    f"t = {T} (x) p = PAD (t) y = Transpose <perm = [0, 1, 3, 2]> (p)",
    f"t = {T} (x) r = Relu (t) p = PAD (r) q = Sigmoid (p) y = {BACK} (q)",
    f"t = {T} (x) r = Add (t, b) p = PAD (r) y = {BACK} (p)",
    f"t = {T} (x) u = Abs (x) v0 = {T} (u) r = Add (t, v0) p = PAD (r) y = {BACK} (p)",
    f"t = {T} (x) r = Relu (t) c = Concat <axis = 1> (t, r) p = PAD (c) y = {BACK} (p)",
    f"t = {T} (x) r = Expand (t, other) p = PAD (r) y = {BACK} (p)",
    f"t = {T} (x) r = Resize (t, , two) p = PAD (r) y = {BACK} (p)",
    f"t = {T} (x) p = PAD (t) q = MaxPool <kernel_shape = [2, 2]> (p) y = {BACK} (q)",
    f"t = {T} (x) o = PAD (t) p = PAD (o) y = {BACK} (p)",
]
KEPT = [
    f"t = {T} (x) y = PAD (t)",
    f"t = {T} (x) p = PAD (t) y = Relu (p)",
    f"t = {T} (x) p = PAD (t) k = Conv <kernel_shape = [1, 1]> (p, w) y = {BACK} (k)",
    f"r = Reshape (x, other) p = PAD (r) y = {BACK} (p)",
    f"t = {T} (x) r = MaxPool <kernel_shape = [2, 2]> (t) p = PAD (r) y = {BACK} (p)",
    f"t = {T} (x) r = LRN <size = 3> (t) p = PAD (r) y = {BACK} (p)",
    f"t = {T} (x) e = Abs (x) r = Reshape (e, other) a = Add (t, r) p = PAD (a) y = {BACK} (p)",
    f"t = {T} (x) u = {BACK} (t) p = PAD (u) y = {BACK} (p)",
]
BYTES = (
    f"t = {T} (x) q0 = QuantizeLinear (t, s, z) k0 = QLinearConv (q0, s, z, v, s, zero, s, z) "
    "BETWEEN k1 = QLinearConv (q1, s, z, v, s, zero, s, z) y = DequantizeLinear (k1, s, z)"
)
DEQUANTISED = (
    f"t = {T} (x) q0 = QuantizeLinear (t, s, z) d0 = DequantizeLinear (q0, s, z) "
    "e = DequantizeLinear (v, s, zero) k = Conv (d0, e) BETWEEN "
    "d1 = DequantizeLinear (q1, s, z) k1 = Conv (d1, e) q2 = QuantizeLinear (k1, s, z) "
    "y = DequantizeLinear (q2, s, z)"
)
BYTES_MOVED = [
    BYTES.replace("BETWEEN", "q1 = PAD (k0)"),
    BYTES.replace("BETWEEN", "m = MaxPool <kernel_shape = [2, 2]> (k0) q1 = PAD (m)"),
    BYTES.replace(
        "BETWEEN",
        "d = DequantizeLinear (k0, s, z) r = Relu (d) p = PAD (r) q1 = QuantizeLinear (p, s, z)",
    ),
    DEQUANTISED.replace(
        "BETWEEN",
        "q = QuantizeLinear (k, s, z) d = DequantizeLinear (q, s, z) p = PAD (d) "
        "q1 = QuantizeLinear (p, s, z)",
    ),
    DEQUANTISED.replace(
        "BETWEEN",
        "r = Relu (k) q = QuantizeLinear (r, s, low) d = DequantizeLinear (q, s, low) "
        "p = PAD (d) q1 = QuantizeLinear (p, s, z)",
    ),
]
BYTES_KEPT = [
    DEQUANTISED.replace(
        "BETWEEN",
        "r = Relu (k) q = QuantizeLinear (r, s, z) d = DequantizeLinear (q, s, z) "
        "p = PAD (d) q1 = QuantizeLinear (p, s, z)",
    ),
    BYTES.replace(
        "BETWEEN",
        "d = DequantizeLinear (k0, s, z) r = LRN <size = 3> (d) p = PAD (r) "
        "q1 = QuantizeLinear (p, s, z)",
    ),
]


def model(nodes: str, axes: str) -> onnx.ModelProto:
    """The nodes, in which PAD pads the last two axes, or the second where it is asked for."""
    asked = ORDERS[axes]
    sides = {1: (1, 0), 2: (1, 2), 3: (1, 0)} if len(asked) == 1 else {2: (1, 2), 3: (1, 0)}
    begins, ends = zip(*(sides.get(one, (0, 0)) for one in asked), strict=True)
    flat = ", ".join(map(str, (*begins, *ends)))
    filled = "z" if "q1 = PAD" in nodes else "half"
    given = (
        f"pads = Constant <value = int64[{2 * len(asked)}] {{{flat}}}> () "
        f"axes = Constant <value = int64[{len(asked)}] {{{axes}}}> () "
    )
    written = nodes
    while "PAD (" in written:
        before, _, behind = written.partition("PAD (")
        name, _, rest = behind.partition(")")
        written = f"{before}Pad ({name}, pads, {filled}, axes){rest}"
    return text_model(
        CONSTANTS + given + written,
        inputs="float[1, 8, 11, 4] x",
        outputs="float[o0, o1, o2, o3] y",
        opset=19,
    )


def runs_rightly(made: onnx.ModelProto, right: onnx.ModelProto) -> bool:
    feeds = {"x": np.random.default_rng(0).normal(size=(1, 8, 11, 4)).astype(np.float32)}
    (wanted,) = expected(right, feeds).outputs.values()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(made.SerializeToString(), options)
    try:
        (found,) = session.run(None, feeds)
    except (errors.InvalidArgument, errors.Fail):
        return False
    return found.shape == wanted.shape and bool(np.abs(found - wanted).max() < 0.05)


@pytest.mark.parametrize("axes", ORDERS)
@pytest.mark.parametrize("nodes", MOVED)
def test_between_transposes_axes_are_lost(nodes: str, axes: str) -> None:
    found = answers(model(nodes, axes), "onnxruntime")["Pad"]
    assert found is FAILS.get(axes, Answer.TAKES)


@pytest.mark.parametrize(
    ("target", "end"),
    [
        ("onnxruntime@1.17", False),
        ("onnxruntime-web", False),
        ("onnxruntime-cuda", False),
        ("webgpu", True),
        ("webgpu-jsep", True),
    ],
)
def test_releases_and_providers(target: str, *, end: bool) -> None:
    """Those with the channels last move a Transpose to the end of the model as well."""
    for axes in ORDERS:
        between, last = (answers(model(nodes, axes), target) for nodes in (MOVED[0], KEPT[0]))
        assert between["Pad"].fails is (axes in FAILS)
        assert last["Pad"].fails is (end and axes in FAILS)


@pytest.mark.parametrize("axes", ORDERS)
@pytest.mark.parametrize("nodes", BYTES_MOVED)
def test_between_convolutions_of_bytes_they_are_as_well(nodes: str, axes: str) -> None:
    found = answers(model(nodes, axes), "onnxruntime")["Pad"]
    assert found is FAILS.get(axes, found)
    assert found.fails is (axes in FAILS)


@pytest.mark.parametrize("axes", ORDERS)
@pytest.mark.parametrize("nodes", [*KEPT, *BYTES_KEPT])
def test_elsewhere_they_are_kept(nodes: str, axes: str) -> None:
    assert not answers(model(nodes, axes), "onnxruntime")["Pad"].fails


@pytest.mark.part(4)
@pytest.mark.parametrize("axes", ["2, 3", "0, 1, 3, 2"])
@pytest.mark.parametrize("nodes", [*MOVED, *KEPT, *BYTES_MOVED, *BYTES_KEPT])
def test_the_runtime_agrees_and_runs_what_is_rewritten(nodes: str, axes: str) -> None:
    given = model(nodes, axes)
    fails = answers(given, "onnxruntime")["Pad"].fails
    assert runs_rightly(given, given) is not fails
    done = onnxpad.rewrite(given, target="onnxruntime")
    assert not done.unfit
    assert runs_rightly(done.model, given)


@pytest.mark.parametrize(
    ("target", "moves"),
    [
        ("onnxruntime", True),
        ("onnxruntime@1.26", False),
        ("onnxruntime-web", True),
        ("onnxruntime-web@1.23", False),
    ],
)
def test_newer_releases_move_past_elu(target: str, *, moves: bool) -> None:
    nodes = f"t = {T} (x) r = Elu (t) p = PAD (r) y = {BACK} (p)"
    assert answers(model(nodes, "2, 3"), target)["Pad"].fails is moves


def test_a_result_beside_it_keeps_a_transpose() -> None:
    made = model(MOVED[0], "2, 3")
    made.graph.output.append(onnx.helper.make_tensor_value_info("t", 1, [1, 4, 8, 11]))
    assert not answers(made, "onnxruntime")["Pad"].fails


def test_the_drawn_model_that_showed_it_is_foreseen_and_mended() -> None:
    found = next(one for name, one, *_ in drawn(90, 20271571) if name == "composed-91")
    assert answers(found, "onnxruntime")["Pad"] is Answer.REFUSES
    assert not onnxpad.rewrite(found, target="onnxruntime").unfit
