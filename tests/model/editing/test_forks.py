"""A session that goes on from another one, which stays as it was and is read once for both."""

from __future__ import annotations

import pytest
from onnx import ModelProto, parser

from onnxpad.model.editing.session import EditSession
from onnxpad.rewriting.passes import find_pass
from onnxpad.rewriting.pipeline import run

IN_BODIES = """<ir_version: 8, opset_import: ["": 17]>
net (bool c, float[1,1,8,8] x) => (float[a,b,d,e] y, float[f,g,h,i] z) <float[1,1,3,3] w>
{
    p = MaxPool <auto_pad = "SAME_UPPER", kernel_shape = [3, 3]> (x)
    y = Conv <auto_pad = "SAME_LOWER"> (p, w)
    z = If (c) <
        then_branch = t () => (float[j,k,l,m] u) {
            u = MaxPool <auto_pad = "SAME_UPPER", kernel_shape = [2, 2]> (y)
        },
        else_branch = e () => (float[n,o,q,r] v) {
            v = AveragePool <auto_pad = "SAME_UPPER", kernel_shape = [2, 2]> (p)
        }
    >
}
"""
IN_FUNCTIONS = """<ir_version: 9, opset_import: ["": 17, "f": 1]>
net (float[1,1,9] x) => (float[1,1,m] y) <float[1,1,3] w>
{
    a = f.block <pads = [1, 1]> (x, w)
    b = f.block <pads = [0, 2]> (a, w)
    y = f.block <pads = [1, 1]> (b, w)
}
<domain: "f", opset_import: ["": 17, "f": 1]>
block <pads> (x, w) => (y) {
    p = Conv <pads: ints = @pads> (x, w)
    y = MaxPool <auto_pad = "SAME_LOWER", kernel_shape = [3]> (p)
}
"""


def model(text: str) -> ModelProto:
    found: ModelProto = parser.parse_model(text)
    return found


def rewritten(session: EditSession, rule: str) -> bytes:
    run(session, [find_pass(rule)], lambda _: True)
    written: bytes = session.finish().SerializeToString(deterministic=True)
    return written


@pytest.mark.parametrize("rule", ["explicit-pads", "split-pads"])
@pytest.mark.parametrize("text", [IN_BODIES, IN_FUNCTIONS], ids=["bodies", "functions"])
def test_forks_do_what_a_session_of_their_own_would(text: str, rule: str) -> None:
    before = model(text)
    session = EditSession(model(text))
    first, second = session.fork(), session.fork()
    expected = rewritten(EditSession(model(text)), rule)
    assert rewritten(first, rule) == expected
    assert session.finish() == EditSession(before).finish()
    assert [site.chain for site in session.sites_now()] == [
        site.chain for site in EditSession(before).sites_now()
    ]
    assert rewritten(second, rule) == expected
    assert rewritten(session, rule) == expected


def test_a_session_without_weights_holds_no_large_new_constant() -> None:
    """What tells two models apart that differ in such a constant is kept."""
    text = """<ir_version: 8, opset_import: ["": 17]>
    net (float[1,1,100000] x) => (float[1,1,a] y)
    { y = AveragePool <pads = [1, 1], kernel_shape = [3]> (x) }
    """
    rule, others = "uncounted-padding", text.replace("[1, 1]", "[2, 0]")
    light, other = (
        rewritten(EditSession(model(one), weightless=True), rule) for one in (text, others)
    )
    assert len(light) + 300_000 < len(rewritten(EditSession(model(text)), rule))
    made, beside = (ModelProto.FromString(one).graph.initializer[-1] for one in (light, other))
    assert (made.name, made.dims) == (beside.name, beside.dims)
    assert made != beside
