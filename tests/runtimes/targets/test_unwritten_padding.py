"""Padding that tinygrad's kernels leave unwritten, by its 0.14.0 in memory filled with ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import onnxpad
from onnxpad.runtimes.conditions.companions import UNWRITTEN_PARTS
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.live.layers import verdicts_on
from tests.runtimes.targets.test_held_out_facts import answers

AVERAGE = "a = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)"
RELU = "r = Relu (a)"
ROWS = "AveragePool <kernel_shape = [3, 1], pads = [1, 0, 1, 0]>"
CONSTANTS = (
    "e = Constant <value = float {3}> () "
    "both = Constant <value = int64[8] {0, 0, 2, 1, 0, 0, 0, 1}> () "
    "rows = Constant <value = int64[8] {0, 0, 2, 0, 0, 0, 0, 0}> () "
    "last = Constant <value = int64[8] {0, 0, 0, 0, 0, 0, 1, 0}> () "
    "columns = Constant <value = int64[8] {0, 0, 0, 2, 0, 0, 0, 1}> () "
    "less = Constant <value = int64[8] {0, 0, -1, 0, 0, 0, -2, 0}> () "
    "planes = Constant <value = int64[8] {0, 1, 0, 0, 0, 0, 0, 0}> () "
    "twice = Constant <value = float[4] {1, 1, 2, 2}> () "
    "sizes = Constant <value = int64[4] {1, 2, 9, 9}> () zero = Constant <value = uint8 {0}> () "
    "w = Constant <value = float[2, 1, 1, 1] {1, 2}> () "
    "v = Constant <value = float[2, 2, 1, 1] {1, 2, 3, 4}> () "
    "t = Constant <value = float[2, 1, 3, 3] {1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 7, 6, 5, 4, 3, 2, "
    "1}> () "
)
PAD = "y = Pad (r, both)"
BYTES = "b = QuantizeLinear (q, e, zero)"
IN_FRONT = [
    (f"{AVERAGE} {RELU} {PAD}", True),
    (f"{AVERAGE} {RELU} y = Pad (r, both, e)", True),
    (f"{AVERAGE} r = Clip (a, e) {PAD}", True),
    (f"{AVERAGE} r = Abs (a) {PAD}", True),
    (f"{AVERAGE} q = Relu (a) r = Sigmoid (q) {PAD}", True),
    (f"{AVERAGE} q = Add (a, e) r = Relu (q) {PAD}", True),
    (f"{AVERAGE} g = Greater (a, e) r = Where (g, a, e) {PAD}", True),
    (f"{AVERAGE} g = Greater (x, e) r = Where (g, a, e) {PAD}", False),
    (f"{AVERAGE} {RELU} s = Expand (r, sizes) y = Pad (s, both)", True),
    (f"{AVERAGE} {RELU} s = Concat <axis = 1> (r, x) y = Pad (s, both)", True),
    (f"{AVERAGE} q = Relu (a) {BYTES} r = DequantizeLinear (b, e, zero) {PAD}", False),
    (f"{AVERAGE} g = Greater (a, e) r = Where (g, x, e) {PAD}", False),
    (f"{AVERAGE} r = Sigmoid (a) {PAD}", False),
    (f"{AVERAGE} r = Elu (a) {PAD}", False),
    (f"{AVERAGE} y = Pad (a, both)", False),
    (f"{AVERAGE} b = Pad (a, both) r = Relu (b) {PAD}", False),
    (f"{AVERAGE} {RELU} b = Pad (r, columns) y = Pad (b, rows)", True),
    (f"{AVERAGE} {RELU} q = Relu (x) s = Add (r, q) y = Pad (s, both)", True),
    (f"{AVERAGE} {RELU} s = Conv <group = 2> (r, w) y = Pad (s, both)", True),
    (f"{AVERAGE} {RELU} s = Conv (r, v) y = Pad (s, both)", False),
    (f"{AVERAGE} {RELU} s = MaxPool <kernel_shape = [2, 2]> (r) y = Pad (s, both)", False),
    (f"{AVERAGE.replace('> (x)', ', count_include_pad = 1> (x)')} {RELU} {PAD}", False),
    (f"a = AveragePool <kernel_shape = [3, 3]> (x) {RELU} {PAD}", False),
    (f"a = Resize (x, , twice) {RELU} {PAD}", True),
    (f"a = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x) {RELU} {PAD}", False),
]
READERS = [
    ("MaxPool <kernel_shape = [2, 2], pads = [1, 1, 0, 0]> (r)", True),
    ('MaxPool <kernel_shape = [3, 3], auto_pad = "SAME_UPPER"> (r)', True),
    ("MaxPool <kernel_shape = [2, 2], pads = [0, 0, 1, 1]> (r)", False),
    ("MaxPool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1> (r)", False),
    ("AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (r)", False),
    ("Conv <pads = [1, 1, 1, 1], group = 2> (r, t)", False),
    ("Conv <pads = [1, 1, 1, 1], group = 2> (r, w)", True),
    ("Conv <pads = [1, 1, 1, 1], group = 2, strides = [2, 2]> (r, w)", False),
    ('Pad <mode = "edge"> (r, both)', False),
]


def model(nodes: str) -> onnx.ModelProto:
    return text_model(
        CONSTANTS + nodes,
        inputs="float[1, 2, 9, 9] x",
        outputs="float[o0, o1, o2, o3] y",
        opset=18,
    )


def is_left(nodes: str) -> bool:
    found = answers(model(nodes), "tinygrad")
    return Answer.MISCOMPUTES in found.values()


@pytest.mark.parametrize(("nodes", "left"), IN_FRONT)
def test_what_stands_in_front_of_padding(nodes: str, *, left: bool) -> None:
    assert is_left(nodes) is left


@pytest.mark.parametrize(
    ("average", "along"),
    [
        (ROWS, ("rows", "last")),
        (ROWS.replace("pads = [1, 0, 1, 0]", 'auto_pad = "SAME_LOWER"'), ("rows", "last")),
        (ROWS.replace("[3, 1], pads = [1, 0, 1, 0]", "[1, 2], pads = [0, 1, 0, 0]"), ("columns",)),
        ("AveragePool <kernel_shape = [2, 1], strides = [2, 1], ceil_mode = 1>", ("rows", "last")),
        ("AveragePool <kernel_shape = [3, 1], strides = [2, 1], ceil_mode = 1>", ()),
    ],
)
def test_padding_along_the_axes_that_the_average_pads(average: str, along: tuple[str, ...]) -> None:
    sides = ("rows", "last", "columns", "less", "planes")
    left = [one for one in sides if is_left(f"a = {average} (x) {RELU} y = Pad (r, {one})")]
    assert left == list(along)


@pytest.mark.parametrize(("reader", "left"), READERS)
def test_which_padding_is_left(reader: str, *, left: bool) -> None:
    assert is_left(f"{AVERAGE} {RELU} y = {reader}") is left


@pytest.mark.parametrize(
    ("axis", "parts", "left"),
    [(2, "r, s", True), (2, "s, r", True), (2, "r, x", False), (3, "r, u", True)],
)
def test_parts_of_several_sizes(axis: int, parts: str, *, left: bool) -> None:
    cut = (
        "z = Constant <value = int64[1] {0}> () o = Constant <value = int64[1] {4}> () "
        "h = Constant <value = int64[1] {2}> () l = Constant <value = int64[1] {3}> () "
        "s = Slice (x, z, o, h) u = Slice (x, z, o, l)"
    )
    found = answers(
        model(f"{cut} {AVERAGE} {RELU} y = Concat <axis = {axis}> ({parts})"), "tinygrad"
    )
    assert (UNWRITTEN_PARTS[0] in found) is left
    rows = f"{cut} a = {ROWS} (x) {RELU} y = Concat <axis = 3> (r, u)"
    assert UNWRITTEN_PARTS[0] not in answers(model(rows), "tinygrad")


def test_a_result_of_the_model_has_a_kernel_of_its_own() -> None:
    alone = model(f"{AVERAGE} {RELU} {PAD}")
    for name, left in (("r", False), ("a", False), ("e", True)):
        more = onnx.ModelProto()
        more.CopyFrom(alone)
        if name != "e":
            more.graph.output.add().CopyFrom(
                onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 2, 9, 9])
            )
        assert (Answer.MISCOMPUTES in answers(more, "tinygrad").values()) is left


def test_what_is_refused_is_not_repaired_into_it() -> None:
    refused = model(
        "b = LpPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x) "
        f"{AVERAGE.replace('(x)', '(b)')} {RELU} {PAD}"
    )
    written = onnxpad.rewrite(refused, target="tinygrad")
    assert written.unfit


@pytest.mark.sweep
def test_tinygrad_leaves_what_is_written_here(tmp_path: Path) -> None:
    feeds = {"x": np.random.default_rng(0).normal(size=(1, 2, 9, 9)).astype(np.float32)}
    said = dict(IN_FRONT)
    for reader, left in READERS:
        said[f"{AVERAGE} {RELU} y = {reader}"] = left
    found = verdicts_on("tinygrad", {one: (model(one), feeds) for one in said}, tmp_path)
    assert found == {one: "wrong" if left else "ok" for one, left in said.items()}
