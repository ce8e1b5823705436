"""Pairs of models as ONNX text, and what `validate` says of them: by default, and by runs alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper

import onnxpad
from onnxpad import Validation
from tests.proof.small_models import text
from tests.validation.builders import renamed

pytest.importorskip("onnxruntime")
Array = NDArray[Any]
RANDOM = np.random.default_rng(7)
F = np.float32


def rand(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(F)


def grown(weight: Array, fill: float = 0) -> Array:
    """One row and column in front of each kernel."""
    return np.pad(weight, [(0, 0), (0, 0), (1, 0), (1, 0)], constant_values=fill)


W, B, V, WIDE = rand(8, 3, 3, 3), rand(8), rand(4, 8, 3, 3), rand(8, 16, 5, 5)
# Small, because kernels for processors without VNNI saturate sums of two products at 16 bits.
BYTES = RANDOM.integers(-64, 64, (8, 3, 3, 3)).astype(np.int8)
SCALE, SHIFT, MEAN, SPREAD = (RANDOM.uniform(0.5, 1.5, 8).astype(F) for _ in range(4))
FACTOR = SCALE / np.sqrt(SPREAD + F(1e-5))
IMAGE, ONE = "float[1,3,H,W] x", np.array([0, 0, 1, 1, 0, 0, 1, 1])
SAME, PADS, MOVED = 'auto_pad = "SAME_UPPER"', "pads = [1,1,1,1]", "pads = [0,0,2,2]"


def made(
    body: str, given: str = IMAGE, out: str = "float[a,b,c,d] y", *, opset: int = 17, **held: Any
) -> onnx.ModelProto:
    found = text(f"g ({given}) => ({out}) {{ {body} }}", opset)
    for name, value in held.items():
        found.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return found


def convs(at: str, front: str = "") -> onnx.ModelProto:
    read = "t" if front else "x"
    body = f"{front} c = Conv <{at}> ({read}, w, b) r = Relu (c) y = Conv <{PADS}> (r, v)"
    return made(body, w=W, b=B, v=V, p=ONE)


def wide(weight: Array, at: str, kind: str = "float") -> onnx.ModelProto:
    body, given = f"c = Conv <{at}> (x, w) y = Relu (c)", f"{kind}[1,16,H,W] x"
    return made(body, given, f"{kind}[a,b,c,d] y", w=weight.astype(F if kind == "float" else "f2"))


def quantised(weight: Array, at: str) -> onnx.ModelProto:
    scales = {"s": F(0.03), "t": F(0.01), "u": F(0.1)}
    zeros = {"sz": np.uint8(120), "tz": np.int8(5), "uz": np.uint8(128)}
    body = f"q = QuantizeLinear (x, s, sz) p = QLinearConv <{at}> (q, s, sz, w, t, tz, u, uz)"
    held: dict[str, Any] = {**scales, **zeros}
    return made(f"{body} y = DequantizeLinear (p, u, uz)", w=weight, **held)


def folded(more: float = 0) -> onnx.ModelProto:
    """A BatchNormalization in the weights; 'c' means something else than in front of it."""
    weight, bias = W * FACTOR[:, None, None, None], (B - MEAN) * FACTOR + SHIFT + F(more)
    return made("c = Conv (x, w, b) r = Relu (c) y = Conv (r, v)", w=weight, b=bias, v=V)


NORMED = made(
    "c = Conv (x, w, b) d = BatchNormalization (c, s, h, m, p) r = Relu (d) y = Conv (r, v)",
    w=W,
    b=B,
    v=V,
    s=SCALE,
    h=SHIFT,
    m=MEAN,
    p=SPREAD,
)


def act(body: str, **held: Any) -> onnx.ModelProto:
    held = {name: np.array(value, F) for name, value in held.items()}
    return made(f"c = Conv (x, w) {body} y = Conv (r, v)", w=W / 20, v=V, **held)


SIX = {"lo": 0, "hi": 6}
RELU, RELU6 = act("r = Relu (c)"), act("r = Clip (c, lo, hi)", **SIX)


def pool(fill: float | None, front: str = "Identity") -> onnx.ModelProto:
    window = "kernel_shape = [3,3], strides = [2,2]"
    if fill is None:
        return made(f"f = {front} (x) y = MaxPool <{window}, {PADS}> (f)")
    body = f"f = {front} (x) q = Pad (f, p, k) y = MaxPool <{window}> (q)"
    return made(body, p=ONE, k=np.array(fill, F))


def branch(at: str) -> onnx.ModelProto:
    sides = ", ".join(
        f"{key}_branch = g{key} () => (float[a{key},b{key},c{key},d{key}] y{key}) "
        f"{{ y{key} = Conv <{pads}> (x, w) }}"
        for key, pads in (("then", at), ("else", PADS))
    )
    body = f"s = ReduceSum <keepdims = 0> (x) l = Less (s, o) y = If (l) <{sides}>"
    return made(body, w=W, o=F(0))


def lost(at: str) -> onnx.ModelProto:
    return made(f"z = Mul (x, o) n = Div (z, z) y = Conv <{at}> (n, w)", w=W, o=F(0))


def nobody(at: str) -> onnx.ModelProto:
    return made(f"n = elsewhere.Nobody (x) y = Conv <{at}> (n, w)", w=W)


def less(name: str, limit: float = 1.5) -> onnx.ModelProto:
    return made(f"l = {name} (x, k) y = Where (l, x, o)", k=F(limit), o=F(0))


def row_of(number: float) -> onnx.ModelProto:
    table = np.arange(500, dtype=F).reshape(100, 5)
    table[71] += F(number)
    return made("y = Gather (t, x)", "int64[N,7] x", "float[a,b,c] y", t=table)


def moved_by(offset: float) -> onnx.ModelProto:
    """The same function, computed of x + offset."""
    bias = (-offset * W.astype(np.float64).sum((1, 2, 3))).astype(F)
    return made("a = Add (x, k) c = Conv (a, w, b) y = Relu (c)", w=W, b=bias, k=F(offset))


COLUMNS = rand(64, 10) * np.array([1e4, *[1] * 9], F)


def columns(factor: float, step: float) -> onnx.ModelProto:
    """A product with one column of 1e4, then steps whose bounds nobody knows beforehand."""
    weight = COLUMNS * np.array([1, 1, 1, 1, 1, factor, 1, 1, 1, 1], F)
    body = "m = MatMul (x, w) a = Mul (m, o) b = Mul (a, o) c = Mul (b, o) y = Elu (c)"
    return made(body, "float[1,64] x", "float[a,b] y", w=weight, o=F(1 + step))


def chaos(weight: Array, at: str) -> onnx.ModelProto:
    body = f"c = Conv <{at}> (x, w) m = Mul (c, k) y = Sin (m)"
    return made(body, "float[1,16,H,W] x", w=weight, k=F(1e7))


def sized(period: int) -> onnx.ModelProto:
    """A Pad that adds a row where the width is a multiple of `period`."""
    body = (
        "s = Shape (x) n = Gather (s, three) m = Mod (n, q) e = Equal (m, zero) "
        "more = Cast <to = 7> (e) p = Concat <axis = 0> (head, more, tail) t = Pad (x, p) "
        "y = Conv (t, w)"
    )
    numbers = {"three": [3], "q": [period], "zero": [0], "head": [0, 0, 1], "tail": [0] * 4}
    held: dict[str, Any] = {name: np.array(value) for name, value in numbers.items()}
    return made(body, w=W, **held)


def double(at: str) -> onnx.ModelProto:
    body = f"a = Tanh (x) c = Conv <{at}> (a, w) y = Relu (c)"
    return made(body, "double[1,3,H,W] x", "double[a,b,c,d] y", w=W.astype(np.float64))


def softmax(*, written_out: bool) -> onnx.ModelProto:
    body = "y = Softmax <axis = 1> (x)"
    if written_out:
        body = (
            "m = ReduceMax <axes = [1]> (x) d = Sub (x, m) e = Exp (d) "
            "s = ReduceSum (e, one) y = Div (e, s)"
        )
    return made(body, "float[N,40] x", "float[a,b] y", one=np.array([1]))


def two(outputs: str) -> onnx.ModelProto:
    return made("a = Relu (x) b = Neg (x)", "float[1,4] x", outputs)


def of_row(body: str, kind: str = "float", **held: Any) -> onnx.ModelProto:
    return made(body, "float[1,40] x", f"{kind}[1,40] y", **held)


def dropped(*, training: bool) -> onnx.ModelProto:
    return of_row("d = Dropout (x, r, t) y = Neg (d)", r=F(0.5), t=np.array(training))


def optional(front: str, more: str = ", int64[6] p") -> onnx.ModelProto:
    """A Pad of nothing, whose pads a caller may give."""
    body = f"t = {front} y = MaxPool <kernel_shape = [2]> (t)"
    return made(body, f"float[1,1,8] x{more}", "float[a,b,c] y", p=np.zeros(6, np.int64))


def strided(at: str, given: str = "float[1,1,8] x") -> onnx.ModelProto:
    return made(f"y = MaxPool <{at}> (x)", given, "float[a,b,c] y")


def shrinking(middle: str, sizes: str) -> onnx.ModelProto:
    """A wide average leaves few cells for a MaxPool of kernel 2, dilation 6 and pads 1.

    Of 34 cells it leaves 5, and the only window reads one cell of padding at either end.
    """
    window = "kernel_shape = [2,2], dilations = [6,6]"
    body = f"a = AveragePool <kernel_shape = [30,30]> (x) c = Conv (a, w) {middle} y = Conv (m, l)"
    held: dict[str, Any] = {"w": NARROW, "l": NARROW[:, :2] / 10, "p": ONE, "low": F(-np.inf)}
    return made(body.replace("WINDOW", window), f"float[1,3,{sizes}] x", **held)


NARROW = rand(2, 3, 1, 1)
SHRINKING = {
    sizes: (
        shrinking(f"m = MaxPool <WINDOW, {PADS}> (c)", sizes),
        shrinking("q = Pad (c, p, low) m = MaxPool <WINDOW> (q)", sizes),
    )
    for sizes in ("H,W", "34,34")
}


class Case(NamedTuple):
    """`found` is the verdict by default and that of runs alone, '-' where it is not asked.

    `first` is the node that is named first, `where` begins the place, `said` stands in the reason
    or in a warning.
    """

    before: onnx.ModelProto
    after: onnx.ModelProto
    found: str
    first: str = ""
    where: str = ""
    said: str = ""

    def verdict(self, *, alone: bool) -> str:
        return self.found.split(", ")[alone]


def itself(model: onnx.ModelProto, found: str, said: str = "") -> Case:
    return Case(model, model, found, said=said)


FINE, NEAR, WRONG = "proved, identical", "proved, rounding", "different, different"
EDGE, NONE = 't = Pad <mode = "edge"> (x, p)', "pads = [0,0,0,0]"
INTO, AWAY, AT = "pads = [2,2,2,2]", "pads = [1,1,3,3]", "pads = [1,1,2,2]"
BEFORE, HALF = wide(WIDE, AT), wide(WIDE, AT, "float16")
DILATED = "dilations = [2,2]"
REFUSED = convs(f"{SAME}, {DILATED}")
AGAIN = "s = Relu (c) r = Clip (s, lo, hi)", "s = Clip (c, lo, hi) r = Identity (s)"
GATE = """g (float[1,1,H] x) => (float[a,b,c] y) <int64[1] at = {{{size}}}> {{
  t = Tanh(x) s = Shape<start = 2>(x) e = Equal(s, at) o = Cast<to = 1>(e) y = {last} }}"""
GATES = [text(GATE.format(size=512, last=last)) for last in ("Identity(t)", "Add(t, o)")]
DILATED_POOL = "y = MaxPool <kernel_shape = [3,3], dilations = [2,2], {}> (x)"
OPEN = "float[N,C,H,W] x"
CASES = {
    "auto_pad": Case(convs(SAME), convs(PADS), FINE),
    "moved": Case(convs(MOVED), convs(PADS), WRONG, "Conv 'c'", "everywhere"),
    "edge": Case(convs(PADS), convs(NONE, EDGE), WRONG, "Conv 'c'", "borders: the first of "),
    "grown": Case(BEFORE, wide(grown(WIDE), INTO), "-, rounding"),
    "grown wrong": Case(BEFORE, wide(grown(WIDE), AWAY), WRONG, "Conv 'c'"),
    "float16": Case(HALF, wide(grown(WIDE), INTO, "float16"), "-, rounding"),
    "float16 wrong": Case(HALF, wide(grown(WIDE), AWAY, "float16"), WRONG),
    "int8": Case(quantised(BYTES, AT), quantised(grown(BYTES, 5), INTO), "-, identical"),
    "int8 wrong": Case(
        quantised(BYTES, AT), quantised(grown(BYTES), INTO), WRONG, "QLinearConv 'p'"
    ),
    "folded": Case(NORMED, folded(), "-, rounding"),
    "folded wrong": Case(NORMED, folded(0.01), WRONG),
    "bodies": Case(branch(PADS), branch(SAME), FINE),
    "bodies wrong": Case(branch(PADS), branch(MOVED), WRONG, "If 'y'"),
    "second does not open": Case(convs(PADS), REFUSED, WRONG, said="second model"),
    "first does not open": Case(
        REFUSED, convs(f"{INTO}, {DILATED}"), NEAR, said="Dilation not supported"
    ),
    "first does not open, wrong": Case(REFUSED, convs(f"{AWAY}, {DILATED}"), WRONG),
    "onnxruntime leaves the text": Case(
        made(DILATED_POOL.format(SAME)),
        made(DILATED_POOL.format(INTO)),
        FINE,
        said="differently from the ONNX text",
    ),
    "a pad that moves": Case(
        made("q = Pad (x, p) t = Transpose <perm = [0,1,3,2]> (q) y = Conv (t, w)", w=W, p=ONE),
        made(f"t = Transpose <perm = [0,1,3,2]> (x) y = Conv <{PADS}> (t, w)", w=W),
        FINE,
    ),
    "nothing but NaN": Case(lost(PADS), lost(MOVED), "-, unverified", said="NaN"),
    "nobody runs it": Case(nobody(PADS), nobody(MOVED), "unverified, unverified", said="Nobody"),
    "nobody behind": Case(
        made(f"c = Conv <{SAME}> (x, w) y = elsewhere.Nobody (c)", w=W),
        made(f"c = Conv <{PADS}> (x, w) y = elsewhere.Nobody (c)", w=W),
        "proved, unverified",
    ),
    "relu6": Case(RELU6, RELU, WRONG, "Clip 'r'"),
    "relu6 later": Case(act(AGAIN[0], **SIX), act(AGAIN[1], **SIX), FINE),
    "threshold": Case(
        act("r = ThresholdedRelu <alpha = 4.0> (c)"),
        act("r = ThresholdedRelu <alpha = 5.0> (c)"),
        "different, -",
    ),
    "tie": Case(less("Less"), less("LessOrEqual"), "different, -"),
    "table": Case(row_of(0), row_of(1), "different, -"),
    "fill -3": Case(pool(None), pool(-3), WRONG),
    "fill -300": Case(pool(None), pool(-300), WRONG),
    "fill -inf": Case(pool(None), pool(-np.inf), FINE),
    "fill lowest": Case(pool(None), pool(float(np.finfo(F).min)), FINE),
    "fill 0 behind Relu": Case(pool(None, "Relu"), pool(0, "Relu"), FINE),
    "fill -3 behind Tanh": Case(pool(None, "Tanh"), pool(-3, "Tanh"), FINE),
    "fill -0.75 behind Tanh": Case(pool(None, "Tanh"), pool(-0.75, "Tanh"), "different, -"),
    "offset": Case(moved_by(0), moved_by(1000), "-, rounding"),
    "offset back": Case(moved_by(1000), moved_by(0), "-, rounding"),
    "column": Case(columns(1, 0), columns(1, 2.4e-7), "-, rounding"),
    "column wrong": Case(columns(1, 0), columns(1.5, 2.4e-7), WRONG),
    "64 cells": Case(sized(10007), sized(64), "-, different"),
    "sizes compared with": Case(GATES[0], GATES[1], "different, -"),
    "every size open": Case(
        made(f"y = Conv <{SAME}> (x, w)", OPEN, w=W),
        made(f"y = Conv <{PADS}> (x, w)", OPEN, w=W),
        FINE,
    ),
    "channels by a constant": Case(
        made("y = BatchNormalization (x, s, s, s, s)", OPEN, s=np.ones(24, F)),
        made("z = BatchNormalization (x, s, s, s, s) y = Identity (z)", OPEN, s=np.ones(24, F)),
        FINE,
    ),
    "float64": Case(double(SAME), double(PADS), FINE),
    "float64 wrong": Case(double(SAME), double("pads = [0,1,2,1]"), WRONG),
    "outputs in another order": Case(
        two("float[a,b] a, float[c,d] b"),
        two("float[c,d] b, float[a,b] a"),
        WRONG,
        said="outputs stand in another order, 'a', 'b'",
    ),
    "inputs in another order": Case(
        made("y = Sub (a, b)", "float[4] a, float[4] b", "float[c] y"),
        made("y = Sub (a, b)", "float[4] b, float[4] a", "float[c] y"),
        WRONG,
        said="inputs stand in another order",
    ),
    "output of another name": Case(
        of_row("y = Relu (x)"),
        made("z = Relu (x)", "float[1,40] x", "float[1,40] z"),
        FINE,
        said="outputs have other names",
    ),
    "another type": Case(
        of_row("y = Cast <to = 1> (x)"),
        of_row("y = Cast <to = 11> (x)", "double"),
        "-, different",
        said="output 'y' is float32 in the first model and float64 in the second",
    ),
    "random": itself(
        of_row("n = RandomNormalLike <seed = 1.0> (x) y = Add (x, n)"),
        "unverified, unverified",
        "RandomNormalLike 'n' draws random numbers",
    ),
    "random and unused": itself(of_row("n = Bernoulli (x) y = Neg (x)"), FINE),
    "dropout": itself(dropped(training=False), FINE),
    "dropout that trains": itself(dropped(training=True), "unverified, unverified"),
    "a default that is gone": Case(
        optional("Pad (x, p)"),
        optional("Pad (x, p)", ""),
        "-, identical",
        said="callers of the first model may give 'p' in place",
    ),
    "a default that matters": Case(
        optional("Pad (x, p)"),
        optional("Identity (x)"),
        "different, -",
        said="where a caller gives p",
    ),
    "a default that was run": Case(
        optional("Pad (x, p)"),
        optional("Identity (x)"),
        "-, identical",
        said="values that callers give in place of 'p'",
    ),
    "large strides": Case(
        strided("kernel_shape = [1], strides = [300]", "float[1,1,H] x"),
        strided("kernel_shape = [1], strides = [301]", "float[1,1,H] x"),
        "identical, -",
        said="for other sizes of 'x'",
    ),
    "windows of padding alone are drawn again": Case(*SHRINKING["H,W"], "-, identical"),
    "windows of padding alone": Case(*SHRINKING["34,34"], "-, different", said="say little"),
    "outputs that are constants": Case(
        made("z = Relu (x)", "float[2] x", "float[2] y, float[2] z", y=np.array([4, 7], F)),
        made("z = Relu (x)", "float[2] x", "float[2] y, float[2] z", y=np.array([4, 6], F)),
        WRONG,
        said="'y' differs",
    ),
    "softmax written out": Case(
        softmax(written_out=False), softmax(written_out=True), "rounding, rounding"
    ),
}


def said_by(report: Validation) -> str:
    return "\n".join((report.reason, *report.warnings))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.found[-1] != "-"])
def test_runs_alone(name: str) -> None:
    case = CASES[name]
    report = onnxpad.validate(case.before, case.after, device="cpu", run_only=True)
    assert report.verdict == case.verdict(alone=True), report.reason
    assert {row.level for row in report.outputs} <= {"off", "on"}
    assert case.said in said_by(report)
    if case.first or case.where:
        assert report.first_difference is not None
        assert case.first in ("", report.first_difference.node)
        assert report.first_difference.where.startswith(case.where)


@pytest.mark.part(2)
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.found[0] != "-"])
def test_a_proof_and_runs(name: str) -> None:
    case = CASES[name]
    report = onnxpad.validate(case.before, case.after, device="cpu", timeout=30)
    assert report.verdict == case.verdict(alone=False), report.reason


@pytest.mark.parametrize("name", ["moved", "relu6", "fill -3", "bodies wrong"])
def test_a_model_against_itself_agrees(name: str) -> None:
    for model in CASES[name][:2]:
        assert onnxpad.validate(model, model, device="cpu").verdict == "proved"


@pytest.mark.parametrize("at", [INTO, AWAY])
def test_models_that_share_no_names_are_compared_by_position(at: str) -> None:
    other = renamed(wide(grown(WIDE), at))
    report = onnxpad.validate(wide(WIDE, AT), other, device="cpu", run_only=True)
    assert report.ok is (at == INTO)
    assert any("by position" in warning for warning in report.warnings)


def test_a_name_that_a_body_has_already_stays_its_own() -> None:
    loop = """r = Relu ({given}) n = Constant <value_int = 3> () y = Loop (n, , r) <body = b
        (int64 i, bool c, float[4] {state}) => (bool d, float[4] t)
        {{ d = Identity (c) t = Add ({state}, {given}) }}>"""
    one, other = (
        made(loop.format(given=given, state=state), f"float[4] {given}", "float[4] y")
        for given, state in (("x", "s"), ("other", "x"))
    )
    assert onnxpad.validate(one, other, device="cpu").verdict == "proved"


def test_an_infinite_bound_excuses_nothing() -> None:
    x = RANDOM.standard_normal((1, 16, 12, 12)).astype(F)
    x[0, 0, 5, 5] = np.inf
    models = wide(WIDE, AT), wide(grown(WIDE), INTO)
    report = onnxpad.validate(*models, inputs={"x": x}, device="cpu", run_only=True)
    assert report.verdict == "different"


def test_where_rounding_alone_changes_everything_nothing_is_promised() -> None:
    models = chaos(WIDE, AT), renamed(chaos(grown(WIDE), INTO))
    report = onnxpad.validate(*models, device="cpu", run_only=True)
    assert report.verdict in ("unverified", "identical")
    given = {"x": rand(1, 16, 12, 12)}
    reference = {"y": np.zeros((1, 8, 11, 11), F)}
    against = onnxpad.validate(models[0], inputs=given, outputs=reference, device="cpu")
    assert against.verdict == "unverified"
    assert "too much to see padding" in against.reason
