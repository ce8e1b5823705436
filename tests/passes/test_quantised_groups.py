"""New Pads beside QuantizeLinear and DequantizeLinear, and Pads absorbed through them."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onnxpad.inspection import inspect
from onnxpad.rewriting import rewrite
from tests.onnxruntime_levels import Array, ran
from tests.tiny_models import attributes, kinds, nodes, refused
from tests.tiny_models import tiny as text_model

tiny = partial(text_model, x="float[1,2,7]", result="float[n,c,r]")
PADS = "int64[6] p = {0, 0, 1, 0, 0, 1}"
WEIGHT = "int8[2,2,3] k = {3, -2, 1, 5, 4, -7, 2, 2, 2, -1, 9, 1}, int8 k0 = {0}, float ks = {0.25}"
SCALES = "float s = {0.1}, float o = {2.0}"
IN, OUT = (
    "q = QuantizeLinear (x, s, z)",
    "r = QuantizeLinear (c, o, z) y = DequantizeLinear (r, o, z)",
)
WEIGHTS = "v = DequantizeLinear (k, ks, k0)"
CONV = "[op] c = Conv <{}> (d, v)"
X = np.random.default_rng(0).permutation(np.arange(-7, 7)).reshape(1, 2, 7).astype(np.float32)
DQ = "[dq] d = DequantizeLinear"


def group(
    front: str,
    *,
    zero: str = "uint8 z = {117}",
    conv: str = CONV.format("strides = [1]"),
    more: str = "",
    **keys: Any,
) -> onnx.ModelProto:
    """`front` makes `d`, the data of a quantised convolution."""
    held = ", ".join(filter(None, [PADS, WEIGHT, SCALES, zero, more]))
    return tiny(f"{front} {WEIGHTS} {conv} {OUT}", constants=held, **keys)


def optimised_kinds(model: onnx.ModelProto, folder: Path) -> list[str]:
    """What onnxruntime's default optimisations leave."""
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.optimized_model_filepath = str(folder / "optimised.onnx")
    options.log_severity_level = 4
    runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [node.op_type for node in onnx.load(folder / "optimised.onnx").graph.node]


def same(model: onnx.ModelProto, rule: str, x: Array = X, *, step: float = 0) -> onnx.ModelProto:
    """The rewritten model, which gives the same with optimisations and without.

    `step` is what the optimised model may differ by. onnxruntime opens some models only without.
    """
    done = rewrite(model, passes=[rule])
    assert done.changed, [refusal.skip for refusal in done.skips]
    after = done.model
    assert isinstance(after, onnx.ModelProto)
    onnx.checker.check_model(after, full_check=True)
    assert not rewrite(after, passes=[rule]).changed
    for level in (False, True):
        wanted, found = (ran(one, {"x": x}, optimised=level) for one in (model, after))
        if isinstance(wanted, str) and level:
            continue
        assert not isinstance(wanted, str), wanted
        assert not isinstance(found, str), found
        assert np.abs(found - wanted).max() <= step * level
    return after


def path_to(model: onnx.ModelProto, name: str = "op") -> list[str]:
    """Operators in front of a node's data, the farthest first."""
    makers = {out: node for node in nodes(model.graph) for out in node.output}
    (node,) = [one for one in nodes(model.graph) if one.name == name]
    found: list[str] = []
    while node.input[0] in makers:
        node = makers[node.input[0]]
        found.insert(0, node.op_type)
    return found


ABSORBED = {
    "in front of both": f"a = Pad (x, p) q = QuantizeLinear (a, s, z) {DQ} (q, s, z)",
    "between, with the zero point by name": f"{IN} a = Pad (q, p, z) {DQ} (a, s, z)",
    "between, with its value": f"{IN} a = Pad (q, p, z2) {DQ} (a, s, z)",
    "behind both": f"{IN} [dq] b = DequantizeLinear (q, s, z) d = Pad (b, p)",
    "what rounds to 0": f"a = Pad (x, p, small) q = QuantizeLinear (a, s, z) {DQ} (q, s, z)",
}


@pytest.mark.parametrize("front", ABSORBED.values(), ids=ABSORBED)
def test_row_53_absorbed(front: str, tmp_path: Path) -> None:
    model = group(front, more="uint8 z2 = {117}, float small = {0.04}")
    after = same(model, "absorb-pad")
    assert path_to(after) == ["QuantizeLinear", "DequantizeLinear"]
    assert attributes(after) == {"strides": [1], "pads": [1, 1]}
    assert "QLinearConv" in optimised_kinds(after, tmp_path)


NOT_ABSORBED = {
    "row 53 omitted": (f"{IN} a = Pad (q, p) {DQ} (a, s, z)", "the Pad writes -11.7 behind"),
    "what rounds to another": (
        f"a = Pad (x, p, small) q = QuantizeLinear (a, s, z) {DQ} (q, s, z)",
        "the Pad writes 0.1 behind",
    ),
    "other zero points behind": (
        f"a = Pad (x, p) q = QuantizeLinear (a, s, z) {DQ} (q, s, z2)",
        "the Pad writes 10.7 behind",
    ),
    "a zero point that is not known": (
        f"a = Pad (x, p) q = QuantizeLinear (a, s, u) {DQ} (q, s, z)",
        "what DequantizeLinear 'dq' makes of the Pad is not known",
    ),
}


@pytest.mark.parametrize(("front", "reason"), NOT_ABSORBED.values(), ids=NOT_ABSORBED)
def test_row_53_not_absorbed(front: str, reason: str) -> None:
    model = group(front, more="uint8 z2 = {10}, float small = {0.06}", inputs="uint8 u")
    if "10.7" in reason:
        reason = "the Pad writes 10.7 behind QuantizeLinear 'q' and DequantizeLinear 'dq'"
    assert refused(model, "absorb-pad").reason.startswith(reason)


def test_a_dynamic_zero_point_by_name() -> None:
    front = f"q = QuantizeLinear (x, s, u) a = Pad (q, p, u) {DQ} (a, s, u)"
    model = group(front, inputs="uint8 u")
    done = rewrite(model, passes=["absorb-pad"])
    assert done.changed


CHANNELS = "uint8[2] z = {117, 100}, float[2] s2 = {0.1, 0.2}"


def test_zero_points_per_channel_are_compared_per_channel() -> None:
    more = "float[2] s2 = {0.1, 0.2}, uint8[2] zz = {117, 100}, uint8[2] other = {117, 101}"
    pair = "a = Pad (x, p) q = QuantizeLinear (a, s2, zz) [dq] d = DequantizeLinear (q, s2, {})"
    after = same(group(pair.format("zz"), more=more), "absorb-pad")
    assert attributes(after) == {"strides": [1], "pads": [1, 1]}
    skip = refused(group(pair.format("other"), more=more), "absorb-pad")
    assert "one value per channel behind" in skip.reason


WIDE = CONV.format("pads = [1, 2]")


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


SIGNED = "int8 z = {-11}"


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


IN_GROUP = f"{IN} [dq] b = DequantizeLinear (q, s, z) d = Pad (b, p, s)"


def test_what_the_trap_says_of_onnxruntime(tmp_path: Path) -> None:
    """A Pad that onnxruntime does not fold leaves the convolution in floating point."""
    trapped, free = group(IN_GROUP), group(f"{IN} {DQ} (q, s, z)")
    for model, is_trapped in ((trapped, True), (free, False)):
        (found,) = [node for node in inspect(model).nodes if node.node == "op"]
        assert ("pad-in-quantised-group" in [trap.code for trap in found.traps]) == is_trapped
        assert ("QLinearConv" not in optimised_kinds(model, tmp_path)) == is_trapped
