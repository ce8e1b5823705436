"""Pools with asymmetric pads, by onnxruntime: Indices, ceil_mode, channels last, all opsets."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from tests.models.tiny import NEGATIVE, attributes, done, kinds, refused, rewritten, tiny, values
from tests.rewriting.passes.expanded import agrees, levels, rewritten_model

SLICE, PAD = "symmetric-pads-by-slice", "symmetric-pads-by-pad"
ANY = "symmetric-pads"


def with_indices(written: str, shape: str, opset: int = 12) -> onnx.ModelProto:
    """A max pool whose Indices are an output."""
    model = tiny(f"[op] y, z = MaxPool <{written}> (x)", shape, opset=opset)
    info = model.graph.output.add()
    info.CopyFrom(model.graph.output[0])
    info.name = "z"
    info.type.tensor_type.elem_type = onnx.TensorProto.INT64
    return model


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(
    ("kernel", "stride", "dilation", "pads"),
    [
        ((3, 3), (1, 1), (1, 1), (0, 1, 2, 0)),
        ((3, 2), (2, 2), (1, 1), (2, 0, 0, 1)),
        ((3, 3), (2, 1), (1, 2), (0, 1, 2, 2)),
        ((4, 3), (3, 2), (1, 1), (1, 0, 3, 1)),
    ],
)
def test_indices_are_sliced_too(
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    pads: tuple[int, ...],
    order: int,
) -> None:
    """They count the cells of the unpadded input, whatever the pads."""
    changed = 0
    for height, width in product((5, 6, 7), (6, 7)):
        written = (
            f"kernel_shape = {list(kernel)}, strides = {list(stride)}, pads = {list(pads)}, "
            f"dilations = {list(dilation)}, storage_order = {order}"
        )
        model = with_indices(written, f"float[2,3,{height},{width}]")
        if not done(model, SLICE).changed:
            continue
        changed += 1
        after = agrees(model, SLICE, [(2, 3, height, width)], rtol=0)
        assert kinds(after).count("Slice") in (0, 2)
        if "Slice" in kinds(after):
            assert "Indices are used" in refused(model, PAD).reason
    assert changed


@pytest.mark.parametrize(
    "op", ["MaxPool", "AveragePool", "AveragePool counting", "LpPool"], ids=str.lower
)
@pytest.mark.parametrize(("rule", "opset"), [(SLICE, 18), (PAD, 22)])
def test_every_geometry(op: str, opset: int, rule: str) -> None:
    """Signed data; -1 is larger than the 0 that no padding of a max pool may hold."""
    name, *counting = op.split()
    changed = 0
    draws = product((2, 3, 4), (1, 2, 3), (0, 1, 2), (0, 1, 2), (0, 1), (5, 6, 7))
    for kernel, stride, begin, end, ceil, size in draws:
        if begin == end or max(begin, end) >= kernel:
            continue
        written = f"kernel_shape = [{kernel}], strides = [{stride}], pads = [{begin}, {end}]"
        written += ", count_include_pad = 1" if counting else ""
        written += ", ceil_mode = 1" if ceil else ""
        model = tiny(f"[op] y = {name} <{written}> (x)", f"float[1,2,{size}]", opset=opset)
        if not done(model, rule).changed:
            continue
        changed += 1
        agrees(model, rule, [(1, 2, size)], rtol=2e-6 if name != "MaxPool" else 0)
    assert changed > 20


@pytest.mark.parametrize("rule", [ANY, SLICE, PAD])
def test_negative_data(rule: str) -> None:
    model = tiny("[op] y = MaxPool <kernel_shape = [3], pads = [1, 2]> (x)", "float[1,1,4]")
    after = rewritten(model, rule, NEGATIVE)
    assert values(after, NEGATIVE) == [-1, -1, -1, -2, -2]
    for found in levels(after, {"x": NEGATIVE}):
        assert found[0].ravel().tolist() == [-1, -1, -1, -2, -2]


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_by_slice_for_every_size(op: str) -> None:
    written = "kernel_shape = [4, 3], strides = [2, 1], pads = [0, 2, 2, 0]"
    model = tiny(f"[op] y = {op} <{written}> (x)", "float[n,2,h,w]")
    agrees(model, SLICE, [(1, 2, n, 14 - n) for n in range(4, 12)])


@pytest.mark.parametrize(("opset", "spelt"), [(7, False), (9, False), (10, True), (13, True)])
def test_a_slice_is_spelt_as_the_opset_wants_it(opset: int, spelt: bool) -> None:
    model = tiny(
        "[op] y = MaxPool <kernel_shape = [3], pads = [0, 2]> (x)", "float[1,1,n]", opset=opset
    )
    after = agrees(model, SLICE, [(1, 1, n) for n in (3, 4, 5, 6, 7, 8)], rtol=0)
    crop = after.graph.node[1]
    assert (crop.op_type, len(crop.input) > 1) == ("Slice", spelt)


def test_channels_last() -> None:
    node = (
        "com.microsoft.QLinearConv <channels_last = 1, pads = [0, 2, 1, 0]> "
        "(x, s, z, v, s, z, s, z)"
    )
    constants = (
        f"uint8[2,1,3,3] v = {{{', '.join(str(n * 5 % 11) for n in range(18))}}}, "
        "float s = {0.5}, uint8 z = {7}"
    )
    model = tiny(f"[op] y = {node}", "uint8[1,6,7,1]", constants=constants, result="uint8[]")
    for rule in (SLICE, PAD, "symmetric-pads-by-kernel"):
        agrees(model, rule, [(1, 6, 7, 1)], dtype="uint8", rtol=0)
    pool = tiny(
        "[op] y = com.microsoft.NhwcMaxPool <kernel_shape = [3, 3], pads = [0, 1, 2, 0]> (x)",
        "uint8[1,5,6,4]",
        result="uint8[]",
    )
    for rule in (SLICE, PAD):
        agrees(pool, rule, [(1, 5, 6, 4)], dtype="uint8", rtol=0)
    for counts in (0, 1):
        mean = tiny(
            "[op] y = com.microsoft.QLinearAveragePool <channels_last = 1, kernel_shape = [3, 3], "
            f"pads = [0, 1, 2, 0], count_include_pad = {counts}> (x, s, z, s, z)",
            "uint8[1,5,6,4]",
            constants="float s = {0.5}, uint8 z = {7}",
            result="uint8[]",
        )
        agrees(mean, SLICE, [(1, 5, 6, 4)], dtype="uint8", rtol=0)


def offsets(scale: float) -> NDArray[np.float32]:
    made = np.random.default_rng(5).standard_normal((1, 18, 6, 5)) * scale
    return made.astype(np.float32)


@pytest.mark.parametrize("scale", [0.0, 2.5])
def test_deform_conv_by_a_pad(scale: float) -> None:
    """Sampling outside of the input gives 0 on both sides; offsets are relative."""
    listed = ", ".join(map(str, offsets(scale).ravel().tolist()))
    model = tiny(
        "[op] y = DeformConv <pads = [0, 1, 2, 0]> (x, v, o)",
        "float[1,1,6,6]",
        constants=f"float[1,1,3,3] v = {{1, -2, 3, 4, 5, -6, 7, 8, -9}}, float[1,18,6,5] o = "
        f"{{{listed}}}",
        opset=19,
    )
    after = rewritten_model(model, PAD)
    assert attributes(after)["pads"] == [0, 0, 0, 0]
    x = np.random.default_rng(1).standard_normal((1, 1, 6, 6)).astype(np.float32)
    (wanted,) = levels(model, {"x": x})[0]
    for (found,) in levels(after, {"x": x}):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5)
    assert "an offset for each" in refused(model, SLICE).reason
    assert "an offset for each" in refused(model, "symmetric-pads-by-kernel").reason


def test_a_pad_that_onnxruntime_would_fuse_takes_everything() -> None:
    """Pad(0) and pads of 2 reach the kernel of 2 together: the pool must say VALID."""
    model = tiny(
        "[op] y = AveragePool <kernel_shape = [2], pads = [1, 2], count_include_pad = 1> (x)",
        "float[1,1,5]",
    )
    after = rewritten_model(model, PAD)
    assert attributes(after)["auto_pad"] == "VALID"
    x = np.asarray([[[-7, -1, -2, -2, 3]]], np.float32)
    for (found,) in levels(after, {"x": x}):
        assert found.ravel().tolist() == values(model, x)


def test_a_pad_in_front_is_not_left_to_a_wrong_fusion() -> None:
    model = tiny(
        "p = Pad (x, around) [op] y = MaxPool <kernel_shape = [3], strides = [2], "
        'auto_pad = "SAME_UPPER"> (p)',
        "float[1,1,6]",
        constants="int64[6] around = {0, 0, 1, 0, 0, 1}",
    )
    x = np.asarray([[[-7, -1, -2, -2, -3, -4]]], np.float32)
    assert "fusing the Pad in front" in refused(model, SLICE).reason
    after = rewritten_model(model, ANY)
    assert kinds(after) == ["Pad", "Pad", "MaxPool"]
    for (found,) in levels(after, {"x": x}):
        assert found.ravel().tolist() == values(model, x)


KEPT = "kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1"


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_ceil_mode_stays_where_its_end_pads_would_reach_the_kernel(op: str) -> None:
    """The first axis is symmetric and hangs over: its end pad would be 2, then 3 on both sides."""
    model = tiny(f"[op] y = {op} <{KEPT}, pads = [1, 0, 1, 1]> (x)", "float[1,2,12,11]", opset=18)
    after = agrees(model, SLICE, [(1, 2, 12, 11)], rtol=0 if op == "MaxPool" else 2e-6)
    assert kinds(after) == [op, "Slice"]
    written = attributes(after)
    assert (written["pads"], written["ceil_mode"]) == ([1, 2, 1, 2], 1)


def test_ceil_mode_stays_where_equal_pads_then_give_the_same_windows() -> None:
    model = tiny(f"[op] y = MaxPool <{KEPT}, pads = [1, 1, 1, 0]> (x)", "float[1,2,12,11]")
    for rule in (ANY, SLICE, PAD):
        after = agrees(model, rule, [(1, 2, 12, 11)], rtol=0)
        assert kinds(after) == ["MaxPool"]
        assert (attributes(after)["pads"], attributes(after)["ceil_mode"]) == ([1, 1, 1, 1], 1)


def test_an_average_counts_the_same_under_ceil_mode() -> None:
    """Its last window on the first axis hangs over equal pads, which so stay."""
    counting = f"{KEPT}, count_include_pad = 1"
    model = tiny(f"[op] y = AveragePool <{counting}, pads = [1, 0, 1, 2]> (x)", "float[1,2,12,11]")
    after = agrees(model, SLICE, [(1, 2, 12, 11)])
    assert attributes(after)["pads"] == [1, 2, 1, 2]
    uneven = tiny(f"[op] y = AveragePool <{counting}, pads = [1, 0, 0, 0]> (x)", "float[1,2,11,11]")
    assert "its last window lacks" in refused(uneven, SLICE).reason


def test_a_pad_takes_what_ceil_mode_reads_where_it_may_not_stay() -> None:
    """Behind a Pad node the window that starts in the end padding would not be dropped."""
    written = "kernel_shape = [4], strides = [2], pads = [0, 3], ceil_mode = 1"
    model = tiny(f"[op] y = MaxPool <{written}> (x)", "float[1,2,6]")
    after = agrees(model, PAD, [(1, 2, 6)], rtol=0)
    assert kinds(after) == ["Pad", "MaxPool"]
    assert "ceil_mode" not in attributes(after)
    counting = f"{KEPT.replace('[3, 3]', '[4, 3]')}, pads = [0, 1, 3, 0], count_include_pad = 1"
    both = tiny(f"[op] y = AveragePool <{counting}> (x)", "float[1,2,6,5]")
    assert "drops its last window" in refused(both, PAD).reason
