"""Pads as Concat, and over all axes."""

from __future__ import annotations

import math

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest

from onnxpad.model.editing.session import EditSession
from onnxpad.padding.forms import Form, forms_of
from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import (
    X5,
    attributes,
    by_onnxruntime,
    done,
    kinds,
    refused,
    tiny,
    values,
)
from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import ran
from tests.rewriting.passes.pad_models import (
    DTYPES,
    OPSETS,
    PadCase,
    assert_by_onnxruntime,
    assert_equal,
    operators,
    rewritten,
)

PASSES = ("spatial-pads", "all-axes")
GONE = {
    "spatial-pads": Form.OUTER_AXES,
    "all-axes": Form.PAD_AXES,
}


def drawn(rng: np.random.Generator) -> PadCase:
    rank, opset = int(rng.integers(1, 6)), int(rng.choice(OPSETS))
    shape = tuple(rng.integers(1, 5, rank).tolist())
    axes = None
    if opset >= 18 and rng.integers(2):
        places = rng.permutation(rank)[: rng.integers(1, rank + 1)]
        axes = tuple(int(place - rank * rng.integers(2)) for place in places)
    count = 2 * (rank if axes is None else len(axes))
    pads = tuple((rng.integers(0, 4, count) * rng.integers(0, 2, count)).tolist())
    dtype = "float32" if opset < 13 else str(rng.choice(DTYPES))
    values = [None, 0.0, 1.0] if dtype == "bool" else [None, 0.0, -0.0, 5.0, 7.0]
    if dtype.startswith("float"):
        values += [-math.inf, math.nan, -1.5]
    value = values[rng.integers(len(values))]
    shown: list[str | int] = [
        f"d{axis}" if rng.integers(3) == 0 else size for axis, size in enumerate(shape)
    ]
    return PadCase(shape, pads, "constant", value, axes, opset, dtype, tuple(shown))


def forms(model: onnx.ModelProto) -> frozenset[Form]:
    return frozenset().union(*(forms_of(site.chain) for site in EditSession(model).sites_now()))


@pytest.mark.parametrize("rule", PASSES)
def test_constant_pads(rule: str) -> None:
    rng = np.random.default_rng(PASSES.index(rule))
    rewrites = 0
    for _ in range(160):
        case = drawn(rng)
        found, model = rewritten(case, rule)
        had = GONE[rule] in forms(case.model())
        early = case.opset < 4 or (case.opset < 8 and case.shown != case.shape)
        assert found.changed == (had and (not early or rule == "all-axes")), case
        assert bool(found.skips) == (had and not found.changed), case
        if not found.changed:
            continue
        wanted = case.wanted()
        assert wanted is not None
        assert_equal(run_model(model, {"x": case.x})["y"], wanted, case)
        assert_by_onnxruntime(model, case, wanted)
        assert GONE[rule] not in forms(model)
        assert not rewrite(model, passes=[rule]).changed
        rewrites += 1
    assert rewrites > 24


def test_every_constant_pad_is_a_concat() -> None:
    rng = np.random.default_rng(1)
    for _ in range(160):
        case = drawn(rng)
        if case.opset < 8:
            continue
        found, model = rewritten(case, "concat-pads")
        assert found.changed, case
        wanted = case.wanted()
        assert wanted is not None
        assert_equal(run_model(model, {"x": case.x})["y"], wanted, case)
        assert_by_onnxruntime(model, case, wanted)
        assert "Pad" not in operators(model)


def test_all_of_them_leave_plain_pads() -> None:
    rng = np.random.default_rng(9)
    for _ in range(150):
        case = drawn(rng)
        if case.opset < 10:
            continue
        _, model = rewritten(case, "plain-pad", *rng.permutation(PASSES).tolist())
        wanted = case.wanted()
        assert wanted is not None
        assert_by_onnxruntime(model, case, wanted)
        assert not forms(model) & set(GONE.values())


@pytest.mark.parametrize("rule", ["spatial-pads", "concat-pads"])
@pytest.mark.parametrize("opset", [8, 11, 18])
def test_symbolic_sizes(rule: str, opset: int) -> None:
    """One rewritten model fits every size, none among them."""
    pads = (1, 0, 2, 0, 3, 1)
    open_sizes = PadCase((2, 2, 2), pads, value=4.0, opset=opset, shown=("N", 2, "W"))
    found, model = rewritten(open_sizes, rule)
    assert found.changed
    assert operators(model).count("Expand") > 0
    for batch, size in ((1, 1), (2, 3), (3, 2), (1, 6), (4, 5), (2, 8), (2, 0)):
        case = PadCase((batch, 2, size), pads, value=4.0, opset=opset)
        wanted = case.wanted()
        assert wanted is not None
        assert_by_onnxruntime(model, case, wanted)
        assert_equal(run_model(model, {"x": case.x})["y"], wanted, case)


def test_large_blocks_are_not_written_into_the_file() -> None:
    case = PadCase((1, 4, 300, 300), (0, 1, 0, 0, 0, 2, 0, 0), opset=13)
    _, model = rewritten(case, "spatial-pads")
    assert operators(model) == ["Expand", "Expand", "Concat"]
    assert model.ByteSize() < 2000
    wanted = case.wanted()
    assert wanted is not None
    assert_by_onnxruntime(model, case, wanted)


@pytest.mark.parametrize("rule", ["spatial-pads", "concat-pads"])
def test_a_value_that_is_an_input(rule: str) -> None:
    model = tiny(
        "y = Pad(x, p, c)",
        "uint8[1,2,3]",
        constants="int64[6] p = {0,1,2,0,0,1}",
        inputs="uint8 c",
        result="uint8[]",
    )
    after = done(model, rule).model
    assert isinstance(after, onnx.ModelProto)
    x, c = np.arange(6, dtype=np.uint8).reshape(1, 2, 3), np.array(117, np.uint8)
    wanted = np.pad(x, [(0, 0), (1, 0), (2, 1)], constant_values=117)
    np.testing.assert_array_equal(run_model(after, {"x": x, "c": c})["y"], wanted)


@pytest.mark.parametrize("rule", ["spatial-pads", "concat-pads"])
@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (PadCase((1, 2, 5), (0, 1, -1, 0, 0, 0), value=5.0), "it crops"),
        (PadCase((1, 2, 5), (0, 1, 0, 0, 0, 0), value=5.0, opset=2), "no Concat of opset 2"),
        (
            PadCase((1, 2, 5), (0, 1, 0, 0, 0, 0), value=5.0, opset=7, shown=("N", 2, 5)),
            "opset 7 has no Expand",
        ),
    ],
    ids=["crop", "opset", "sizes"],
)
def test_refusals(rule: str, case: PadCase, reason: str) -> None:
    found, _ = rewritten(case, rule)
    (refusal,) = found.skips
    assert reason in refusal.skip.reason


def test_refusals_of_one_pass() -> None:
    mirror, _ = rewritten(PadCase((1, 3, 5), (0, 1, 0, 0, 0, 0), "reflect"), "spatial-pads")
    assert mirror.skips[0].skip.hints == ("--pass plain-pad",)
    unknown = tiny(
        "q = com.microsoft.Unknown(x) y = Pad(q, p, c)",
        constants="int64[6] p = {0,0,1,0,0,1}, float c = {5}",
    )
    assert "the number of axes of its input is not known" in refused(unknown, "concat-pads").reason


def test_row_59_channels_and_axes() -> None:
    """The channel axis goes into Concat; axes may be negative and in any order."""
    model = tiny("y = Pad(x, p)", constants="int64[6] p = {0,1,0,0,0,0}")
    after = done(model, "spatial-pads").model
    assert isinstance(after, onnx.ModelProto)
    assert kinds(after) == ["Concat"]
    assert values(after, X5) == [0, 0, 0, 0, 0, 1, 2, 3, 4, 5]
    last = PadCase((1, 1, 2, 3), (1, 2), axes=(-1,))
    _, model = rewritten(last, "all-axes")
    assert onnx.numpy_helper.to_array(model.graph.initializer[-1]).tolist() == [
        0,
        0,
        0,
        1,
        0,
        0,
        0,
        2,
    ]
    turned = PadCase((1, 1, 2, 3), (1, 2, 3, 4), axes=(3, 2))
    _, model = rewritten(turned, "all-axes")
    assert onnx.numpy_helper.to_array(model.graph.initializer[-1]).tolist() == [
        0,
        0,
        2,
        1,
        0,
        0,
        4,
        3,
    ]
    assert len(model.graph.initializer) == 1
    assert list(model.graph.node[0].input) == ["x", "op/pads"]


def test_channels_last_are_channels() -> None:
    """What reads the Pad says which axis holds the channels."""
    text = "p = Pad(x, pads) t = Transpose<perm=[0,3,1,2]>(p) y = Relu(t)"
    spatial = tiny(text, "float[1,2,3,4]", constants="int64[8] pads = {0,1,0,0,0,0,2,0}")
    assert not done(spatial, "spatial-pads").skips
    assert not done(spatial, "spatial-pads").changed
    channels = tiny(text, "float[1,2,3,4]", constants="int64[8] pads = {0,1,0,1,0,0,2,0}")
    after = done(channels, "spatial-pads").model
    assert isinstance(after, onnx.ModelProto)
    assert kinds(after) == ["Concat", "Pad", "Transpose", "Relu"]
    x = np.arange(-12, 12, dtype=np.float32).reshape(1, 2, 3, 4)
    assert by_onnxruntime(after, x) == by_onnxruntime(channels, x)


def test_a_concat_behind_the_pad_does_not_hide_where_channels_are() -> None:
    text = "p = Pad(x, pads) t = Transpose<perm=[0,2,1]>(p) y = AveragePool<kernel_shape=[1]>(t)"
    batch = tiny(text, "float[1,1,2]", constants="int64[6] pads = {0,1,0,1,0,0}")
    once = done(batch, "spatial-pads").model
    assert isinstance(once, onnx.ModelProto)
    assert kinds(once) == ["Pad", "Concat", "Transpose", "AveragePool"]
    assert not done(once, "spatial-pads").changed


def test_two_pads_in_a_row_agree_on_where_channels_are() -> None:
    text = "p = Pad(x, ends) q = Pad(p, pads) t = Transpose<perm=[0,2,1]>(q) y = Relu(t)"
    held = "int64[6] ends = {0,0,0,0,0,1}, int64[6] pads = {0,0,1,0,0,0}"
    once = done(tiny(text, "float[1,2,1]", constants=held), "spatial-pads").model
    assert isinstance(once, onnx.ModelProto)
    assert kinds(once) == ["Concat", "Concat", "Transpose", "Relu"]
    assert not done(once, "spatial-pads").changed


def test_no_pad_of_zero_is_left_for_onnxruntime_to_fuse_wrongly() -> None:
    pool = "y = MaxPool<kernel_shape=[2]>(p)"
    outer = tiny(f"p = Pad(x, pads) {pool}", constants="int64[6] pads = {0,1,1,0,0,0}")
    after = done(outer, "spatial-pads").model
    assert isinstance(after, onnx.ModelProto)
    assert kinds(after) == ["Pad", "Concat", "MaxPool"]
    wanted = by_onnxruntime(outer, -X5)
    assert by_onnxruntime(after, -X5) == by_onnxruntime(after, -X5, optimised=True) == wanted
    axes = "int64[2] pads = {1, 0}, int64[1] axes = {2}"
    listed = tiny(f"p = Pad(x, pads, , axes) {pool}", constants=axes, opset=18)
    skip = refused(listed, "all-axes")
    assert "keep onnxruntime from fusing it" in skip.reason
    fine = tiny(
        "p = Pad(x, pads, , axes) y = AveragePool<kernel_shape=[2]>(p)", constants=axes, opset=18
    )
    kept = done(fine, "all-axes").model
    assert isinstance(kept, onnx.ModelProto)
    assert by_onnxruntime(kept, X5, optimised=True) == by_onnxruntime(fine, X5)


def test_a_graph_of_graphsurgeon() -> None:
    case = PadCase((1, 2, 5), (1, 2, 1, 0), axes=(1, -1), value=5.0)
    for rule in PASSES:
        graph = gs.import_onnx(case.model())
        assert rewrite(graph, passes=[rule]).changed
        wanted = case.wanted()
        assert wanted is not None
        assert_by_onnxruntime(gs.export_onnx(graph), case, wanted)
        assert all(len(node.inputs) < 4 for node in graph.nodes)


def test_the_pad_keeps_its_name_and_its_value() -> None:
    case = PadCase((1, 2, 5), (1, 2, 1, 0), axes=(1, -1), value=5.0)
    _, model = rewritten(case, "spatial-pads")
    assert attributes(model, "op") == {"mode": "constant"}
    (pad,) = [node for node in model.graph.node if node.op_type == "Pad"]
    assert list(pad.input)[2] == "value"


@pytest.mark.parametrize("size", ["2", "n"])
@pytest.mark.parametrize("rule", ["concat-pads", "spatial-pads"])
def test_texts_are_padded_with_empty_ones(rule: str, size: str) -> None:
    """No Pad of onnxruntime's knows texts, but its Concat and Expand do."""
    model = tiny(
        "y = Pad(x, p)",
        f"string[1,{size},2]",
        constants="int64[6] p = {0,1,0,0,2,0}",
        result="string[1,m,2]",
    )
    after = done(model, rule).model
    assert isinstance(after, onnx.ModelProto)
    onnx.checker.check_model(after, full_check=True)
    x = np.array([[["a", "b"], ["c", "d"]]], object)
    found = ran(after, {"x": x}, optimised=False)
    assert not isinstance(found, str), found
    assert found.ravel().tolist() == ["", "", "a", "b", "c", "d", *[""] * 4]
