"""split-pads behind DequantizeLinear."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import attributes, kinds, nodes, refused
from tests.rewriting.passes.quantised_models import (
    DQ,
    IN,
    OUT,
    PADS,
    SCALES,
    SIGNED,
    WEIGHT,
    WEIGHTS,
    WIDE,
    X,
    group,
    optimised_kinds,
    path_to,
    same,
    tiny,
)


def test_split_pads_in_front_of_dequantise(tmp_path: Path) -> None:
    model = group(f"{IN} {DQ} (q, s, z)", conv=WIDE)
    after = same(model, "split-pads")
    assert path_to(after) == ["QuantizeLinear", "Pad", "DequantizeLinear"]
    assert [node.name for node in nodes(after.graph) if node.name] == ["op/pad", "dq", "op"]
    assert "QLinearConv" in optimised_kinds(after, tmp_path)
    back = same(after, "absorb-pad")
    assert attributes(back) == {"pads": [1, 2]}


def test_split_pads_of_a_quantised_input(tmp_path: Path) -> None:
    front = f"{DQ} (x, s, z)"
    model = group(front, conv=WIDE, x="uint8[1,2,7]")
    x = (X * 9 + 100).astype(np.uint8)
    after = same(model, "split-pads", x)
    assert path_to(after) == ["Pad", "DequantizeLinear"]
    assert "QLinearConv" in optimised_kinds(after, tmp_path)


def test_split_pads_of_a_zero_point_that_is_not_known() -> None:
    front = f"q = QuantizeLinear (x, s, u) {DQ} (q, s, u)"
    done = rewrite(group(front, conv=WIDE, inputs="uint8 u"), passes=["split-pads"]).model
    assert isinstance(done, onnx.ModelProto)
    (pad,) = [node for node in nodes(done.graph) if node.op_type == "Pad"]
    assert pad.input[0] == "q"
    assert pad.input[2] == "u"


def test_split_pads_beside_others_that_read_the_dequantised() -> None:
    front = f"{IN} {DQ} (q, s, z) e = Abs (d) h = ReduceMax <keepdims = 1> (e)"
    model = group(front, conv=f"{WIDE.replace('c =', 'c0 =')} c = Add (c0, h)")
    after = same(model, "split-pads")
    assert path_to(after) == ["QuantizeLinear", "Pad", "DequantizeLinear"]
    assert kinds(after).count("DequantizeLinear") == kinds(model).count("DequantizeLinear") + 1


def test_split_pads_of_signed_bytes(tmp_path: Path) -> None:
    """onnxruntime on x86 needs QuantizeLinear and DequantizeLinear side by side for them."""
    model = group(f"{IN} {DQ} (q, s, z)", conv=WIDE, zero=SIGNED)
    fused = "QLinearConv" in optimised_kinds(model, tmp_path)
    after = same(model, "split-pads")
    assert path_to(after) == ["Pad", "QuantizeLinear", "DequantizeLinear"]
    assert ("QLinearConv" in optimised_kinds(after, tmp_path)) == fused


def test_split_pads_behind_another_quantised_operator() -> None:
    """There a Pad in front of QuantizeLinear would part it from the first convolution."""
    first = "b = DequantizeLinear (q, s, z) e = Conv (b, w2) q2 = QuantizeLinear (e, s, z)"
    front = f"{IN} {first} {DQ} (q2, s, z)"
    more = "float[2,2,1] w2 = {1, 2, 3, 4}"
    after = same(group(front, conv=WIDE, zero=SIGNED, more=more), "split-pads", step=2)
    assert path_to(after)[-3:] == ["QuantizeLinear", "Pad", "DequantizeLinear"]


def test_split_pads_per_channel() -> None:
    more = "float[2] s2 = {0.1, 0.2}, uint8[2] zz = {117, 100}"
    front = "q = QuantizeLinear (x, s2, zz) [dq] d = DequantizeLinear (q, s2, zz)"
    after = same(group(front, conv=WIDE, more=more), "split-pads")
    assert path_to(after) == ["Pad", "QuantizeLinear", "DequantizeLinear"]
    alone = group("[dq] d = DequantizeLinear (x, s2, zz)", conv=WIDE, more=more, x="uint8[1,2,7]")
    assert refused(alone, "split-pads").reason == (
        "its input comes from DequantizeLinear 'dq', whose zero point has one value per channel, "
        "a Pad writes one for all"
    )


def test_split_pads_of_types_that_pad_lacks() -> None:
    front = f"{IN} {DQ} (q, s, z)"
    wide = "int16 z = {5}"
    out = "y = Identity (c)"
    body = f"{front} {WEIGHTS} {WIDE} {out}"
    held = f"{PADS}, {WEIGHT}, {SCALES}, {wide}"
    after = same(tiny(body, constants=held, opset=21, ir_version=10), "split-pads")
    assert path_to(after) == ["Pad", "QuantizeLinear", "DequantizeLinear"]
    body = f"{DQ} (x, s, z) {WEIGHTS} {WIDE} {out}"
    model = tiny(body, x="int16[1,2,7]", constants=held, opset=21, ir_version=10)
    assert refused(model, "split-pads").reason == (
        "its input comes from DequantizeLinear 'dq'; onnxruntime has no Pad of type 'int16'"
    )


POOLS = {
    "max": ("MaxPool <kernel_shape = [3], pads = [1, 1]> (d)", 0),
    "average that counts": (
        "AveragePool <kernel_shape = [3], pads = [1, 1], count_include_pad = 1> (d)",
        117,
    ),
}


@pytest.mark.parametrize(("call", "written"), POOLS.values(), ids=POOLS)
def test_split_pads_of_pools(call: str, written: int) -> None:
    body = f"{IN} {DQ} (q, s, z) [op] c = {call} {OUT}"
    model = tiny(body, constants=f"{PADS}, {SCALES}, uint8 z = {{117}}")
    after = same(model, "split-pads")
    assert path_to(after) == ["QuantizeLinear", "Pad", "DequantizeLinear"]
    (pad,) = [node for node in nodes(after.graph) if node.op_type == "Pad"]
    values = {one.name: onnx.numpy_helper.to_array(one) for one in after.graph.initializer}
    assert (values[pad.input[2]] if len(pad.input) > 2 else 0) == written


def test_split_pads_of_a_max_pool_with_windows_of_padding() -> None:
    call = "MaxPool <kernel_shape = [2], dilations = [4], pads = [1, 1]> (d)"
    model = tiny(
        f"{IN} {DQ} (q, s, z) [op] c = {call} {OUT}", constants=f"{PADS}, {SCALES}, uint8 z = {{7}}"
    )
    assert "a window may hold padding alone" in refused(model, "split-pads").reason
