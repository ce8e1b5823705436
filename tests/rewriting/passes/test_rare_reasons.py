"""Reasons of passes that only unusual models give."""

from __future__ import annotations

import onnx
import pytest

from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Chain, Pads, PadStep, Skip
from onnxpad.padding.fills import Constant, Implicit
from onnxpad.padding.operators import operator
from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import refused, tiny

REFLECTS_TOO_FAR = (
    "it reflects 5 cells on axis 2, which has 5: onnxruntime fails, the widest reflection is 4"
)


def verdict(rule: str, chain: Chain) -> str:
    """The reason of a pass for a chain that no valid model gives."""
    found = all_passes()[rule].rewrite(chain)
    assert isinstance(found, Skip)
    assert not found.moot
    return found.reason


def average(**facts: object) -> Chain:
    op = operator("", "AveragePool")
    assert op is not None
    axes, pads = (Axis(6, 3),), Pads((1,), (1,))
    chain = Chain(op, 18, axes, pads, Implicit.NOTHING, "float32")
    return Chain(**{**{name: getattr(chain, name) for name in chain.__slots__}, **facts})


def test_absorb_pad_counts_on_cells_in_every_window() -> None:
    body = "r = Relu (x) a = Pad (r, p) [op] y = MaxPool <kernel_shape = [2], dilations = [3]> (a)"
    model = tiny(body, constants="int64[6] p = {0, 0, 1, 0, 0, 1}")
    reason = refused(model, "absorb-pad").reason
    assert reason == (
        "the Pad writes 0, and a window may hold padding alone: the pads together reach the "
        "kernel, or it is dilated"
    )


def test_absorb_pad_leaves_pads_that_are_an_input() -> None:
    body = "a = Pad (x, p) [op] y = com.microsoft.ConvTransposeWithDynamicPads (a, w, q)"
    model = tiny(body, constants="int64[6] p = {0, 0, 1, 0, 0, 1}, int64[2] q = {2, 2}")
    assert refused(model, "absorb-pad").reason == "its pads are an input"


def test_no_pad_without_onnx_operators() -> None:
    counted = average(opset=0, fill=Constant(0))
    wanted = "no version of the ONNX operators is imported, so it can have no Pad"
    assert verdict("counted-padding", counted) == wanted


@pytest.mark.parametrize("rule", ["uncounted-padding", "average-by-parts"])
def test_an_average_of_unknown_type(rule: str) -> None:
    assert verdict(rule, average(dtype="")) == "the element type of its input is not known"


@pytest.mark.parametrize(
    ("name", "facts", "reason"),
    [
        ("AveragePool", {"dtype": ""}, "the element type of its input is not known"),
        (
            "AveragePool",
            {"opset": 0},
            "no version of the ONNX operators is imported, so it can have no Conv",
        ),
        (
            "QLinearAveragePool",
            {},
            "an integer average is no convolution: its sums are not rounded like one",
        ),
    ],
)
def test_averages_that_are_no_convolution(name: str, facts: dict[str, object], reason: str) -> None:
    op = operator("com.microsoft" if name.startswith("Q") else "", name)
    assert verdict("average-by-conv", average(op=op, shape=(1, 2, 6), **facts)) == reason


def test_a_computed_value_of_unknown_type() -> None:
    op = operator("", "Pad")
    assert op is not None
    step = PadStep(Pads((0, 0, 1), (0, 0, 1)), Constant(2.0), computed=(2,))
    chain = Chain(op, 18, (), Pads((), ()), Constant(2.0), pad=step, shape=(1, 1, 6))
    assert verdict("static-pads", chain) == "the element type of its input is not known"


@pytest.mark.parametrize(
    ("rule", "body", "opset", "reason"),
    [
        (
            "output-padding-by-pad",
            "[op] y = ConvTranspose <strides = [2], output_padding = [1]> (x, w, b)",
            6,
            "Add of opset 6 has no broadcasting that a bias needs",
        ),
        (
            "plain-pad",
            '[op] y = Pad <mode = "reflect"> (x, six)',
            17,
            REFLECTS_TOO_FAR,
        ),
        (
            "spatial-pads",
            '[op] y = Pad <mode = "edge"> (x, outer)',
            17,
            "its mode is edge",
        ),
        (
            "concat-pads",
            "[op] y = Pad <pads = [0, 0, 1, 0, 0, 1], value = 2.0> (x)",
            7,
            "its sizes are not all known, and opset 7 has no Expand",
        ),
    ],
    ids=["add", "reflect", "mode", "expand"],
)
def test_reasons(rule: str, body: str, opset: int, reason: str) -> None:
    constants = {
        "b)": "float[1] b = {7}",
        "six": "int64[6] six = {0, 0, 5, 0, 0, 0}",
        "outer": "int64[6] outer = {0, 1, 0, 0, 0, 0}",
    }
    held = next((text for name, text in constants.items() if name in body), "")
    size = "n" if rule == "concat-pads" else "5"
    model = tiny(body, f"float[1,1,{size}]", opset=opset, constants=held)
    assert isinstance(model, onnx.ModelProto)
    assert refused(model, rule).reason == reason


@pytest.mark.parametrize(
    ("ir_version", "opset", "changed"), [(3, 8, False), (3, 9, True), (8, 8, True), (8, 9, True)]
)
def test_an_old_file_of_opset_8_holds_no_whole_numbers(
    ir_version: int, opset: int, changed: bool
) -> None:
    """Before IR version 4 constants are nodes; functions, which came with 8, are written out."""
    pad, call = "Pad <pads = [0, 0, 1, 0, 0, 2]> (x)", "l.padded (x)"
    function = f'<domain: "l", opset_import: ["": {opset}]> padded (x) => (y) {{ y = {pad} }}'
    model = onnx.parser.parse_model(f"""
    <ir_version: {ir_version}, opset_import: ["": {opset}, "l": 1]>
    g (float[1, n, 4] x) => (float[1, n, 7] y) {{ y = {pad if ir_version < 8 else call} }}
    {"" if ir_version < 8 else function}""")
    done = rewrite(model, passes="concat-pads")
    assert done.changed is changed
    onnx.checker.check_model(done.model)
    onnx.shape_inference.infer_shapes(done.model, check_type=True, strict_mode=True)
    reasons = [skip.skip.reason for skip in done.skips]
    wanted = "before opset 9 a Constant node holds no whole numbers, which it would need"
    assert reasons == ([] if changed else [wanted])


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("kernel_shape = [3], count_include_pad = 2", "count_include_pad is 2, the ONNX text"),
        ("kernel_shape = [3], ceil_mode = 2", "ceil_mode is 2, the ONNX text knows 0 and 1"),
        ("count_include_pad = 1", "no kernel_shape, which a pool needs"),
    ],
)
def test_attributes_that_runtimes_read_in_their_own_ways(written: str, reason: str) -> None:
    """onnxruntime 1.31.1 counts padding for 2 and does not round up for 2."""
    model = tiny(f"[op] y = AveragePool <pads = [1, 0], {written}> (x)")
    for rule in ("symmetric-pads", "average-by-conv"):
        assert reason in refused(model, rule).reason


def test_no_convolution_has_no_channels() -> None:
    model = tiny("[op] y = AveragePool <kernel_shape = [3]> (x)", "float[1,0,5]")
    reason = refused(model, "average-by-conv").reason
    assert reason == "it has no channels, and a convolution needs one"
