"""SAME padding computed while the model runs; rows 5, 7, 33, 35, 37 and 70 of the tricky cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from onnx import ModelProto, parser

from onnxpad.geometry.size import show
from onnxpad.inspection import inspect
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Skip
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.rewriting.steps.run_time_pads import RUN_TIME
from onnxpad.validation import validate
from tests.models.tiny import (
    X5,
    X6,
    X8,
    Array,
    attributes,
    by_onnxruntime,
    constant,
    kinds,
    left_alone,
    numbers,
    refused,
    rewritten,
    tiny,
    values,
)
from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import ran

RULE = "runtime-pads"
UPPER = 'auto_pad = "SAME_UPPER"'
STRIDED = 'Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)'
SQUARE = "float[1,1,3,3] k = {1, 2, 3, 4, 5, 6, 7, 8, 9}"
CELLS = ["Sub", "Mod", "Sub", "Div", "Sub", "Concat", "Pad", "Conv"]


def signed(*shape: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return rng.permutation(np.arange(np.prod(shape)) - 7).reshape(shape).astype(np.float32)


def both_levels(model: onnx.ModelProto, x: Array, expected: list[float]) -> None:
    for optimised in (False, True):
        assert by_onnxruntime(model, x, optimised=optimised) == expected


@pytest.mark.parametrize(
    ("op", "x", "expected"),
    [
        pytest.param(STRIDED, X5, [210, 432, 54], id="row 5, odd"),
        pytest.param(STRIDED, X6, [321, 543, 65], id="row 5, even"),
        pytest.param(
            'Conv <auto_pad = "SAME_UPPER", strides = [2], dilations = [2]> (x, w)',
            X6,
            [420, 642, 64],
            id="row 7 with stride 2",
        ),
        pytest.param(
            f"MaxPool <{UPPER}, kernel_shape = [3], dilations = [2], strides = [3]> (x)",
            -X5,
            [-2, -3],
            id="row 33 with stride 3",
        ),
        pytest.param(
            'MaxPool <auto_pad = "SAME_LOWER", kernel_shape = [2], strides = [5]> (x)',
            X6,
            [1, 6],
            id="row 35 with a kernel of 2",
        ),
        pytest.param(
            f"MaxPool <{UPPER}, kernel_shape = [3], strides = [2], ceil_mode = 1> (x)",
            X6,
            [3, 5, 6],
            id="row 37",
        ),
        pytest.param(
            'AveragePool <auto_pad = "SAME_LOWER", kernel_shape = [4], strides = [2]> (x)',
            X5,
            [1.5, 2.5, 4],
            id="an average that does not count",
        ),
    ],
)
def test_rows(op: str, x: Array, expected: list[float]) -> None:
    after = rewritten(tiny(f"[op] y = {op}", "float[1,1,n]", opset=22), RULE, X5, X6, X8)
    assert values(after, x) == expected
    both_levels(after, x, expected)
    average = "AveragePool" in op
    assert attributes(after).get("auto_pad", "") == ("VALID" if average else "")
    assert average or attributes(after)["pads"] == [0, 0]
    assert "ceil_mode" not in attributes(after)
    assert left_alone(after, RULE)


def test_row_70_zero_points_of_any_kind() -> None:
    op = 'ConvInteger <auto_pad = "SAME_UPPER", strides = [3], dilations = [2]> (x, k, zero)'
    held = "uint8[1,1,3] k = {1, 2, 3}"
    for given in ("uint8[1] zero", ""):
        zero = {"zero": np.asarray([7], np.uint8)} if given else {}
        constants = held if given else f"{held}, uint8 zero = {{7}}"
        model = tiny(
            f"[op] y = {op}", "uint8[1,1,n]", constants=constants, result="int32[]", inputs=given
        )
        after = rewrite(model, passes=[RULE]).model
        assert isinstance(after, onnx.ModelProto)
        for size in range(1, 8):
            x = numbers(*range(10, 10 + size), dtype="uint8")
            assert values(after, x, **zero) == values(model, x, **zero)
            found = ran(after, {"x": x, **zero}, optimised=True)
            assert not isinstance(found, str)
            assert found.ravel().tolist() == values(model, x, **zero)


@pytest.mark.parametrize(
    ("opset", "sizes", "clamp"),
    [
        (11, ["Shape", "Gather"], ["Greater", "Where"]),
        (12, ["Shape", "Gather"], ["Max"]),
        (14, ["Shape", "Gather"], ["Max"]),
        (15, ["Shape"], ["Max"]),
        (25, ["Shape"], ["Max"]),
    ],
)
def test_spelling(opset: int, sizes: list[str], clamp: list[str]) -> None:
    model = tiny(f"[op] y = {STRIDED}", "float[1,1,n]", opset=opset)
    assert kinds(rewritten(model, RULE, X5, X6)) == [*sizes, *CELLS]
    short = tiny(f"[op] y = {STRIDED.replace('[2]', '[4]')}", "float[1,1,n]", opset=opset)
    after = rewritten(short, RULE, X5, X6, X8)
    assert kinds(after) == [*sizes, *CELLS[:3], *clamp, *CELLS[3:]]
    both_levels(after, X8, values(short, X8))


def test_only_the_axes_that_need_it() -> None:
    op = '[op] y = Conv <auto_pad = "SAME_UPPER", strides = [2, 2, 1]> (x, k)'
    weight = f"float[1,1,2,3,2] k = {{{', '.join(map(str, range(12)))}}}"
    model = tiny(op, "float[b,1,a,n,m]", constants=weight, opset=18)
    after = rewritten(model, RULE, *(signed(2, 1, n, n + 1, 6 - n) for n in (1, 2, 3, 4)))
    assert constant(after, "op/pads_head").tolist() == [0, 0, 0]
    assert constant(after, "op/pads_middle").tolist() == [0, 0, 0, 1]
    assert constant(after, "op/pads_tail").tolist() == [1]
    assert constant(after, "op/pads_strides").tolist() == [2]


def test_an_axis_between_two_that_need_it() -> None:
    op = '[op] y = Conv <auto_pad = "SAME_LOWER", strides = [3, 1, 3]> (x, k)'
    weight = f"float[1,1,2,3,2] k = {{{', '.join(map(str, range(12)))}}}"
    model = tiny(op, "float[1,1,a,4,m]", constants=weight, opset=13)
    rewritten(model, RULE, *(signed(1, 1, n, 4, m) for n, m in ((1, 5), (2, 4), (3, 3), (4, 7))))


def test_a_congruence_settles_an_axis() -> None:
    op = '[op] y = Conv <auto_pad = "SAME_UPPER", strides = [2, 2]> (x, k)'
    model = tiny(op, "float[1,1,h,w]", constants=SQUARE)
    facts: dict[str, int | str] = {"h": "%2=0"}
    after = rewritten(model, RULE, signed(1, 1, 4, 5), signed(1, 1, 6, 2), dims=facts)
    assert constant(after, "op/pads_middle").tolist() == [0, 0, 1]
    assert left_alone(tiny(op, "float[1,1,4,h]", constants=SQUARE), "absorb-pad")
    moot = rewrite(model, passes=[RULE], dims={"h": "%2=0", "w": "%4=2"})
    assert not moot.changed
    assert not moot.skips, "explicit-pads can write both as numbers"


def test_what_explicit_pads_can_write_is_left_to_it() -> None:
    both = f'p = Conv <auto_pad = "SAME_UPPER"> (x, w) [op] y = {STRIDED.replace("(x", "(p")}'
    model = tiny(both, "float[1,1,n]")
    done = rewrite(model, passes=[RULE, "explicit-pads"])
    assert [(change.rule, change.node.label) for change in done.changes] == [
        (RULE, "op"),
        ("explicit-pads", "p"),
    ]
    assert not done.skips
    first = rewrite(model, passes=["explicit-pads"])
    assert RUN_TIME in first.skips[0].skip.hints


@pytest.mark.parametrize("opset", [18, 22])
@pytest.mark.parametrize(
    ("front", "op", "dtype"),
    [
        ("", "MaxPool <{}, kernel_shape = [2], strides = [3], dilations = [3]> (x)", "uint8"),
        ("", "AveragePool <{}, kernel_shape = [3], strides = [2]> (x)", "float"),
        ("p = Pad (x, two)", "AveragePool <{}, kernel_shape = [3], strides = [2]> (p)", "float"),
        ("p = Pad (x, two)", "MaxPool <{}, kernel_shape = [3], strides = [2]> (p)", "float"),
    ],
)
def test_a_size_that_is_fixed_later(front: str, op: str, dtype: str, opset: int) -> None:
    """onnxruntime folds the computed pads then, and may fuse the Pad into the pool."""
    text = op.format('auto_pad = "SAME_LOWER"')
    held = "int64[6] two = {0, 0, 2, 0, 0, 2}" if front else ""
    model = tiny(
        f"{front} [op] y = {text}",
        f"{dtype}[1,1,n]",
        constants=held,
        opset=opset,
        result=f"{dtype}[]",
    )
    for size in range(1, 9):
        x = numbers(*range(3, 3 + size), dtype="uint8" if dtype == "uint8" else "float32")
        x = -x if dtype == "float" else x
        after = rewrite(model, passes=[RULE]).model
        assert isinstance(after, onnx.ModelProto)
        after.graph.input[0].type.tensor_type.shape.dim[2].dim_value = size
        found = by_onnxruntime(after, x, optimised=True)
        assert not isinstance(found, str), found
        np.testing.assert_allclose(found, values(model, x), rtol=1e-6)


def test_strict_inference_and_what_the_file_says_of_types() -> None:
    model = tiny(
        f"{STRIDED.join(('c = ', ' '))} [op] y = {STRIDED.replace('(x', '(c')}",
        "float[1,1,n]",
        result="float[1,1,m]",
    )
    model.graph.value_info.append(
        onnx.helper.make_tensor_value_info("c", onnx.TensorProto.FLOAT, [1, 1, "half"])
    )
    after = rewritten(model, RULE, X5, X6, X8)
    onnx.checker.check_model(after, full_check=True)
    onnx.shape_inference.infer_shapes(after, check_type=True, strict_mode=True, data_prop=True)
    assert list(after.graph.value_info) == list(model.graph.value_info)


def test_in_a_branch_and_in_a_function() -> None:
    body = f"g () => (float[1,1,m] r) {{ [op] r = {STRIDED} }}"
    other = "h () => (float[1,1,m] s) { s = Neg (x) }"
    branch = tiny(
        f"y = If (c) <then_branch = {body}, else_branch = {other}>",
        "float[1,1,n]",
        constants="bool c = {1}, float[1,1,3] w = {1, 10, 100}",
    )
    rewritten(branch, RULE, X5, X6, X8)
    called = parser.parse_model(
        '<ir_version: 9, opset_import: ["": 17, "f": 1]> g (float[1,1,n] x) => (float[1,1,m] y)'
        "<float[1,1,3] w = {1, 10, 100}> { a = f.two (x, w) y = f.two (a, w) }"
        f'<domain: "f", opset_import: ["": 17]> two (x, w) => (y) {{ [op] y = {STRIDED} }}'
    )
    assert not rewritten(called, RULE, X5, X6, X8).functions


def test_a_graph_of_graphsurgeon() -> None:
    model = tiny(f"[op] y = {STRIDED}", "float[1,1,n]")
    graph = gs.import_onnx(model)
    assert rewrite(graph, passes=[RULE]).model is graph
    after = gs.export_onnx(graph)
    for x in (X5, X6, X8):
        assert run_model(after, {"x": x})["y"].ravel().tolist() == values(model, x)


def test_validation_proves_it() -> None:
    model = tiny(f"[op] y = {STRIDED.replace('>', ', dilations = [2]>')}", "float[1,1,n]")
    done = rewrite(model, passes=[RULE])
    assert isinstance(done.model, onnx.ModelProto)
    assert validate(model, done.model, device="cpu").ok


SAME3 = 'auto_pad = "SAME_UPPER", kernel_shape = [3], strides = [2]'
refusals: dict[str, tuple[str, dict[str, Any], str, tuple[str, ...]]] = {
    "Pad has attributes": (
        STRIDED,
        {"opset": 10},
        "the pads of Pad are attributes in opset 10: they cannot be computed",
        ("raise the model's opset to 11 or newer",),
    ),
    "Indices are used": (
        f"MaxPool <{SAME3}> (x)",
        {"second": "i", "more": "z = Cast <to = 1> (i)"},
        "its Indices are used and would count the padded cells",
        (),
    ),
    "pads too": (
        'Conv <auto_pad = "SAME_UPPER", strides = [2], pads = [1, 1]> (x, w)',
        {},
        (
            "auto_pad=SAME_UPPER and pads=[1, 1] contradict each other, runtimes differ in which "
            "one wins"
        ),
        ("--ambiguous auto_pad", "--ambiguous pads"),
    ),
    "a zero point for each channel": (
        'ConvInteger <auto_pad = "SAME_UPPER", strides = [2]> (x, k, zeros)',
        {"constants": "uint8[1,1,3] k = {1, 2, 3}, uint8[2] zeros = {1, 2}", "dtype": "uint8"},
        "the zero point has one value per channel, a Pad node writes one for all",
        (),
    ),
    "an integer average": (
        f"com.microsoft.QLinearAveragePool <{SAME3}> (x, s, zero, s, zero)",
        {"constants": "float s = {1}, uint8 zero = {3}", "dtype": "uint8"},
        "an integer average that does not count padding cannot be divided again",
        (),
    ),
    "a mask": (
        f"com.microsoft.MaxpoolWithMask <{SAME3}> (x, m)",
        {"constants": "int32[1,1,1] m = {1}"},
        "MaxpoolWithMask has an input that depends on its own padding",
        (),
    ),
}


@pytest.mark.parametrize("name", refusals)
def test_refuses(name: str) -> None:
    op, given, reason, hints = refusals[name]
    kind = given.get("dtype", "float")
    outputs = ", ".join(["y", given["second"]] if "second" in given else ["y"])
    text = f"{given.get('front', '')} [op] {outputs} = {op} {given.get('more', '')}"
    model = tiny(
        text,
        f"{kind}[1,1,n]",
        constants=given.get("constants", ""),
        opset=given.get("opset", 17),
        result="int32[]" if "Integer" in op else f"{kind}[]",
    )
    assert refused(model, RULE) == Skip(reason, hints)


TEXT = """g (float[N,2,H,W] x, float[3,2,{k},{k}] k, float[3,3,5,5] l) => (float[a,b,c,d] y) {{
  a = Conv<auto_pad = "{mode}", strides = [2, {stride}]>(x, k)
  b = Conv<auto_pad = "{mode}", strides = [2, 2]>(a, l)
  y = MaxPool<kernel_shape = [3, 3], auto_pad = "{mode}", strides = [2, 2]>(b)
}}"""
KINDS = [(3, 2, "SAME_UPPER"), (4, 3, "SAME_LOWER"), (2, 3, "SAME_UPPER")]


def written(kernel: int, stride: int, mode: str, opset: int = 17) -> tuple[ModelProto, ModelProto]:
    """A model with SAME, and with pads that it computes."""
    header = f'<ir_version: 8, opset_import: ["" : {opset}]>\n'
    text = TEXT.format(k=kernel, stride=stride, mode=mode)
    same: ModelProto = parser.parse_model(header + text)
    found = rewrite(same, passes=["runtime-pads"]).model
    assert isinstance(found, ModelProto)
    return same, found


def data(kernel: int, height: int, width: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(height)
    shapes = {"x": (2, 2, height, width), "k": (3, 2, kernel, kernel), "l": (3, 3, 5, 5)}
    return {
        name: -np.abs(draw.standard_normal(shape)).astype(np.float32)
        for name, shape in shapes.items()
    }


@pytest.mark.parametrize("opset", [11, 14, 17])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dims", [{"H": 24, "W": 19}, {"H": "%8=0", "W": "%24=19"}])
def test_computed_same_pads_become_constants_again(
    kind: tuple[int, int, str], dims: dict[str, int | str], opset: int
) -> None:
    same, computed = written(*kind, opset)
    done = rewrite(computed, passes=["static-pads"], dims=dims)
    assert len(done.changes) == len(rewrite(same, passes=["runtime-pads"]).changes)
    assert isinstance(done.model, ModelProto)
    assert {node.op_type for node in done.model.graph.node} == {"Pad", "Conv", "MaxPool"}
    given = data(kind[0], 24, 19)
    expected = ran(computed, given, optimised=False)
    assert not isinstance(expected, str)
    np.testing.assert_array_equal(ran(done.model, given, optimised=False), expected)


def test_sizes_behind_are_those_of_same() -> None:
    """Names may differ (floor((H-1)/2)+1 is ceil(H/2)), numbers not."""
    _, computed = written(3, 2, "SAME_UPPER")
    sites = [site for site in Survey(computed).sites_now() if site.op != "Pad"]
    sizes = [site.context.type_of(site.node.outputs[0]).dims for site in sites]
    assert [show(size) for size in sizes[0] or ()] == [
        "N", "3", "floor((H-1)/2)+1", "floor((W-1)/2)+1"
    ]  # fmt: skip
    assert [show(size) for size in (sizes[2] or ())[2:]] == [
        "floor((H-1)/8)+1", "floor((W-1)/8)+1"
    ]  # fmt: skip


def test_inspect_says_what_is_not_known_and_what_to_try() -> None:
    _, computed = written(3, 2, "SAME_UPPER")
    pads = [node for node in inspect(computed).nodes if node.op == "Pad"]
    assert len(pads) == 3
    for node in pads:
        assert "computed from the size of axis 2 of" in node.reason
        assert node.hints == ("--dim 'H=640' --dim 'W=640'", "--dim 'H%8=0' --dim 'W%8=0'")
