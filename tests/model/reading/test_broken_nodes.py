"""Nodes that no reading of the ONNX text allows: an error or a reason, never a traceback."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from onnx import ModelProto, NodeProto, parser

from onnxpad import ModelError, inspect, rewrite
from tests.models.tiny import tiny
from tests.names import PASSES

HUGE = 2**63 - 1
PAD = tiny("[op] y = Pad(x, p)", constants="int64[6] p = {0,0,1,0,0,-1}")
CROP = tiny("[op] y = ConvTranspose<kernel_shape = [3], pads = [0, 1]>(x, w)")


def broken(model: ModelProto, change: Callable[[NodeProto], object]) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(model)
    change(copy.graph.node[0])
    return copy


@pytest.mark.parametrize("model", [PAD, CROP], ids=["Pad", "ConvTranspose"])
@pytest.mark.parametrize("rule", PASSES)
def test_a_node_without_an_output(model: ModelProto, rule: str) -> None:
    for wrong in (
        broken(model, lambda node: node.output.pop()),
        broken(model, lambda node: node.output.__setitem__(0, "")),
    ):
        with pytest.raises(ModelError, match="'op': it has no output; name one, or remove"):
            rewrite(wrong, passes=rule)


@pytest.mark.parametrize("rule", PASSES)
def test_a_pad_without_an_input(rule: str) -> None:
    for wrong in (
        broken(PAD, lambda node: node.ClearField("input")),
        broken(PAD, lambda node: node.input.__setitem__(0, "")),
    ):
        with pytest.raises(ModelError, match="Pad 'op': it has no input; name one, or remove"):
            rewrite(wrong, passes=rule)


@pytest.mark.parametrize("rule", PASSES)
def test_a_convolution_without_a_weight(rule: str) -> None:
    wrong = broken(CROP, lambda node: node.input.pop())
    done = rewrite(wrong, passes=rule)
    assert not done.changed
    assert all("it has no weight" in one.skip.reason for one in done.skips)


def test_a_weight_of_one_axis() -> None:
    wrong = tiny(
        "[op] y = ConvTranspose<kernel_shape = [3], pads = [0, 1]>(x, v)",
        constants="float[3] v = {1, 2, 3}",
    )
    for rule in PASSES:
        with pytest.raises(ModelError, match="its kernel has 1 axis, its weight 1 axis in all"):
            rewrite(wrong, passes=rule)


def test_pads_beyond_any_size() -> None:
    huge = f"{{{HUGE},0,1,0,-{HUGE},-1}}"
    for model in (
        tiny("[op] y = Pad(x, p)", constants=f"int64[6] p = {huge}"),
        tiny("q = Identity(p) [op] y = Pad(x, q)", constants=f"int64[6] p = {huge}"),
        tiny(f'[op] y = Pad<mode = "edge", pads = [{HUGE},0,0,0,0,0]>(x)', opset=10),
    ):
        for rule in PASSES:
            for one in rewrite(model, passes=rule).skips:
                assert "beyond any real size" in one.skip.reason
        assert rewrite(model, passes="plain-pad").skips


def test_pads_that_are_no_integers() -> None:
    model = tiny("[op] y = Pad(x, p)", constants="float[6] p = {0,0,1,0,0,1}")
    (refusal,) = rewrite(model, passes="plain-pad").skips
    assert refusal.skip.reason == "the Pad's pads 'p' are no integers"


@pytest.mark.parametrize(("name", "value"), [("value", "float"), ("pads", "ints")])
def test_attributes_of_a_function_outside_of_one(name: str, value: str) -> None:
    other = "pads = [0,0,1,0,0,1]" if name == "value" else "value = 1.0"
    model = tiny(f'[op] y = Pad<mode = "edge", {other}, {name}: {value} = @foo>(x)', opset=10)
    for verb in (inspect, rewrite):
        with pytest.raises(ModelError, match=f"Pad 'op' takes its {name} from the attribute 'foo'"):
            verb(model)


def test_attributes_of_a_call_whose_name_is_no_text() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    g (float[1,1,9] x) => (float[1,1,8] y) { y = own.pool<kk = [2], ss = [1]>(x) }
    <domain: "own", opset_import: ["" : 17]>
    pool <kk, ss> (a) => (b) { b = MaxPool<kernel_shape: ints = @kk, strides: ints = @ss>(a) }"""
    damaged = parser.parse_model(text).SerializeToString().replace(b"\n\x02kk", b"\n\x02\xff\xfe")
    done = rewrite(ModelProto.FromString(damaged), passes="plain-pad")
    assert not done.changed
    (node,) = inspect(ModelProto.FromString(damaged)).nodes
    assert node.pads is None
    assert "a call does not give its attribute 'kk'" in node.reason
