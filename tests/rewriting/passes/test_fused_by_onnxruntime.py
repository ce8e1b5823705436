"""What onnxruntime's Pad fusion left alone before a rewrite, it must not fuse wrongly behind it."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.inliner
import pytest
from onnx import parser

from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import (
    NEGATIVE,
    X5,
    Array,
    by_onnxruntime,
    done,
    numbers,
    refused,
    tiny,
    values,
)
from tests.oracle.onnxruntime_levels import ran

ONE_EACH = "int64[6] p = {0, 0, 1, 0, 0, 1}"
SHARED = "a = Pad (x, p) m = {} (a) [op] c = Conv (a, w) y = Concat <axis = 2> (c, m)"
BEHIND_ANOTHER = "z = Pad (x, p) " + SHARED.replace("(x, p)", "(z, p)")
AVERAGE = '[op] y = AveragePool <kernel_shape = [2], count_include_pad = 1, auto_pad = "VALID"> (b)'
CASES = {
    "a max pool reads the Pad too": (SHARED.format("MaxPool <kernel_shape = [3]>"), NEGATIVE),
    "two Pads in a row": (f"a = Pad (x, p) b = Pad (a, p) {AVERAGE}", X5),
    "an average reads the Pad too": (
        SHARED.format("AveragePool <kernel_shape = [1]>"),
        X5,
    ),
    "an average behind two Pads reads the second too": (
        BEHIND_ANOTHER.format("AveragePool <kernel_shape = [2]>"),
        X5,
    ),
    "of which the first stays": (f"a = Pad (x, p) z = Relu (a) b = Pad (a, p) {AVERAGE}", X5),
}


@pytest.mark.part(2)
@pytest.mark.parametrize("rule", all_passes())
@pytest.mark.parametrize(("body", "x"), CASES.values(), ids=CASES)
def test_pads(body: str, x: Array, rule: str) -> None:
    model = tiny(body, f"float[1,1,{x.size}]", constants=ONE_EACH)
    assert by_onnxruntime(model, x, optimised=True) == values(model, x)
    after = rewrite(model, passes=[rule]).model
    assert isinstance(after, onnx.ModelProto)
    assert by_onnxruntime(after, x, optimised=True) == values(after, x) == values(model, x)


AVERAGES = {
    "as wide as its kernel": "kernel_shape = [1]",
    "as wide with its own pads": "kernel_shape = [2], pads = [1, 0], count_include_pad = 1",
    "a window that starts in the Pad": "kernel_shape = [2], strides = [3], ceil_mode = 1",
    "wider than the Pad": "kernel_shape = [2]",
    "protected by auto_pad": 'kernel_shape = [1], auto_pad = "VALID"',
}


@pytest.mark.parametrize("written", AVERAGES.values(), ids=AVERAGES)
def test_an_average_that_reads_the_pad_too(written: str) -> None:
    body = f"a = Pad (x, p) m = AveragePool <{written}> (a) [op] c = Conv (a, w) "
    model = tiny(body + "y = Concat <axis = 2> (c, m)", constants=ONE_EACH)
    found = done(model, "absorb-pad", nodes="op")
    assert not found.changed
    assert LEFT_ALONE in found.skips[0].skip.reason


LEFT_ALONE = "a pool reads the Pad too"
ONE_ZERO_EACH = "int64[6] p = {0,0,1,0,0,1}"
GUARDED = '<auto_pad="VALID", kernel_shape=[3]>'
GUARDS = "its auto_pad keeps onnxruntime from fusing the Pad in front of it wrongly"
COMPUTED = """
s = Shape(x) h = Gather(s, two) m = Mod(h, three) o = Concat<axis=0>(zeros, m, zeros, m)
t = Pad(x, o) [op] y = MaxPool<auto_pad="VALID", kernel_shape=[3]>(t)
"""
NUMBERS = "int64[1] two = {2}, int64[1] three = {3}, int64[2] zeros = {0,0}"


def test_an_identity_is_no_protection() -> None:
    model = tiny(
        f"t = Pad(x, p) u = Identity(t) [op] y = MaxPool {GUARDED} (u)",
        "float[1,1,4]",
        constants=ONE_ZERO_EACH,
    )
    assert refused(model, "explicit-pads").reason == GUARDS
    model.graph.node[-1].attribute.pop(0)
    right = by_onnxruntime(model, NEGATIVE)
    assert right == [0, -1, -1, 0]
    assert by_onnxruntime(model, NEGATIVE, optimised=True) != right


def test_a_function_is_no_protection() -> None:
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17, "local": 1]>'
        "outside (float[1,1,4] x) => (float[] y) <int64[6] p = {0,0,1,0,0,1}>"
        "{ t = Pad(x, p) y = local.Block(t) }"
        '<opset_import: ["": 17], domain: "local"> Block (t) => (y)'
        f"{{ [op] y = MaxPool {GUARDED} (t) }}"
    )
    assert by_onnxruntime(model, NEGATIVE, optimised=True) == [0, -1, -1, 0]
    assert refused(model, "explicit-pads").reason == GUARDS


def test_computed_pads_are_no_protection() -> None:
    model = tiny(COMPUTED, "float[1,1,4]", constants=NUMBERS)
    assert refused(model, "explicit-pads").reason == GUARDS


def test_pads_that_are_an_input_of_the_model_are_one() -> None:
    body = f"t = Pad(x, p) [op] y = MaxPool {GUARDED} (t)"
    model = tiny(body, "float[1,1,4]", inputs="int64[6] p")
    assert done(model, "explicit-pads").changed


def test_a_computed_pad_of_another_value_is_none_of_its_business() -> None:
    body = COMPUTED.replace("Pad(x, o)", "Pad(x, o, c)")
    model = tiny(body, "float[1,1,4]", constants=f"{NUMBERS}, float c = {{-1e9}}")
    assert done(model, "explicit-pads").changed


@pytest.mark.parametrize("between", ["t", "u"])
def test_a_pad_is_not_left_alone_with_a_pool_that_it_reaches(between: str) -> None:
    model = tiny(
        "t = Pad(x, p) u = Identity(t) [op] y = Conv<kernel_shape=[3]>(t, w) "
        f"z = AveragePool<kernel_shape=[2], pads=[1,0], count_include_pad=1>({between})",
        constants=ONE_ZERO_EACH,
    )
    model.graph.output.add().name = "z"
    done_ = rewrite(model, passes=["absorb-pad"], nodes="op")
    assert not done_.changed
    assert LEFT_ALONE in done_.skips[0].skip.reason


def test_floor_pool_does_not_make_a_fused_pad_reach_the_kernel() -> None:
    model = tiny(
        "t = Pad(x, p) "
        "[op] y = MaxPool<kernel_shape=[3], strides=[2], dilations=[2], ceil_mode=1>(t)",
        "uint8[1,1,4]",
        constants="int64[6] p = {0,0,0,0,0,2}",
        result="uint8[]",
    )
    assert "would fuse a Pad" in refused(model, "floor-pool").reason
    x = numbers(1, 2, 3, 4, dtype="uint8")
    assert by_onnxruntime(model, x) == by_onnxruntime(model, x, optimised=True) == [3, 3]


def test_a_pad_is_not_left_alone_with_a_max_pool_of_bytes_that_it_reaches() -> None:
    """0 is the lowest byte, so that fusing it is right, but its pads would reach the kernel."""
    model = tiny(
        "t = Pad(x, p) [op] y = MaxPool<kernel_shape=[2]>(t) "
        "z = MaxPool<kernel_shape=[2], pads=[0,1]>(t)",
        "uint8[1,1,5]",
        constants="int64[6] p = {0,0,0,0,0,1}",
        result="uint8[]",
    )
    model.graph.output.add().name = "z"
    done_ = rewrite(model, passes=["absorb-pad"], nodes="op")
    assert not done_.changed
    assert LEFT_ALONE in done_.skips[0].skip.reason


X = (-1 - np.random.default_rng(5).random((1, 1, 5, 5))).astype(np.float32)
ZEROS = "int64[8] p = {0,0,1,1,0,0,1,1}, int64[8] nhwc = {0,1,1,0,0,1,1,0}"
CONSTANTS = (
    "float one = {1}, float[1] zero = {0}, int64[4] ones = {1,1,1,1}, int64[8] none = "
    "{0,0,0,0,0,0,0,0}, int64[1] first = {0}, int64[1] far = {9223372036854775807}, "
    "float[1,1,3,3] w = {1,10,100,2,20,200,3,30,300}, bool yes = {1}"
)
BETWEEN = {
    "Identity": "u = Identity(t)",
    "Mul": "u = Mul(t, one)",
    "Mul from the left": "u = Mul(one, t)",
    "Add": "u = Add(zero, t)",
    "Sub": "u = Sub(t, zero)",
    "Div": "u = Div(t, one)",
    "Expand": "u = Expand(t, ones)",
    "Slice": "u = Slice(t, first, far, first)",
    "Transpose twice": "v = Transpose<perm=[0,2,1,3]>(t) u = Transpose<perm=[0,2,1,3]>(v)",
    "Pad of nothing": "u = Pad(t, none)",
    "a row": "v = Mul(t, one) s = Add(v, zero) u = Identity(s)",
}
PAD = "t = Pad(x, p)"
NHWC = "n = Transpose<perm=[0,2,3,1]>(x) q = Pad(n, nhwc)"
BACK = "u = Transpose<perm=[0,3,1,2]>(q)"


def model(body: str, results: str = "float[a,b,c,d] y", more: str = "") -> onnx.ModelProto:
    found: onnx.ModelProto = parser.parse_model(
        '<ir_version: 9, opset_import: ["": 17, "f": 1]>\n'
        f"g (float[1,1,5,5] x) => ({results}) <{ZEROS}, {CONSTANTS}> {{ {body} }}\n{more}"
    )
    return found


def assert_kept(before: onnx.ModelProto, rule: str, nodes: str | None = None) -> str:
    """The outputs stay, optimised or not; the result is why the pass skipped, if it did."""
    done = rewrite(before, passes=[rule], nodes=nodes)
    assert isinstance(done.model, onnx.ModelProto)
    for number in range(len(before.graph.output)):
        results = []
        for one in (before, done.model):
            alone = onnx.ModelProto()
            alone.CopyFrom(one)
            outputs = alone.graph.output
            outputs.insert(0, outputs.pop(number))
            results += [ran(alone, {"x": X}, optimised=optimised) for optimised in (False, True)]
        wanted, *others = results
        assert not isinstance(wanted, str), wanted
        for found in others:
            assert not isinstance(found, str), found
            np.testing.assert_allclose(found, wanted, rtol=1e-6)
    return "" if done.changed or not done.skips else done.skips[0].skip.reason


VALID = '[op] y = MaxPool<kernel_shape=[3,3], auto_pad="VALID">(u)'
ITS = "its auto_pad keeps onnxruntime from fusing the Pad in front of it wrongly"


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_what_vanishes_is_no_protection_for_a_pool(between: str) -> None:
    assert assert_kept(model(f"{PAD} {between} {VALID}"), "explicit-pads") == ITS


def test_a_cast_is_none_either() -> None:
    body = f"d = Cast<to=11>(x) t = Pad(d, p) u = Cast<to=1>(t) {VALID}"
    assert assert_kept(model(body), "explicit-pads") == ITS


def test_nor_are_the_transposes_around_a_pad_of_channels_last() -> None:
    assert assert_kept(model(f"{NHWC} {BACK} {VALID}"), "explicit-pads") == ITS
    both = f"{NHWC.replace('(x)', '(r)')} {BACK} {VALID}"
    assert assert_kept(model(f"i = Sigmoid(x) r = Neg(i) {both}"), "explicit-pads") == ITS


def test_data_that_is_never_negative_needs_no_protection() -> None:
    """Fused or not, the pool gives the same."""
    body = f"r = Sigmoid(x) {NHWC.replace('(x)', '(r)')} {BACK} {VALID}"
    assert not assert_kept(model(body), "explicit-pads")
    wide = body.replace("kernel_shape=[3,3]", "kernel_shape=[1,1]")
    assert assert_kept(model(wide), "explicit-pads") == ITS


BRANCH = "<%s = %s () => (float[a,b,c,d] z) { z = MaxPool<kernel_shape=[3,3]%s>(t) }"
TWO = "float[a,b,c,d] y, float[e,f,g,h] y2"
CONV = "[op] y2 = Conv(t, w)"


def test_a_branch_of_a_constant_condition_is_none() -> None:
    shield = ', auto_pad="VALID"'
    branches = ", ".join(
        BRANCH[1:] % (name, name, shield) for name in ("then_branch", "else_branch")
    )
    body = f"{PAD} y = If(yes)<{branches}>"
    assert assert_kept(model(body), "explicit-pads") == ITS
    bare = body.replace(shield, "")
    assert LEFT_ALONE in assert_kept(model(f"{bare} {CONV}", TWO), "absorb-pad")


POOL = "y = MaxPool<kernel_shape=[3,3]>(u)"
MEAN = "y = AveragePool<kernel_shape=[2,2], pads=[1,1,1,1], count_include_pad=1>(u)"


@pytest.mark.parametrize("pool", [POOL, MEAN])
@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_a_pad_is_not_left_alone_with_a_pool_behind_it(between: str, pool: str) -> None:
    before = model(f"{PAD} {between} {pool} {CONV}", TWO)
    reason = assert_kept(before, "absorb-pad", nodes="op")
    assert LEFT_ALONE in reason


def test_nor_with_further_pads_and_a_pool() -> None:
    two = model(f"{PAD} v = Identity(t) u = Pad(v, p) {POOL.replace('3,3', '5,5')} {CONV}", TWO)
    assert LEFT_ALONE in assert_kept(two, "absorb-pad", nodes="op")
    mean = "y = AveragePool<kernel_shape=[2,2]>(u)"
    two = model(f"{PAD} u = Pad(t, p) {mean} {CONV}", TWO)
    assert LEFT_ALONE in assert_kept(two, "absorb-pad", nodes="op")


def test_nor_with_a_pool_behind_transposes() -> None:
    body = f"{NHWC} {BACK} {POOL} v = Transpose<perm=[0,3,1,2]>(q) [op] y2 = Conv(v, w)"
    assert LEFT_ALONE in assert_kept(model(body, TWO), "absorb-pad", nodes="op")


@pytest.mark.parametrize("through", ["", "k = Identity(t)", "k = Mul(t, one)"])
def test_nor_with_a_convolution_whose_weight_it_pads(through: str) -> None:
    weight = "k" if through else "t"
    wide = "d = Concat<axis=2>(x, x) e = Concat<axis=3>(d, d)"
    before = model(f"{PAD} {through} {wide} y = Conv(e, {weight}) {CONV}", TWO)
    reason = assert_kept(before, "absorb-pad", nodes="op")
    assert LEFT_ALONE in reason


def test_nor_with_its_own_weight() -> None:
    reason = assert_kept(model(f"{PAD} [op] y = Conv(t, t)"), "absorb-pad")
    assert LEFT_ALONE in reason


def test_the_padded_weight_of_a_convolution_may_come_through_others() -> None:
    wide = "d = Concat<axis=2>(x, x) e = Concat<axis=3>(d, d)"
    before = model(f'{PAD} {wide} k = Mul(one, t) y = Conv<auto_pad="VALID">(e, k)')
    assert "fusing the Pad" in assert_kept(before, "explicit-pads")


FUNCTION = '<domain: "f", opset_import: ["": 17]> block (t) => (y) { %s }'


def test_nor_with_a_pool_inside_or_behind_a_function() -> None:
    inside = model(f"{PAD} y = f.block(t) {CONV}", TWO, FUNCTION % POOL.replace("(u)", "(t)"))
    assert LEFT_ALONE in assert_kept(inside, "absorb-pad", nodes="op")
    pads = "p = Constant<value = int64[8] {0,0,1,1,0,0,1,1}>() t = Pad(x, p) [op] z = Conv(t, w)"
    behind = FUNCTION.replace("(t) => (y)", "(x, w) => (t, z)") % pads
    before = model(f"u, y2 = f.block(x, w) {POOL}", TWO, behind)
    assert LEFT_ALONE in assert_kept(before, "absorb-pad")


def test_a_pad_of_nothing_does_not_hide_another() -> None:
    """Its value is why onnxruntime does not fuse the pool with what stands in front."""
    body = f"{PAD} u = Pad(t, none, one) [op] {POOL}"
    assert "would fuse a Pad" in assert_kept(model(body), "absorb-pad")


def test_axes_that_keep_a_pad_from_being_fused_stay() -> None:
    axes = "axes = Constant<value = int64[2] {2,3}>() c = Constant<value = int64[4] {1,1,1,1}>()"
    before = model(f"{axes} t = Pad(x, c, , axes) u = Mul(t, one) {POOL}")
    before.opset_import[0].version = 18
    assert assert_kept(before, "all-axes")
    for rule in ("plain-pad", "static-pads"):
        assert_kept(before, rule)


@pytest.mark.parametrize("counts", [0, 1])
@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_a_new_pad_behind_a_pad_that_is_seen_through(between: str, counts: int) -> None:
    """onnxruntime would fuse both into the average, beyond its kernel."""
    mean = f'AveragePool<kernel_shape=[2,2], auto_pad="SAME_UPPER", count_include_pad={counts}>(u)'
    before = model(f"{PAD} {between} [op] y = {mean}")
    assert not assert_kept(before, "counted-padding" if counts else "uncounted-padding")


@pytest.mark.parametrize(
    ("rule", "ends", "own"),
    [
        ("symmetric-pads-by-slice", 0, "kernel_shape=[3,3], pads=[0,0,2,0]"),
        ("floor-pool", 1, "kernel_shape=[3,3], strides=[3,3], ceil_mode=1"),
    ],
)
def test_what_onnxruntime_fuses_wrongly_it_must_still_load(rule: str, ends: int, own: str) -> None:
    before = model(f"t = Pad(x, front) [op] y = MaxPool<{own}>(t)")
    front = np.asarray([0, 0, 1, 1, 0, 0, ends, ends])
    before.graph.initializer.append(onnx.numpy_helper.from_array(front, "front"))
    assert not isinstance(ran(before, {"x": X}, optimised=True), str)
    found = rewrite(before, passes=[rule]).model
    assert isinstance(found, onnx.ModelProto)
    assert not isinstance(ran(found, {"x": X}, optimised=True), str)


def pools(op: str, more: str, cells: int) -> onnx.ModelProto:
    """A Pad of zeros, read by two pools that mean the same; the second leaves its pads out."""
    return parser.parse_model(f"""
    <ir_version: 8, opset_import: ["" : 17]>
    g (float[1, 1, 9] x) => (float[1, 1, ?] y, float[1, 1, ?] z)
    <int64[6] pads = {{0, 0, {cells}, 0, 0, 0}}, float zero = {{0}}> {{
        p = Pad <mode = "constant"> (x, pads, zero)
        [one] y = {op} <kernel_shape = [3], strides = [1], pads = [0, 0]{more}> (p)
        [two] z = {op} <kernel_shape = [3], strides = [1]{more}> (p)
    }}
    """)


@pytest.mark.parametrize(
    ("op", "more", "cells", "changed"),
    [
        pytest.param("AveragePool", ", count_include_pad = 1", 3, False, id="reaches the kernel"),
        pytest.param("AveragePool", ", count_include_pad = 1", 2, True, id="fits"),
        pytest.param("MaxPool", "", 1, False, id="pads with something else than 0"),
        pytest.param("LpPool", "", 3, True, id="is never fused"),
    ],
)
def test_attributes_are_written_where_equal_pools_do_no_harm(
    op: str, more: str, cells: int, changed: bool
) -> None:
    done = rewrite(pools(op, more, cells), passes="written-defaults", nodes="two")
    assert done.changed is changed
    if not changed:
        assert "onnxruntime would fuse" in done.skips[0].skip.reason


ALIKE_BEHIND = """<ir_version: 8, opset_import: ["" : 22]>
g (float[1,2,3,4] x) => (float[a,b,c,d] y, float[e,f,g,h] z)
    <int64[4] p = {2, 0, 1, 1}, float v = {0}, int64[2] axes = {2, 3}> {
    t = Pad(x, p, v, axes)
    y = AveragePool<ceil_mode=1, kernel_shape=[2, 1], pads=[1, 0, 0, 0], strides=[1, 1]>(t)
    z = AveragePool<kernel_shape=[2, 1], pads=[1, 0, 0, 0], strides=[1, 1]>(t)
}"""


@pytest.mark.parametrize("first", ["uncounted-padding", "all-axes"])
def test_pads_that_onnxruntime_makes_one_of_are_no_two_readers(first: str) -> None:
    """Two pools become alike, Pads in front included; then the Pad before them has one reader."""
    (second,) = {"uncounted-padding", "all-axes"} - {first}
    model = parser.parse_model(ALIKE_BEHIND)
    done = rewrite(model, passes=[first, second])
    assert isinstance(done.model, onnx.ModelProto)
    x = -np.arange(1, 25, dtype=np.float32).reshape(1, 2, 3, 4)
    wanted = ran(model, {"x": x}, optimised=False)
    found = ran(done.model, {"x": x}, optimised=True)
    assert not isinstance(found, str), found
    assert not isinstance(wanted, str)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_a_pool_does_not_become_the_equal_of_another_behind_a_pad_that_reaches_it() -> None:
    body = (
        "t = Pad (x, p) [op] y = MaxPool <kernel_shape = [1], strides = [3], ceil_mode = 1> (t) "
        "z = MaxPool <kernel_shape = [1], strides = [3]> (t)"
    )
    model = tiny(body, "float[1,1,7]", constants="int64[6] p = {0, 0, 1, 0, 0, 2}")
    assert "onnxruntime would fuse" in refused(model, "floor-pool").reason


TWO_IN_A_ROW = """<ir_version: 11, opset_import: ["" : 21]>
g (uint8[1,2,7,4] x) => (uint8[a,b,c,d] y, uint8[e,f,g,h] z)
    <int64[8] p = {0, 0, 0, 2, 0, 0, 2, 1}, int64[8] q = {0, 0, 0, 1, 0, 0, 1, 1}> {
    t = Pad(x, p)
    %s
}"""
BEHIND_TWO = 's = Pad(t, q) y = MaxPool<kernel_shape=[3, 3], auto_pad="VALID">(s)'
BEHIND_ONE = "z = MaxPool<kernel_shape=[3, 3]>(t)"


@pytest.mark.parametrize("nodes", [(BEHIND_TWO, BEHIND_ONE), (BEHIND_ONE, BEHIND_TWO)])
def test_one_pool_does_not_leave_a_pad_to_another_that_starts_to_read_it(
    nodes: tuple[str, str],
) -> None:
    model = parser.parse_model(TWO_IN_A_ROW % " ".join(nodes))
    rewritten = rewrite(model, passes="absorb-pad")
    assert isinstance(rewritten.model, onnx.ModelProto)
    x = np.arange(56, dtype=np.uint8).reshape(1, 2, 7, 4)
    wanted = ran(model, {"x": x}, optimised=False)
    found = ran(rewritten.model, {"x": x}, optimised=True)
    assert not isinstance(found, str), found
    np.testing.assert_array_equal(found, wanted)


def test_a_pad_of_no_cells_stays_where_it_keeps_another_from_a_pool() -> None:
    """onnxruntime removes the Identity in its place, and fuses the Pad in front of that."""
    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 13]>
g (uint8[1,1,4,4] x) => (uint8[a,b,c,d] y)
    <int64[8] p = {0, 0, 0, 1, 0, 0, 0, 1}, int64[8] q = {0, 0, 0, 0, 0, 0, 0, 0}> {
    t = Pad(x, p)
    u = Pad<mode="edge">(t, q)
    y = MaxPool<kernel_shape=[2, 1], strides=[3, 2], pads=[1, 0, 0, 0], ceil_mode=1>(u)
}""")
    rewritten = rewrite(model, passes="plain-pad")
    assert not rewritten.changed
    assert "onnxruntime" in rewritten.skips[0].skip.reason


def test_two_pools_do_not_become_equal_in_one_round() -> None:
    body = (
        't = Pad (x, p) [one] y = MaxPool <kernel_shape = [2], auto_pad = "SAME_LOWER", '
        'ceil_mode = 1> (t) [two] z = MaxPool <kernel_shape = [2], auto_pad = "SAME_LOWER"> (t)'
    )
    model = tiny(body, "float[1,1,7]", constants="int64[6] p = {0, 0, 2, 0, 0, 3}")
    assert not rewrite(model, passes=["symmetric-pads-by-slice"]).changed


CALLED_TWICE = (
    '<ir_version: 8, opset_import: ["": 18, "local": 1]>'
    "outside (float[1,1,2] x) => (float[] y, float[] z) <int64[6] p = {0,0,2,0,0,0}>"
    "{ t = Pad(x, p) %s }"
    '<opset_import: ["": 18], domain: "local"> Block (t) => (u)'
    '{ [op] u = %s <kernel_shape = [4], ceil_mode = 1, auto_pad = "SAME_LOWER"> (t) }'
)
BEHIND_CALLS = {
    "two results": "y = local.Block(t) z = local.Block(t)",
    "one result": "y = local.Block(t) b = local.Block(t) z = Neg(b)",
    "the other result": "b = local.Block(t) z = local.Block(t) y = Neg(b)",
    "none": "a = local.Block(t) b = local.Block(t) y = Abs(a) z = Neg(b)",
    "calls of another": "y = local.Block(t) z = Neg(t)",
}


@pytest.mark.part(7)
@pytest.mark.parametrize("rule", all_passes())
@pytest.mark.parametrize("pool", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("behind", BEHIND_CALLS)
@pytest.mark.parametrize("inlined", [False, True])
def test_readers_that_onnxruntime_makes_one_of(
    behind: str, pool: str, rule: str, *, inlined: bool
) -> None:
    """Calls of one function are equal; what a pass writes behind the pool no longer parts them."""
    model = parser.parse_model(CALLED_TWICE % (BEHIND_CALLS[behind], pool))
    if inlined:
        model = onnx.inliner.inline_local_functions(model)
    x = np.array([[[-3.0, -2.0]]], np.float32)
    right = ran(model, {"x": x}, optimised=True)
    after = rewrite(model, passes=[rule]).model
    assert isinstance(after, onnx.ModelProto)
    found = ran(after, {"x": x}, optimised=True)
    assert not isinstance(right, str)
    assert not isinstance(found, str), found
    np.testing.assert_allclose(found, right, rtol=1e-6)
