"""One channel spread over several, where OpenCV 5 keeps both in blocks of channels.

What stands here was run in OpenCV 5.0.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import onnxpad
from onnxpad.rewriting.for_target.report import PassPlan
from onnxpad.runtimes.conditions.companions import SPREAD_BLOCKS
from tests.models.text import text_model
from tests.oracle.interpreter import run_model
from tests.runtimes.targets.test_files import refused

AHEAD = "u = MaxPool<kernel_shape=[2,2]>(x) v = MaxPool<kernel_shape=[2,2]>(z)"
STORED = (
    "float[1] c = {1}, float[1,4,1,1] k = {1,-2,3,-4}, float l = {0}, float h = {6}, "
    "int64[1] s = {0}, int64[1] e = {9}, int64[1] high = {2}, int64[1] channels = {1}, "
    "int64[1] last = {-1}, int64[8] pads = {0,0,0,1,0,0,0,0}, int64[4] same = {1,1,4,5}"
)


def model_of(body: str, *, batch: str = "1") -> onnx.ModelProto:
    return text_model(
        f"{AHEAD} {body}",
        f"float[{batch},4,5,6] x, float[1,1,5,6] z, float[1,1,4,5] given",
        outputs="float[a,b,q,d] y",
        constants=STORED,
        opset=17,
    )


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "Mean", "Sum"])
def test_every_operator_that_spreads_is_told(op: str) -> None:
    for body in (f"y = {op}(u,v)", f"y = {op}(v,u)"):
        assert {*SPREAD_BLOCKS} <= refused(model_of(body), "opencv")
    for body in (f"y = {op}(u,u)", f"y = {op}(v,v)", f"y = {op}(u,given)", f"y = {op}(u,c)"):
        assert not {*SPREAD_BLOCKS} & refused(model_of(body), "opencv"), body
    assert not {*SPREAD_BLOCKS} & refused(model_of(f"y = {op}(u,v)"), "opencv-classic")


@pytest.mark.parametrize(
    ("between", "wrong"),
    [
        ("w = Relu(v)", True),
        ("w = BatchNormalization(v,c,c,c,c)", True),
        ("w = InstanceNormalization(v,c,c)", True),
        ("w = PRelu(v,c)", True),
        ("w = Add(v,v)", True),
        ("g = Greater(v,v) w = Where(g,v,v)", True),
        ("w = Conv(u,k)", True),
        ("m = GlobalAveragePool(z) w = Conv(m,c1)", True),
        ("j = Concat<axis=2>(v,v) w = Slice(j,s,e,high)", True),
        ("w = Pad(v,pads) ", True),
        ("w = Identity(v)", False),
        ("w = Clip(v,l,h)", False),
        ("w = Softmax<axis=2>(v)", False),
        ("w = GlobalAveragePool(v)", False),
        ("w = Add(v,c)", False),
        ("w = Add(v,given)", False),
        ("w = Slice(v,s,e,channels)", False),
        ("w = Slice(v,s,e,last)", False),
        ("w = Reshape(v,same)", False),
        ("w = Cast<to=1>(v)", False),
    ],
)
def test_what_stands_between_keeps_the_blocks_or_does_not(between: str, *, wrong: bool) -> None:
    model = model_of(f"{between} y = Mul(u,w)")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((1, 1, 1, 1), "f"), "c1"))
    assert ({*SPREAD_BLOCKS} <= refused(model, "opencv")) is wrong


def test_one_of_three_inputs_in_no_blocks_is_enough() -> None:
    assert {*SPREAD_BLOCKS} <= refused(model_of("y = Max(u,v,v)"), "opencv")
    assert not {*SPREAD_BLOCKS} & refused(model_of("y = Max(u,v,given)"), "opencv")


def test_a_long_row_of_sums_is_looked_through() -> None:
    sums = " ".join(f"a{n + 1} = Add(a{n},a{n})" for n in range(200))
    assert {*SPREAD_BLOCKS} <= refused(model_of(f"a0 = Relu(v) {sums} y = Mul(u,a200)"), "opencv")


@pytest.mark.parametrize("body", ["y = Mul(u,v)", "r = Relu(v) m = Sub(r,u) y = Conv(m,k)"])
def test_rewrite_puts_an_identity_in_front(body: str) -> None:
    model = model_of(body)
    done = onnxpad.rewrite(model, target="opencv")
    assert done.fitting is not None
    (told,) = done.fitting.prepared
    assert told.startswith("an Identity is in front of ")
    assert not refused(done.model, "opencv")
    assert onnxpad.validate(model, done.model)
    assert not onnxpad.rewrite(done.model, target="opencv").changed


def test_inspect_says_what_rewrite_will_do() -> None:
    found = onnxpad.inspect(model_of("y = Mul(u,v)"), target="opencv").targets["opencv"]
    (verdict,) = (one for one in found if one.op in SPREAD_BLOCKS)
    assert isinstance(verdict.way, PassPlan)
    assert verdict.way.steps == "an Identity in front of 'y'"


def test_quotient_of_an_average_of_open_sizes_is_apart() -> None:
    model = text_model(
        'y = AveragePool<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(x)',
        "float[N,3,H,W] x",
        outputs="float[N,3,a,b] y",
        opset=13,
    )
    done = onnxpad.rewrite(model, target="opencv", allow_unknown=True)
    assert not {*SPREAD_BLOCKS} & refused(done.model, "opencv")
    x = np.random.default_rng(3).normal(size=(2, 3, 5, 6)).astype(np.float32)
    want, got = (run_model(one, {"x": x})["y"] for one in (model, done.model))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
