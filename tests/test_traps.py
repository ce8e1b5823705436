"""Every trap is found where it is, and not found in a model that avoids it by one detail."""

from collections.abc import Iterator

import pytest
from onnx import ModelProto, TensorProto, helper

from onnxpad.chain import AutoPad, Chain
from onnxpad.fills import Constant
from onnxpad.geometry.axis import Axis
from onnxpad.geometry.size import Symbol
from onnxpad.inspection import inspect
from onnxpad.ops import OPERATORS
from onnxpad.rewriting import rewrite
from onnxpad.traps import Surroundings, all_rules, traps_of
from tests.text_models import padded, text_model

WEIGHT = "float[1,1,3] w = {1, 10, 100}"
SHORT = "float[1,1,1] w = {1}"
AROUND = "0, 0, 1, 0, 0, 1"


def conv(attributes: str, inputs: str = "float[1,1,8] x", constants: str = WEIGHT) -> ModelProto:
    return text_model(f"[node] y = Conv <{attributes}> (x, w)", inputs, constants=constants)


def pool(attributes: str, op: str = "MaxPool", **options: object) -> ModelProto:
    return text_model(f"[node] y = {op} <{attributes}> (x)", **options)  # type: ignore[arg-type]


def crop(attributes: str, constants: str = WEIGHT, opset: int = 13) -> ModelProto:
    node = f"[node] y = ConvTranspose <{attributes}> (x, w)"
    return text_model(node, constants=constants, opset=opset)


def quantised_average(attributes: str) -> ModelProto:
    node = f"[node] y = com.microsoft.QLinearAveragePool <{attributes}> (x, s, z, s, z)"
    constants = "float s = {0.5}, uint8 z = {3}"
    return text_model(node, "uint8[1,1,6] x", constants=constants)


def replaceable(ir: int) -> ModelProto:
    model = padded("[node] y = Relu (p)", AROUND)
    model.ir_version = ir
    pads = helper.make_tensor_value_info("pads", TensorProto.INT64, [6])
    model.graph.input.append(pads)
    return model


def declared(shape: str, opset: int) -> ModelProto:
    node = "[node] y = MaxPool <kernel_shape=[1], strides=[2], ceil_mode=1> (x)"
    return text_model(node, "float[1,1,2] x", outputs=f"float[{shape}] y", opset=opset)


def weighted(pads: str) -> ModelProto:
    nodes = "[node] p = Pad (w, pads) [conv] y = Conv (x, p)"
    inputs, constants = "float[1,1,8] x, float[1,1,3] w", f"int64[6] pads = {{{pads}}}"
    return text_model(nodes, inputs, constants=constants)


def dequantised(front: str) -> ModelProto:
    body = (
        f"q = QuantizeLinear (x, s, z) {front} v = DequantizeLinear (k, s) [node] c = Conv (d, v)"
    )
    held = "float s = {0.5}, uint8 z = {7}, uint8[1,1,3] k = {1, 2, 3}"
    held += f", int64[6] p = {{{AROUND}}}"
    out = "r = QuantizeLinear (c, s, z) y = DequantizeLinear (r, s, z)"
    return text_model(f"{body} {out}", constants=held)


MAX, AVERAGE = "[node] y = MaxPool <kernel_shape=[3]> (p)", "[node] y = AveragePool"
SAME = 'auto_pad="SAME_UPPER"'
CEIL_PAIR = "kernel_shape=[2], strides=[3], ceil_mode=1"
OVERHANG = "kernel_shape=[3], strides=[2], pads=[1, 1], ceil_mode=1"

# Code, a model that is in the trap at the node called 'node', and one that is not.
TRAPS: dict[str, tuple[ModelProto, ModelProto]] = {
    "auto-pad-with-pads": (conv(f"{SAME}, pads=[1, 1]"), conv('auto_pad="NOTSET", pads=[1, 1]')),
    "same-with-dilation": (
        conv(f"{SAME}, dilations=[2]"),
        conv("pads=[2, 2], dilations=[2]"),
    ),
    "same-with-short-kernel": (
        conv(f"{SAME}, strides=[4]", constants=SHORT),
        conv(f"{SAME}, strides=[2]", constants=SHORT),
    ),
    "valid-with-ceil-mode": (
        pool('kernel_shape=[3], strides=[2], ceil_mode=1, auto_pad="VALID"'),
        pool('kernel_shape=[2], strides=[2], ceil_mode=1, auto_pad="VALID"'),
    ),
    "transposed-same-short-kernel": (
        crop(f"{SAME}, strides=[4]", SHORT),
        crop(f"{SAME}, strides=[3]"),
    ),
    "pad-fused-into-max-pool": (
        padded(MAX, AROUND),
        padded(MAX.replace("[3]", '[3], auto_pad="VALID"'), AROUND),
    ),
    "pad-fused-beyond-kernel": (
        padded(f"{AVERAGE} <kernel_shape=[3]> (p)", "0, 0, 3, 0, 0, 3"),
        padded(f"{AVERAGE} <kernel_shape=[3]> (p)", "0, 0, 2, 0, 0, 2"),
    ),
    "pad-fused-with-ceil-mode": (
        padded(f"{AVERAGE} <{CEIL_PAIR}> (p)", "0, 0, 0, 0, 0, 1", "float[1,1,3] x"),
        padded(f"{AVERAGE} <{CEIL_PAIR}> (p)", "0, 0, 0, 0, 0, 1", "float[1,1,4] x"),
    ),
    "pad-in-quantised-group": (
        dequantised("b = DequantizeLinear (q, s, z) d = Pad (b, p, s)"),
        dequantised("b = Pad (q, p, z) d = DequantizeLinear (b, s, z)"),
    ),
    "pad-on-weight": (weighted("0, 0, 1, 0, 0, 0"), weighted("0, 0, -1, 0, 0, 0")),
    "pads-reach-kernel": (
        pool("kernel_shape=[3], pads=[3, 0]", "LpPool"),
        pool("kernel_shape=[3], pads=[2, 0]", "LpPool"),
    ),
    "negative-pads": (conv("pads=[-1, 1]"), conv("pads=[0, 1]")),
    "window-of-padding": (
        pool("kernel_shape=[2], dilations=[2], pads=[1, 1]", inputs="float[1,1,1] x"),
        pool("kernel_shape=[2], dilations=[2], pads=[1, 1]", inputs="float[1,1,2] x"),
    ),
    "input-shorter-than-window": (
        conv("strides=[1]", "float[1,1,2] x"),
        conv("strides=[1]", "float[1,1,3] x"),
    ),
    "quantised-average-overhang": (
        quantised_average(f"{OVERHANG}, count_include_pad=1"),
        quantised_average(f"{OVERHANG}, count_include_pad=0"),
    ),
    "output-padding-beyond-stride": (
        crop("strides=[1], dilations=[2], output_padding=[1]"),
        crop("strides=[2], dilations=[2], output_padding=[1]"),
    ),
    "transposed-split-before-11": (
        crop(f"{SAME}, strides=[2]", opset=10),
        crop(f"{SAME}, strides=[2]", opset=11),
    ),
    "reflect-beyond-input": (
        text_model(
            '[node] y = Pad <mode="reflect"> (x, pads)', constants="int64[6] pads = {0,0,8,0,0,0}"
        ),
        text_model(
            '[node] y = Pad <mode="reflect"> (x, pads)', constants="int64[6] pads = {0,0,7,0,0,7}"
        ),
    ),
    "declared-shape": (declared("1,1,2", 13), declared("1,1,1", 13)),
    "computed-pads": (
        text_model("[node] y = Pad (x, pads)", "float[1,1,8] x, int64[6] pads"),
        text_model("[node] y = Pad (x, pads)", constants=f"int64[6] pads = {{{AROUND}}}"),
    ),
    "overridable-pads": (replaceable(4), replaceable(3)),
    "no-cpu-kernel": (
        pool("kernel_shape=[2]", "AveragePool", inputs="double[1,1,8] x"),
        pool("kernel_shape=[2]", "MaxPool", inputs="double[1,1,8] x"),
    ),
    "optimised-only": (
        pool("kernel_shape=[2, 2]", "com.microsoft.NhwcMaxPool", inputs="uint8[1,8,8,1] x"),
        pool("kernel_shape=[2, 2]", "MaxPool", inputs="uint8[1,1,8,8] x"),
    ),
}


def codes(model: ModelProto, name: str = "*") -> list[str]:
    found = inspect(model).nodes
    return [t.code for node in found if name in ("*", node.node) for t in node.traps]


def test_every_trap_has_a_model() -> None:
    assert TRAPS.keys() == all_rules().keys()


@pytest.mark.parametrize("code", TRAPS)
def test_a_trap_is_found(code: str) -> None:
    model = TRAPS[code][0]
    found = codes(model) if code == "overridable-pads" else codes(model, "node")
    assert found == [code]


@pytest.mark.parametrize("code", TRAPS)
def test_one_detail_avoids_it(code: str) -> None:
    assert codes(TRAPS[code][1]) == []


def test_every_rule_says_what_it_is_about_and_where_that_is_known_from() -> None:
    for rule in all_rules().values():
        assert len(rule.text) > 80
        assert len(rule.source) > 20


NOT_FUSED = {
    "behind Relu": text_model(
        f"[r] r = Relu (x) [pad] p = Pad (r, pads) {MAX}", constants=f"int64[6] pads = {{{AROUND}}}"
    ),
    "behind Relu and a MaxPool": text_model(
        f"[r] r = Relu (x) [q] q = MaxPool <kernel_shape=[2]> (r) [pad] p = Pad (q, pads) {MAX}",
        constants=f"int64[6] pads = {{{AROUND}}}",
    ),
    "behind a clip at 0": text_model(
        f"[r] r = Clip (x, zero) [pad] p = Pad (r, pads) {MAX}",
        constants=f"int64[6] pads = {{{AROUND}}}, float zero = {{0}}",
    ),
    "in uint8": padded(MAX, AROUND, "uint8[1,1,8] x"),
    "with a second reader": padded(f"{MAX} [more] z = Neg (p)", AROUND),
    "as an output": padded(MAX, AROUND, outputs="y, p"),
    "with Indices": padded("[node] y, i = MaxPool <kernel_shape=[3]> (p)", AROUND, outputs="y, i"),
    "with another value": padded(MAX, AROUND, more="float c = {-7}"),
    "with a negative zero": padded(MAX, AROUND, more="float c = {-0.0}"),
    "with axes": text_model(
        f"[pad] p = Pad (x, pads, , axes) {MAX}",
        constants="int64[2] pads = {1, 1}, int64[1] axes = {2}",
        opset=18,
    ),
    "on the channels as well": padded(MAX, "0, 1, 1, 0, 0, 1"),
    "without cells": padded(MAX, "0, 0, 0, 0, 0, 0"),
    "of cells that no window reads": padded(
        "[node] y = MaxPool <kernel_shape=[2], strides=[2]> (p)", "0, 0, 0, 0, 0, 1"
    ),
}


@pytest.mark.parametrize("case", NOT_FUSED)
def test_a_pad_before_a_max_pool_is_no_trap(case: str) -> None:
    assert codes(NOT_FUSED[case]) == []


@pytest.mark.parametrize("opset", [7, 10, 11, 25])
@pytest.mark.parametrize("kind", ["float", "float16", "double", "int8"])
def test_a_pad_before_a_max_pool_is_one(opset: int, kind: str) -> None:
    if opset < 11:
        node = f"[pad] p = Pad <pads=[{AROUND}]> (x) {MAX}"
        model = text_model(node, f"{kind}[1,1,8] x", opset=opset)
    else:
        model = padded(MAX, AROUND, f"{kind}[1,1,8] x", opset=opset)
    assert codes(model, "node") == ["pad-fused-into-max-pool"]


def sized(size: int | Symbol | None, **facts: object) -> Chain:
    row = OPERATORS["", str(facts.pop("op", "Conv"))]
    axis = Axis(size, 1, 4)
    return Chain(row, 22, (axis,), AutoPad.SAME_UPPER, Constant(0), "float32", **facts)  # type: ignore[arg-type]


def sentences(chain: Chain) -> Iterator[str]:
    return (trap.sentence for trap in traps_of(chain, Surroundings()))


def test_what_depends_on_the_size_says_so() -> None:
    (some,) = sentences(sized(Symbol("H")))
    assert some.endswith("for some sizes")
    assert not list(sentences(sized(Symbol("H", modulus=4, residue=1))))
    (always,) = sentences(sized(Symbol("H", modulus=4, residue=0)))
    assert "shifts the windows" in always


def test_a_pool_before_opset_19_is_refused_and_later_shifted() -> None:
    early = Chain(
        OPERATORS["", "AveragePool"], 18, (Axis(8, 1, 4),), AutoPad.SAME_UPPER, Constant(0)
    )
    (refused,) = sentences(early)
    assert "refuses to run the pool" in refused


def test_wrong_shapes_name_the_cause() -> None:
    (found,) = inspect(TRAPS["declared-shape"][0]).nodes
    (trap,) = found.traps
    assert trap.sentence.startswith("the file declares [1, 1, 2], it is [1, 1, 1]; before opset 22")
    (later,) = inspect(declared("1,1,2", 22)).nodes[0].traps
    assert later.sentence == "the file declares [1, 1, 2], it is [1, 1, 1]"


# Where the pass needs another model than the one that shows the trap.
HELPED = {
    ("same-with-dilation", "runtime-pads"): conv(
        f"{SAME}, dilations=[2], strides=[2]", "float[1,1,W] x"
    ),
    ("pad-in-quantised-group", "absorb-pad"): dequantised(
        "b = DequantizeLinear (q, s, z) d = Pad (b, p) e = Relu (d)"
    ),
    ("computed-pads", "static-pads"): text_model(
        "pads = Identity (given) [node] y = Pad (x, pads)",
        constants=f"int64[6] given = {{{AROUND}}}",
    ),
    ("valid-with-ceil-mode", "floor-pool"): TRAPS["valid-with-ceil-mode"][0],
}
PASSES = [(rule.code, name) for rule in all_rules().values() for name in rule.passes]


@pytest.mark.parametrize(("code", "name"), PASSES)
def test_a_pass_takes_the_node_out_of_the_trap(code: str, name: str) -> None:
    model = HELPED.get((code, name), TRAPS[code][0])
    assert code in codes(model)
    after = rewrite(model, passes=[name]).model
    assert isinstance(after, ModelProto)
    assert code not in codes(after)


def test_pads_of_torchscript_are_a_trap_although_they_are_known() -> None:
    model = HELPED["computed-pads", "static-pads"]
    (node,) = inspect(model).nodes
    assert node.pads == (0, 0, 1, 0, 0, 1)
    (trap,) = node.traps
    assert trap.sentence == (
        "the pads come from 'pads', which is computed while the model runs, though its numbers "
        "are known"
    )
    assert node.to_json()["traps"][0]["passes"] == ["static-pads"]
