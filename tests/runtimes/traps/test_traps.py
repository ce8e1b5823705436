"""Every trap is found where it is, and not found in a model that avoids it by one detail."""

import pytest
from onnx import ModelProto

from onnxpad import inspect, rewrite
from tests.models.text import padded, text_model
from tests.models.traps import (
    AROUND,
    MAX,
    SAME,
    TRAPS,
    conv,
    crop,
    dequantised,
)
from tests.names import ENTRIES, names


def codes(model: ModelProto, name: str = "*") -> list[str]:
    found = inspect(model).nodes
    return [t.code for node in found if name in ("*", node.node) for t in node.traps]


def test_every_trap_has_a_model() -> None:
    assert TRAPS.keys() == set(names("trap"))


@pytest.mark.parametrize("code", TRAPS)
def test_a_trap_is_found(code: str) -> None:
    model = TRAPS[code][0]
    found = codes(model) if code == "overridable-pads" else codes(model, "node")
    assert found == [code]


@pytest.mark.parametrize("code", TRAPS)
def test_one_detail_avoids_it(code: str) -> None:
    assert codes(TRAPS[code][1]) == []


@pytest.mark.parametrize("opset", [7, 10, 11, 25])
@pytest.mark.parametrize("kind", ["float", "float16", "double", "int8"])
def test_a_pad_before_a_max_pool_is_one(opset: int, kind: str) -> None:
    if opset < 11:
        node = f"[pad] p = Pad <pads=[{AROUND}]> (x) {MAX}"
        model = text_model(node, f"{kind}[1,1,8] x", opset=opset)
    else:
        model = padded(MAX, AROUND, f"{kind}[1,1,8] x", opset=opset)
    assert codes(model, "node") == ["pad-fused-into-max-pool"]


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
    ("negative-pads", "plain-transpose"): crop("strides=[2], pads=[0, -1]"),
    ("valid-with-ceil-mode", "floor-pool"): TRAPS["valid-with-ceil-mode"][0],
}
PASSES = [
    (entry["name"], name)
    for entry in ENTRIES
    for fact, texts in entry["facts"].items()
    if (entry["kind"], fact) == ("trap", "removed by")
    for name in texts.split(", ")
]


@pytest.mark.parametrize(("code", "name"), PASSES)
def test_a_pass_takes_the_node_out_of_the_trap(code: str, name: str) -> None:
    model = HELPED.get((code, name), TRAPS[code][0])
    assert code in codes(model)
    after = rewrite(model, passes=[name]).model
    assert isinstance(after, ModelProto)
    assert code not in codes(after)


@pytest.mark.parametrize("size", ["9", "L"])
def test_a_lost_window_does_not_hide_a_wrong_value(size: str) -> None:
    """onnxruntime drops the last window, and -inf takes the place of the 0 in the first."""
    pool = "[node] y = MaxPool <kernel_shape=[4], strides=[3], pads=[1, 0], ceil_mode=1> (p)"
    model = padded(pool, "0, 0, 1, 0, 0, 3", f"float[1,1,{size}] x")
    assert codes(model, "node") == ["pad-fused-into-max-pool", "pad-fused-with-ceil-mode"]
    (verdicts,) = inspect(model, target="onnxruntime@1.31").targets.values()
    assert [one.judgement.answer for one in verdicts if one.op == "MaxPool"] == ["miscomputes"]
