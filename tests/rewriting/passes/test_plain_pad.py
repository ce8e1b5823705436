"""plain-pad: modes and crops as Slice and Concat."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest

from onnxpad.rewriting.passes import find_pass
from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import X5, by_onnxruntime, done, kinds, tiny, values
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

MODES = ("constant", "reflect", "edge", "wrap")
SIDES = range(-3, 5)


def assert_lawful(case: PadCase, *, by_onnxruntime: bool = True) -> bool:
    """Whether it was rewritten: exactly, and so that nothing is left that mirrors or crops."""
    found, model = rewritten(case, "plain-pad")
    wanted = case.wanted()
    plain = case.mode == "constant" and min(case.pads) >= 0
    early = case.mode != "constant" and case.opset < 4 and max(case.pads) > 0
    assert found.changed == (wanted is not None and not plain and not early), case
    if wanted is None or early:
        assert found.skips
    if not found.changed or wanted is None:
        return False
    assert_equal(run_model(model, {"x": case.x})["y"], wanted, case)
    if by_onnxruntime:
        assert_by_onnxruntime(model, case, wanted)
    left = [node for node in model.graph.node if node.op_type == "Pad"]
    assert not left or (case.mode == "constant" and max(case.pads) > 0)
    assert not rewrite(model, passes=["plain-pad"]).changed
    return True


def legal(case: PadCase) -> bool:
    """Whether onnxruntime has the type at this opset; wrap is run by it at every opset."""
    if case.opset < 11:
        return case.dtype in ("float32", "float64")
    return case.dtype != "bool" or case.opset >= 13


@pytest.mark.parametrize("mode", MODES)
def test_one_axis(mode: str) -> None:
    rewrites, rng = 0, np.random.default_rng(5)
    for turn, (begin, end, size) in enumerate(product(SIDES, SIDES, range(1, 7))):
        opset, drawn = int(rng.choice(OPSETS)), str(rng.choice(DTYPES))
        value = 1.0 if turn % 5 == 0 and mode == "constant" else None
        case = PadCase((size,), (begin, end), mode, value, opset=opset, dtype=drawn)
        if not legal(case):
            case = PadCase((size,), (begin, end), mode, value, opset=opset)
        wrap_before_its_time = mode == "wrap" and opset < 18
        rewrites += assert_lawful(case, by_onnxruntime=turn % 3 == 0 and not wrap_before_its_time)
    assert rewrites > 120


def drawn(rng: np.random.Generator, mode: str) -> PadCase:
    rank, opset = int(rng.integers(1, 5)), int(rng.choice(OPSETS))
    shape = tuple(rng.integers(1, 6, rank).tolist())
    axes = None
    if opset >= 18 and rng.integers(2):
        places = rng.permutation(rank)[: rng.integers(1, rank + 1)]
        axes = tuple(int(place - rank * rng.integers(2)) for place in places)
    count = 2 * (rank if axes is None else len(axes))
    sides = rng.integers(-2, 4, count) * (rng.integers(3, size=count) > 0)
    dtype = "float32" if opset < 13 else str(rng.choice(DTYPES))
    value = 1.0 if mode == "constant" and rng.integers(2) else None
    return PadCase(shape, tuple(sides.tolist()), mode, value, axes, opset, dtype)


@pytest.mark.parametrize("mode", MODES[1:3])
def test_axes_without_cells(mode: str) -> None:
    """An empty tensor stays one: only an axis that is itself mirrored needs cells."""
    for shape in ((0, 3), (3, 0), (0, 0), (2, 0, 3)):
        for pads in product((-1, 0, 1), repeat=2 * len(shape)):
            case = PadCase(shape, pads, mode)
            sides = zip(shape, pads[: len(shape)], pads[len(shape) :], strict=True)
            left = [size + min(0, begin) + min(0, end) for size, begin, end in sides]
            widest = [max(0, *pads[axis :: len(shape)]) for axis in range(len(shape))]
            nearest = mode == "reflect"
            if min(left) < 0 or any(
                w and n < w + nearest for n, w in zip(left, widest, strict=True)
            ):
                continue
            found, model = rewritten(case, "plain-pad")
            original = ran(case.model(), {"x": case.x}, optimised=False)
            assert found.changed, case
            if not isinstance(original, str):
                assert_by_onnxruntime(model, case, original)


@pytest.mark.parametrize("mode", MODES)
def test_several_axes(mode: str) -> None:
    rng = np.random.default_rng(MODES.index(mode))
    cases = [drawn(rng, mode) for _ in range(250)]
    rewrites = [
        assert_lawful(case, by_onnxruntime=mode != "wrap" or case.opset >= 18) for case in cases
    ]
    assert sum(rewrites) > 60


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("opset", [9, 11, 21])
def test_symbolic_sizes(mode: str, opset: int) -> None:
    """One rewritten model fits every size for which the Pad has a meaning."""
    if mode == "wrap" and opset < 18:
        pytest.skip("wrap came with opset 19")
    for pads in ((0, 1, 0, 1), (0, 2, 0, 1), (0, -1, 0, 2), (0, 3, 0, -2), (0, 0, 0, 1)):
        open_sizes = PadCase((2, 8), pads, mode, opset=opset, shown=("N", "W"))
        if mode == "constant" and min(pads) >= 0:
            continue
        facts: dict[str, int | str] | None = {"W": "%2==0"} if max(pads) > 1 else None
        found, model = rewritten(open_sizes, "plain-pad", dims=facts)
        if mode == "wrap" and max(pads) > 2:
            assert not found.changed
            continue
        if mode == "wrap" and min(pads) < 0:
            assert "needs the size of axis 1, which is 'W-1'" in found.skips[0].skip.reason
            continue
        assert found.changed, found.skips
        for size in (2, 3, 4, 5, 6, 7, 8, 9):
            case = PadCase((2, size), pads, mode, opset=opset, shown=("N", "W"))
            wanted = case.wanted()
            if wanted is not None:
                assert_by_onnxruntime(model, case, wanted)
                assert_equal(run_model(model, {"x": case.x})["y"], wanted, case)


@pytest.mark.parametrize("opset", [4, 10, 18])
@pytest.mark.parametrize(("begin", "end"), [(8, 9), (9, 10), (12, 11), (20, 0), (0, 20)])
def test_wide_reflections_run_backwards(opset: int, begin: int, end: int) -> None:
    for shown in ((21,), ("W",)):
        case = PadCase((21,), (begin, end), "reflect", opset=opset, shown=shown)
        found, model = rewritten(case, "plain-pad")
        wanted = case.wanted()
        assert wanted is not None
        assert_by_onnxruntime(model, case, wanted)
        if opset >= 10:
            assert operators(model).count("Slice") <= 9
        assert found.changed


@pytest.mark.parametrize(
    ("case", "reason", "hints"),
    [
        (PadCase((5,), (3, 0), "reflect", opset=2), "onnxruntime runs no Concat of opset 2", ()),
        (
            PadCase((3,), (3, 0), "reflect"),
            "reflects 3 cells on axis 0, which has 3",
            ("--pass repeated-mirrors",),
        ),
        (PadCase((3,), (-4, 0)), "crop 4 and 0 cells from axis 0, which has 3", ()),
        (PadCase((3,), (-3, 1), "edge"), "mode edge has nothing to repeat", ()),
        (
            PadCase((3,), (1, 70_000), "edge"),
            "would be joined of 70000 cuts, 65536 are the most",
            (),
        ),
        (PadCase((3,), (1, 0), "symmetric"), "the ONNX text knows no mode 'symmetric'", ()),
        (
            PadCase((3,), (3, 0), "wrap", shown=("W",)),
            "a wrap of 3 cells needs the size of axis 0, which is 'W'",
            ("--dim 'W=639'", "--dim 'W%3=0'"),
        ),
    ],
    ids=["opset", "reflect", "crop", "empty", "cuts", "mode", "wrap"],
)
def test_refusals(case: PadCase, reason: str, hints: tuple[str, ...]) -> None:
    found, _ = rewritten(case, "plain-pad")
    (refusal,) = found.skips
    assert reason in refusal.skip.reason
    assert refusal.skip.hints == hints


def test_a_hint_for_wrap_helps() -> None:
    case = PadCase((6,), (3, 2), "wrap", opset=21, shown=("W",))
    found, model = rewritten(case, "plain-pad", dims={"W": "%3==0"})
    assert found.changed
    for size in (3, 6, 9, 12, 15, 18):
        other = PadCase((size,), (3, 2), "wrap", opset=21)
        wanted = other.wanted()
        assert wanted is not None
        assert_by_onnxruntime(model, other, wanted)


def test_row_15_a_crop_in_front_of_a_convolution() -> None:
    """Slice and what is left of the Pad, which absorb-pad then folds."""
    model = tiny("p = Pad(x, pads) [op] y = Conv(p, w)", constants="int64[6] pads = {0,0,-1,0,0,2}")
    after = rewrite(model, passes=["plain-pad", "absorb-pad"])
    assert isinstance(after.model, onnx.ModelProto)
    assert kinds(after.model) == ["Slice", "Conv"]
    assert values(after.model, X5) == [432, 543, 54, 5]


def test_row_57_reflect_and_crop() -> None:
    model = tiny('y = Pad<mode="reflect">(x, p)', constants="int64[6] p = {0,0,-1,0,0,2}")
    after = done(model, "plain-pad").model
    assert isinstance(after, onnx.ModelProto)
    assert values(after, X5) == [2, 3, 4, 5, 4, 3]
    assert by_onnxruntime(after, X5) == [2, 3, 4, 5, 4, 3]
    assert done(model, "absorb-pad").model == model


def test_row_58_a_crop_and_a_pad_in_a_row_stay_two() -> None:
    pads = "int64[6] a = {0,0,-2,0,0,0}, int64[6] b = {0,0,1,0,0,0}"
    model = tiny("q = Pad(x, a) y = Pad(q, b)", constants=pads)
    after = done(model, "plain-pad").model
    assert isinstance(after, onnx.ModelProto)
    assert kinds(after) == ["Slice", "Pad"]
    assert values(after, X5) == [0, 3, 4, 5]


@pytest.mark.parametrize("pool", ["MaxPool<kernel_shape=[3]>", "AveragePool<kernel_shape=[2]>"])
def test_no_pad_of_zero_is_left_for_onnxruntime_to_fuse_wrongly(pool: str) -> None:
    model = tiny(f"p = Pad(x, pads) y = {pool}(p)", constants="int64[6] pads = {0,0,2,0,0,-1}")
    after = done(model, "plain-pad").model
    assert isinstance(after, onnx.ModelProto)
    assert kinds(after)[:2] == ["Pad", "Slice"]
    x = -X5
    wanted = by_onnxruntime(model, x)
    assert by_onnxruntime(after, x) == by_onnxruntime(after, x, optimised=True) == wanted


def test_symmetric_of_tensorflow_is_edge_for_one_cell() -> None:
    case = PadCase((4,), (1, 1), "edge")
    wanted = case.wanted()
    assert wanted is not None
    np.testing.assert_array_equal(wanted, np.pad(case.x, 1, mode="symmetric"))
    assert "SYMMETRIC" in find_pass("plain-pad").text


def test_inside_a_branch_and_a_function() -> None:
    inside = '{ r = Pad<mode="reflect">(x, p) }'
    pads = "int64[6] p = {0,0,2,0,0,1}"
    text = f"""y = If(c) <then_branch = t () => (float[1,1,8] r) {inside},
        else_branch = e () => (float[1,1,8] s) {{ s = Pad<mode="edge">(x, p) }}>"""
    model = tiny(text, constants=pads, inputs="bool c")
    after = done(model, "plain-pad").model
    assert isinstance(after, onnx.ModelProto)
    assert "Pad" not in kinds(after)
    for branch in (True, False):
        c = np.array(branch)
        assert run_model(after, {"x": X5, "c": c})["y"].tolist() == (
            run_model(model, {"x": X5, "c": c})["y"].tolist()
        )
        found = ran(after, {"x": X5, "c": c}, optimised=True)
        assert not isinstance(found, str)
    function = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["": 18, "f": 1]> g (float[1,1,5] x) => (float[1,1,8] y) '
        "{ y = f.mirror(x) } "
        '<domain: "f", opset_import: ["": 18]> mirror (a) => (b) '
        '{ p = Constant<value = int64[6] {0,0,2,0,0,1}>() b = Pad<mode="reflect">(a, p) }'
    )
    after = done(function, "plain-pad").model
    assert isinstance(after, onnx.ModelProto)
    assert not after.functions
    assert "Pad" not in kinds(after)
    assert by_onnxruntime(after, X5) == [3, 2, 1, 2, 3, 4, 5, 4]


def test_a_graph_of_graphsurgeon() -> None:
    case = PadCase((1, 2, 5, 5), (-1, 2), "edge", axes=(-1,))
    graph = gs.import_onnx(case.model())
    assert rewrite(graph, passes=["plain-pad"]).changed
    wanted = case.wanted()
    assert wanted is not None
    assert_by_onnxruntime(gs.export_onnx(graph), case, wanted)
    crop = PadCase((1, 2, 5, 5), (-1, 2, 0, 1), value=3.0, axes=(-1, 2))
    graph = gs.import_onnx(crop.model())
    assert rewrite(graph, passes=["plain-pad"]).changed
    wanted = crop.wanted()
    assert wanted is not None
    assert_by_onnxruntime(gs.export_onnx(graph), crop, wanted)


def test_the_pad_of_microsoft() -> None:
    for mode, pads in (("reflect", "0,0,2,0,0,1"), ("constant", "0,0,-1,0,0,2")):
        model = tiny(
            f'y = com.microsoft.Pad<mode="{mode}">(x, p)', constants=f"int64[6] p = {{{pads}}}"
        )
        after = done(model, "plain-pad").model
        assert isinstance(after, onnx.ModelProto)
        assert by_onnxruntime(after, X5) == by_onnxruntime(model, X5)
        assert kinds(after)[0] == "Slice"
