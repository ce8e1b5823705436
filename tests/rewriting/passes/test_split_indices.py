"""Pads in front of a max pool whose Indices are used; rows 38 and 39 of the tricky cases."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import pytest

from tests.models.tiny import attributes, refused, tiny
from tests.oracle.windows import pool_max
from tests.rewriting.passes.expanded import levels, rewritten_model

SPLIT = "split-pads"


def with_indices(written: str, x: str = "float[2,2,n]", rank: int = 1) -> onnx.ModelProto:
    sizes = x[x.index("[") + 1 : -1].split(",")
    kind = {"float": 1, "int8": 3, "uint8": 2}[x[: x.index("[")]]
    given = [int(size) if size.isdigit() else size for size in sizes]
    model = tiny("[op] y, i = MaxPool <kernel_shape=[1]> (x)", x)
    model.graph.input[0].type.tensor_type.elem_type = kind
    for output, code in (("y", kind), ("i", 7)):
        made = onnx.helper.make_tensor_value_info(output, code, [*given[:2], *["a"] * rank])
        model.graph.output.append(made)
    del model.graph.output[0]
    text = tiny(f"[op] y, i = MaxPool <{written}> (x)", x)
    model.graph.node[0].CopyFrom(text.graph.node[0])
    return model


def check(model: onnx.ModelProto, x: np.ndarray) -> list[np.ndarray]:
    after = rewritten_model(model, SPLIT)
    assert not any(attributes(after).get("pads", [0]))
    (wanted, *_) = levels(model, {"x": x})
    for found in levels(after, {"x": x}):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    return wanted


@pytest.mark.parametrize(
    ("order", "expected"),
    [(0, [1, 1, 2, 1, 5, 5]), (1, [2, 2, 4, 2, 5, 5])],
    ids=["row_38", "row_39"],
)
def test_rows_38_and_39(order: int, expected: list[int]) -> None:
    model = with_indices(
        f"kernel_shape = [2,2], pads = [1,0,0,1], storage_order = {order}", "float[1,1,2,3]", 2
    )
    x = np.array([[[[1, 5, 3], [4, 2, 6]]]], np.float32)
    assert check(model, x)[1].ravel().tolist() == expected


@pytest.mark.parametrize("order", [0, 1])
def test_every_small_image(order: int) -> None:
    rng = np.random.default_rng(order)
    for top, left, bottom, right in product(range(2), repeat=4):
        if not top + left + bottom + right:
            continue
        height, width = (int(n) for n in rng.integers(3, 6, 2))
        model = with_indices(
            f"kernel_shape = [3,2], pads = [{top},{left},{bottom},{right}], strides = [2,1], "
            f"storage_order = {order}",
            f"float[2,3,{height},{width}]",
            2,
        )
        check(model, -rng.permutation(6 * height * width).reshape(2, 3, height, width).astype("f4"))


@pytest.mark.parametrize("order", [0, 1])
def test_volumes_and_equal_cells(order: int) -> None:
    model = with_indices(
        f"kernel_shape = [2,3,2], pads = [1,1,0,1,0,1], storage_order = {order}",
        "float[1,2,3,4,3]",
        3,
    )
    check(model, np.random.default_rng(3).integers(-3, 0, (1, 2, 3, 4, 3)).astype("f4"))


def test_lines_and_same() -> None:
    for size in (5, 6, 7):
        model = with_indices(
            'kernel_shape = [3], strides = [2], auto_pad = "SAME_UPPER"', f"float[2,2,{size}]"
        )
        x = -np.random.default_rng(size).permutation(4 * size).reshape(2, 2, size)
        check(model, x.astype(np.float32))


@pytest.mark.parametrize(
    "written",
    [
        "kernel_shape = [3], pads = [2, 1], dilations = [2]",
        'kernel_shape = [3], auto_pad = "SAME_UPPER", dilations = [2]',
        "kernel_shape = [3], strides = [4], ceil_mode = 1, pads = [1, 2]",
        "kernel_shape = [2], strides = [3], dilations = [2], ceil_mode = 1, pads = [1, 1]",
    ],
)
def test_windows_that_all_hold_a_cell(written: str) -> None:
    """Gaps between taps, or a window that ceil_mode drops, do no harm by themselves."""
    for size in (5, 6, 7):
        model = with_indices(written, f"float[2,2,{size}]")
        x = -np.random.default_rng(size).permutation(4 * size).reshape(2, 2, size) - 1
        after = rewritten_model(model, SPLIT)
        geometry = {key: value for key, value in attributes(model).items() if key != "kernel_shape"}
        kernel = attributes(model)["kernel_shape"]
        for found in levels(after, {"x": x.astype(np.float32)}):
            for one, other in zip(
                found, pool_max(x.astype(np.float32), kernel, **geometry), strict=True
            ):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("written", "x", "reason"),
    [
        ("kernel_shape = [3], pads = [1, 1]", "float[2,2,n]", "needs the size of axis 2"),
        ("kernel_shape = [3], pads = [1, 1]", "uint8[2,2,6]", "a padded cell might win"),
        ("kernel_shape = [2], pads = [1, 1], dilations = [7]", "float[2,2,6]", "padding alone"),
    ],
)
def test_refuses(written: str, x: str, reason: str) -> None:
    assert reason in refused(with_indices(written, x), SPLIT).reason
