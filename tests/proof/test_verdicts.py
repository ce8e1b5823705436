"""What prove() answers, on models that were written to deceive it as well."""

import itertools
import re
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.proof.kernel import Limits, prove
from tests.proof.small_models import text

POOL = "g (float[1,1,H] x) => (float[a,b,c] y) {{ {0} }}"
CONV = "g (float[1,2,{size}] x) => (float[a,b,c] y) <float[2,2,3] w = {{{weight}}}> {{ {nodes} }}"


def weights(count: int) -> str:
    return ", ".join(str((at * 7) % 5 - 2.0) for at in range(count))


def conv(nodes: str, size: str = "H", opset: int = 18) -> onnx.ModelProto:
    return text(CONV.format(size=size, weight=weights(12), nodes=nodes), opset)


def pool(nodes: str, opset: int = 18) -> onnx.ModelProto:
    return text(POOL.format(nodes), opset)


def chain(count: int, node: str) -> onnx.ModelProto:
    names = ["x", *(f"t{at}" for at in range(1, count)), "y"]
    nodes = [node.format(b, a=a) for a, b in itertools.pairwise(names)]
    return pool("\n".join(nodes))


SAME = conv("y = Conv<auto_pad = 'SAME_UPPER'>(x, w)".replace("'", '"'))
PADS = conv("y = Conv<pads = [1, 1]>(x, w)")


def test_same_is_its_pads_for_all_sizes_and_weights() -> None:
    proof = prove(SAME, PADS)
    assert proof.verdict == "proved"
    (region,) = proof.regions
    assert (set(region.cuts), region.open_sizes) == ({"w", "x"}, ("H",))
    assert 0 < proof.probability < 1e-9
    assert not proof.rounded


def test_a_wrong_pad_is_refuted_with_numbers() -> None:
    proof = prove(SAME, conv("y = Conv<pads = [0, 2]>(x, w)"))
    assert proof.verdict == "refuted"
    assert re.fullmatch(r"y\[0, 0, \d+\] is [-\d.e+]+, then [-\d.e+]+, at H=\d+", proof.reason)
    shown = proof.counterexample
    assert shown is not None
    assert shown.inputs["x"].shape == (1, 2, shown.sizes["H"])


@pytest.mark.parametrize(
    "count", [10, 61, *(pytest.param(count, marks=pytest.mark.sweep) for count in (62, 200))]
)
def test_doubling_is_never_the_identity(count: int) -> None:
    """Modulo 2**61 - 1, 61 doublings are."""
    once = pool("y = Identity(x)")
    doubled = chain(count, "{} = Add({a}, {a})")
    assert prove(once, doubled, limits=Limits(seconds=0.5)).verdict != "proved"


@pytest.mark.parametrize("count", [3, 61, pytest.param(64, marks=pytest.mark.sweep)])
def test_squaring_is_never_the_identity(count: int) -> None:
    """Modulo a prime p, x to the p is x; beyond a degree nothing is decided."""
    squared = chain(count, "{} = Mul({a}, {a})")
    proof = prove(pool("y = Identity(x)"), squared, limits=Limits(seconds=0.5))
    assert proof.verdict != "proved"
    if count > 40:
        assert proof.verdict == "undecided"


@pytest.mark.parametrize("factor", [2.0**61, float(2**61 - 1), 1.0000001, -1.0])
def test_a_factor_is_not_one(factor: float) -> None:
    body = "g (float[1,1,4] x) => (float[a,b,c] y) <float f = {{{0}}}> {{ y = Mul(x, f) }}"
    other = text(body.format(repr(factor)))
    assert prove(text(body.format("1.0")), other).verdict != "proved"


LIMITED = """l = Constant<value = float {0}>()
h = Constant<value = float {6}>()
y = Clip(x, l, h)"""
PADDED = """p = Constant<value_ints = [0, 0, 1, 0, 0, 1]>()
v = Constant<value = float {VALUE}>()
t = Pad(x, p, v)
y = MaxPool<kernel_shape = [3]>(t)"""
MAXIMUM = "y = MaxPool<kernel_shape = [3], pads = [1, 1]>(x)"
AVERAGE = "y = AveragePool<kernel_shape = [3], pads = [1, 1]REST>(x)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = Relu(x)", LIMITED),
        (MAXIMUM, PADDED.replace("VALUE", "-3")),
        (MAXIMUM, PADDED.replace("VALUE", "0")),
        ("y = Sigmoid(x)", "y = Tanh(x)"),
        (AVERAGE.replace("REST", ""), AVERAGE.replace("REST", ", count_include_pad = 1")),
    ],
)
def test_neighbours_are_refuted(before: str, after: str) -> None:
    assert prove(pool(before), pool(after)).verdict == "refuted"


@pytest.mark.parametrize("number", ["-2.5", "0", "inf", "-inf"])
def test_clipped_to_one_number_it_is_that_number(number: str) -> None:
    """Whatever the data: nothing of it is left to differ."""
    body = f"l = Constant<value = float {{{number}}}>()\ny = Clip(x, l, h)"
    one = body.replace("h)", "l)")
    assert prove(pool(one), pool("a = Tanh(x)\n" + one.replace("(x", "(a"))).verdict == "proved"
    higher = "h = Constant<value = float {7}>()\n" + body
    assert prove(pool(one), pool(higher)).verdict != "proved"


def test_behind_relu_a_pad_of_zeros_is_neutral_to_a_maximum() -> None:
    pads = "p = Constant<value_ints = [0, 0, 1, 0, 0, 1]>()\n"
    for front, verdict in (("Relu", "proved"), ("Sigmoid", "proved"), ("Tanh", "refuted")):
        before = pool(f"t = {front}(x)\ny = MaxPool<kernel_shape = [3], pads = [1, 1]>(t)")
        after = pool(f"t = {front}(x)\n{pads}s = Pad(t, p)\ny = MaxPool<kernel_shape = [3]>(s)")
        assert prove(before, after).verdict == verdict


LAST = "y = AveragePool<kernel_shape = [3]>(t)"
GATE = """g (float[1,1,H] x) => (float[a,b,c] y) <int64[1] at = {{{size}}}> {{
  t = Tanh(x)
  s = Shape<start = 2>(x)
  e = Equal(s, at)
  o = Cast<to = 1>(e)
  y = {last}
}}"""


@pytest.mark.parametrize("size", [3, 1000, pytest.param(70000, marks=pytest.mark.sweep)])
def test_a_difference_at_the_size_that_is_compared_with(size: int) -> None:
    before, after = (
        text(GATE.format(size=size, last=last)) for last in ("Identity(t)", "Add(t, o)")
    )
    proof = prove(before, after)
    assert proof.verdict == "refuted"
    assert proof.reason.endswith(f"at H={size}")


@pytest.mark.parametrize("lost", [True, False])
def test_a_default_that_one_side_alone_lets_callers_replace(lost: bool) -> None:
    full = text(
        "g (float[2] x, float[2] p) => (float[2] y) <float[2] p = {1, 2}> { y = Add(x, p) }"
    )
    less = text("g (float[2] x) => (float[2] y) <float[2] p = {1, 2}> { y = Add(x, p) }")
    other = text("g (float[2] x) => (float[2] y) <float[2] q = {1, 3}> { y = Add(x, q) }")
    proof = prove(*((full, less) if lost else (less, full)))
    assert (proof.verdict, proof.readings) == ("proved", ("p keeps the default",))
    assert prove(*((full, other) if lost else (other, full))).verdict == "refuted"
    changed = text(
        "g (float[2] x, float[2] p) => (float[2] y) <float[2] p = {1, 3}> { y = Add(x, p) }"
    )
    assert prove(full, changed).verdict == "refuted"
    half = "g (float[2] x, float[2] p) => (float[2] y) <float[2] p = {2, 4}, float h = {0.5}>"
    equal = prove(full, text(half + " { t = Mul(p, h)\n y = Add(x, t) }"))
    assert (equal.verdict, equal.reason) == ("undecided", "p has another default, and may be given")
    required = text("g (float[2] x, float[2] p) => (float[2] y) { y = Add(x, p) }")
    assert prove(required, less).reason == "the inputs were x, p and are x"


def test_constants_that_are_no_numbers() -> None:
    body = "g (float[2] x) => (float[2] y) <float[2] c = {{1, 2}}> {{ t = Add(x, c)\n y = {0}(t) }}"
    first, second = (text(body.format(op)) for op in ("Identity", "Identity"))
    nan = numpy_helper.from_array(np.array([1, np.nan], np.float32), "c")
    second.graph.initializer[0].CopyFrom(nan)
    proof = prove(first, second)
    assert proof.verdict == "undecided"
    assert "NaN" in proof.reason


def test_external_weights_are_hashed_in_their_folder(tmp_path: Path) -> None:
    def written(name: str, nodes: str, shift: float = 0) -> onnx.ModelProto:
        folder = tmp_path / name
        folder.mkdir()
        model = conv(nodes)
        array = numpy_helper.to_array(model.graph.initializer[0]) + np.float32(shift)
        model.graph.initializer[0].CopyFrom(numpy_helper.from_array(array, "w"))
        onnx.save(
            model, folder / "m.onnx", save_as_external_data=True, location="w", size_threshold=0
        )
        return onnx.load(folder / "m.onnx", load_external_data=False)

    first = written("a", "y = Conv<pads = [1, 1]>(x, w)")
    second = written("b", 'y = Conv<auto_pad = "SAME_UPPER">(x, w)')
    third = written("c", 'y = Conv<auto_pad = "SAME_UPPER">(x, w)', 1)
    folders = {name: tmp_path / name for name in "abc"}
    assert prove(first, second, outside=(folders["a"], folders["b"])).verdict == "proved"
    assert prove(first, third, outside=(folders["a"], folders["c"])).verdict == "refuted"
    assert prove(first, second).verdict == "undecided"


@pytest.mark.parametrize("limits", [Limits(cells=10), Limits(seconds=0)])
def test_budgets_end_with_a_reason(limits: Limits) -> None:
    proof = prove(SAME, PADS, limits=limits)
    assert proof.verdict == "undecided"
    assert "budget" in proof.reason


DROPOUT = "t = Constant<value = bool {1}>()\nh = Constant<value = float {0.5}>()\nr = Dropout"


@pytest.mark.parametrize(
    "nodes",
    [
        "r = RandomNormalLike(x)",
        "r = RandomNormalLike<seed = 3.0>(x)",
        "r = RandomNormal<shape = [2], seed = 3.0>()",
        "r = RandomUniform<shape = [2]>()",
        "r = RandomUniformLike(x)",
        "r = Bernoulli(x)",
        f"{DROPOUT}(x, h, t)",
        f"{DROPOUT}<seed = 7>(x, h, t)",
        "n = Not(c)\nh = Constant<value = float {0.5}>()\nr = Dropout(x, h, n)",
    ],
)
def test_random_operators_are_no_functions(nodes: str) -> None:
    body = f"g (float[2] x, bool c) => (float[2] y) {{ {nodes}\ny = Add(x, r) }}"
    assert prove(text(body), text(body)).verdict == "undecided"


def test_a_dropout_that_does_not_train_is_a_function() -> None:
    false = DROPOUT.replace("bool {1}", "bool {0}")
    for nodes, opset in ((f"{false}(x, h, t)", 13), ("r = Dropout(x)", 13), ("r = Dropout(x)", 7)):
        body = f"g (float[2] x) => (float[2] y) {{ {nodes}\ny = Add(x, r) }}"
        plain = "g (float[2] x) => (float[2] y) { y = Add(x, x) }"
        for other in (body, plain):
            assert prove(text(body, opset), text(other, opset)).verdict == "proved"


@pytest.mark.parametrize("dims", [{"H": 8}, {"H": "%2=0"}])
def test_what_is_said_of_sizes(dims: dict[str, int | str]) -> None:
    before = conv('y = Conv<auto_pad = "SAME_UPPER", strides = [2]>(x, w)')
    after = conv("y = Conv<pads = [0, 1], strides = [2]>(x, w)")
    assert prove(before, after, dims=dims).verdict == "proved"
    assert prove(before, after).verdict == "refuted"


COMPUTED = """
    {to}_shape = Shape({x})
    {to}_size = Slice({to}_shape, two, three)
    {to}_up = Add({to}_size, one)
    {to}_steps = Div({to}_up, two)
    {to}_last = Sub({to}_steps, one)
    {to}_start = Mul({to}_last, two)
    {to}_end = Add({to}_start, three)
    {to}_open = Sub({to}_end, {to}_size)
    {to}_total = Max({to}_open, zero)
    {to}_begin = Div({to}_total, two)
    {to}_rest = Sub({to}_total, {to}_begin)
    {to}_pads = Concat<axis = 0>(zero, zero, {to}_begin, zero, zero, {to}_rest)
    {to}_padded = Pad({x}, {to}_pads)
    {to} = Conv<strides = [2]>({to}_padded, w)
"""
"""SAME of a kernel of 3 and a stride of 2, as a model computes it."""
FOUR = (("x", "a"), ("a", "b"), ("b", "c"), ("c", "y"))


def layered(*layers: str) -> onnx.ModelProto:
    numbers = "int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}"
    weight = "float[1,1,3] w = {1, 2, 4}"
    body = "\n".join(layers)
    return text(f"g (float[1,1,H] x) => (float[1,1,D] y) <{numbers}, {weight}> {{ {body} }}")


def computed(x: str, to: str) -> str:
    return COMPUTED.format(x=x, to=to)


def fixed(x: str, to: str, pads: str = "0, 1") -> str:
    return f"{to} = Conv<strides = [2], pads = [{pads}]>({x}, w)"


@pytest.mark.parametrize(
    "count", [1, 2, *(pytest.param(count, marks=pytest.mark.sweep) for count in (3, 4))]
)
def test_computed_pads_in_a_row_are_proved_under_what_is_said_of_sizes(count: int) -> None:
    layers = FOUR[-count:]
    layers = (("x", layers[0][1]), *layers[1:])
    before, after = (
        layered(*(computed(*one) for one in layers)),
        layered(*(fixed(*one) for one in layers)),
    )
    assert prove(before, after, dims={"H": f"%{2**count}=0"}).verdict == "proved"
    weaker = prove(before, after, dims={"H": f"%{2 ** (count - 1)}=0"})
    assert weaker.verdict == "refuted"


def test_tensors_that_nobody_makes_are_not_the_same() -> None:
    one, other = (pool(f"a = Slice(x, {name}, {name}) y = Relu(a)") for name in ("p", "q"))
    assert prove(one, other).verdict == "undecided"


def test_all_bodies_of_an_if_are_compared() -> None:
    body = (
        "g (bool c, float[1,1,6] x) => (float[a,b,d] y) {{ y = If(c)<"
        "then_branch = t () => (float[a,b,d] u) {{ u = AveragePool<kernel_shape = [2], {0}>(x) }},"
        "else_branch = e () => (float[a,b,d] v) {{ v = AveragePool<kernel_shape = [2], {1}>(x) }}"
        "> }}"
    )
    none, same, other = 'auto_pad = "VALID"', "pads = [0, 0]", "pads = [0, 1]"
    assert prove(text(body.format(none, none)), text(body.format(same, none))).verdict == "proved"
    assert prove(text(body.format(none, none)), text(body.format(none, same))).verdict == "proved"
    for pair in ((other, none), (none, other)):
        assert prove(text(body.format(none, none)), text(body.format(*pair))).verdict == "refuted"


def test_types_that_an_operator_does_not_take() -> None:
    body = "g (int8[1,1,4] x) => (int8[a,b,c] y) { y = OP<kernel_shape = [1]>(x) }"
    before, after = (text(body.replace("OP", op)) for op in ("MaxPool", "AveragePool"))
    said = "AveragePool of int8, which opset 18 does not take"
    proof = prove(before, after)
    assert (proof.verdict, proof.reason) == ("refuted", f"there is no result any more: {said}")
    assert prove(after, before).verdict == "undecided"


def test_whole_numbers_that_differ_by_one() -> None:
    """One more is another number, but not where rounding turns over."""
    body = "g (uint8[1,1,4] x) => (uint8[a,b,c] y) {{ "
    body += "p = Constant<value_ints = [0, 0, 1, 0, 0, 0]>()\n"
    body += "v = Constant<value = uint8 {{{0}}}>()\ny = Pad(x, p, v) }}"
    assert prove(text(body.format(3)), text(body.format(4))).verdict == "refuted"
    front = "g (float[4] x) => (uint8[4] y) {{ s = Constant<value = float {{{0}}}>()\n"
    front += "z = Constant<value = uint8 {{5}}>()\ny = QuantizeLinear(x, s, z) }}"
    far = front.replace("QuantizeLinear(x, s, z)", "QuantizeLinear(t, s, z)")
    far = far.replace("y = ", "v = Constant<value = float {{{1}}}>()\nt = Mul(x, v)\ny = ")
    assert (
        prove(text(far.format("0.5", "3e38")), text(far.format("0.5", "1.0"))).verdict == "refuted"
    )
    near = text(front.format("0.50000001"))
    assert prove(text(front.format("0.5")), near).verdict != "refuted"


def test_pads_that_a_caller_gives_are_no_numbers() -> None:
    body = "g (float[1,1,8] x, int64[6] p) => (float[a,b,c] y) {{ t = Pad(x, p)\n{0} }}"
    defaults = body.replace("y) {{", "y) <int64[6] p = {{0, 0, 1, 0, 0, 1}}> {{")
    padded = "y = AveragePool<kernel_shape = [3], {}>({})"
    right, wrong = padded.format("pads = [1, 1], count_include_pad = 1", "x"), "y = Cos(t)"
    plain = padded.format("pads = [0, 0]", "t")
    for graph in (body, defaults):
        proof = prove(*(text(graph.format(one)) for one in (plain, wrong)))
        assert (proof.verdict, proof.reason.count("where p is")) == ("refuted", graph == body)
    proof = prove(*(text(defaults.format(one)) for one in (plain, right)))
    assert proof.verdict == "refuted"
    assert proof.counterexample is not None
    assert proof.counterexample.replaced == ("p",)
    turned = "n = Neg(x)\ns = Pad(n, p)\nm = Neg(s)\n" + padded.format("pads = [0, 0]", "m")
    proof = prove(*(text(body.format(one)) for one in (plain, turned)))
    assert proof.verdict == "undecided"
    assert "not known before the model runs" in proof.reason
    pool = "y = MaxPool<kernel_shape = [2], {0}>(t)"
    same = (text(body.format(pool.format(one))) for one in ('auto_pad = "VALID"', "pads = [0, 0]"))
    assert prove(*same).verdict == "proved"


@pytest.mark.parametrize("auto", ["VALID", "SAME_UPPER"])
@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
def test_auto_pad_beside_pads_of_0_is_not_text(auto: str, op: str) -> None:
    """ONNX forbids both together; onnxruntime does not load it."""
    body = "g (float[1,1,8] x) => (float[a,b,c] y) <float[1,1,2] w = {{1, 2}}>"
    body += " {{ y = {0}<{1}>(x, w) }}"
    before = text(body.format(op, f'auto_pad = "{auto}"'))
    after = text(body.format(op, f'auto_pad = "{auto}", pads = [0, 0]'))
    assert prove(before, after).verdict == "undecided"


def test_the_lowest_float_is_no_number_in_maxima_alone() -> None:
    least = repr(float(np.finfo(np.float32).min))
    front = "p = Constant<value_ints = [0, 0, 1, 0, 0, 1]>()\nv = Constant<value = float {0}>()\n"
    pads = front.replace("{0}", "{{{0}}}") + "t = Pad(x, p, v)\ny = {1}<kernel_shape = [3]>(t)"
    maximum = pool(pads.format(least, "MaxPool"))
    assert prove(pool(MAXIMUM), maximum).verdict == "proved"
    average = pool(pads.format(least, "AveragePool"))
    assert prove(average, pool(pads.format("-3e38", "AveragePool"))).verdict == "refuted"


def test_channels_may_be_the_last_axis() -> None:
    """The second axis then needs as many cells as a window spans."""
    body = (
        "g (int8[1,H,W,2] x) => (int8[a,b,c,d] y) "
        "{{ y = com.microsoft.NhwcMaxPool<kernel_shape = [3, 2], dilations = [3, 1], {0}>(x) }}"
    )
    before = text(body.format('auto_pad = "VALID"'))
    assert prove(before, text(body.format("pads = [0, 0, 0, 0]"))).verdict == "proved"
    assert prove(before, text(body.format("pads = [0, 1, 0, 0]"))).verdict == "refuted"


@pytest.mark.parametrize(("kind", "value"), [("int8", -127), ("uint8", 1)])
def test_a_pad_next_to_the_lowest_whole_number_shows_where_all_data_is_lower(
    kind: str, value: int
) -> None:
    head = f"g ({kind}[1,1,20] x) => ({kind}[a,b,c] y) <int64[6] p = {{0,0,4,0,0,0}}, {kind} v = "
    pool = "t = Pad(x, p, v) y = MaxPool<kernel_shape = [9], strides = [5]>(t)"
    lowest = 0 if kind == "uint8" else -128
    before, after = (text(f"{head}{{{one}}}> {{ {pool} }}") for one in (lowest, value))
    found = prove(before, after)
    assert found.verdict == "refuted"
    assert found.reason == f"y[0, 0, 0] is {lowest}, then {value}"


def test_the_first_axis_may_be_one_of_an_image() -> None:
    """An image of [H, W, C]: at sizes of one or two the kernel finds no window."""
    steps = "s = Unsqueeze(x, first) t = Transpose<perm = [0, 3, 1, 2]>(s) y = Conv"
    head = "g (float[H,W,2] x) => (float[a,b,c,d] y) <int64[1] first = {0}, float[1,2,7,7] w = "
    same, right, wrong = (
        text(f"{head}{{{weights(98)}}}> {{ {steps}<strides = [4, 4]{more}>(t, w) }}")
        for more in ("", ", pads = [0, 0, 0, 0]", ", pads = [0, 0, 1, 0]")
    )
    assert prove(same, right).verdict == "proved"
    assert prove(same, wrong).verdict == "refuted"


def test_tensors_that_a_few_bytes_describe_take_no_memory() -> None:
    """Shapes are followed without cells: a node of a gigabyte once took 8 here."""
    nodes = """n = Constant<value = int64[3] {1, 1, 268435456}>()
        z = ConstantOfShape(n)  c = Concat<axis = 2>(z, x)  """
    graph = "g (float[1,1,4] x) => (float[a,b,c] y) {{ {} {} }}"
    pooled = "y = MaxPool<kernel_shape = [3], {}>({})"
    before = text(graph.format(nodes, pooled.format("pads = [1, 1]", "c")))
    spelled = f"r = Neg(c) q = Neg(r) {pooled.format('pads = [1, 1]', 'q')}"
    after = text(graph.format(nodes, spelled))
    tracemalloc.start()
    try:
        proof = prove(before, after, limits=Limits(cells=4_000_000))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert proof.verdict == "undecided"
    assert most < 2**26


def running_ahead(clock: Callable[[], float], seconds: float) -> Callable[[], float]:
    """A clock on which each look finds so many seconds more."""
    looks = itertools.count()
    return lambda: clock() + next(looks) * seconds


@pytest.mark.parametrize(
    ("of_thread", "on_wall", "limits", "verdict"),
    [
        (0, 5, Limits(seconds=20, slowdown=1e6), "proved"),
        (0, 5, Limits(seconds=20, slowdown=2), "undecided"),
        (5, 0, Limits(seconds=20, slowdown=1e6), "undecided"),
    ],
    ids=["others run", "nothing runs", "it runs"],
)
def test_only_the_time_of_the_proof_itself_counts(
    of_thread: float, on_wall: float, limits: Limits, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "thread_time", running_ahead(time.thread_time, of_thread))
    monkeypatch.setattr(time, "monotonic", running_ahead(time.monotonic, on_wall))
    assert prove(SAME, PADS, limits=limits).verdict == verdict


ENDLESS = "e = Constant<value = float {-inf}>() u = Constant<value = float {inf}>()"
LOWEST = "e = Constant<value = float {-3.4028235e38}>()"
SCALE = "k = Constant<value = float {1e-37}>() n = Constant<value_ints = [0, 0, 2, 0, 0, 0]>()"
FILLED = "f = Pad(x, n, e)"
POOLED = f"{FILLED} m = MaxPool<kernel_shape = [1]>(f)"
AVERAGED = f"{FILLED} a = AveragePool<kernel_shape = [2]>(f) y = Add(a, k)"


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{ENDLESS} y = Add(x, e)", f"{LOWEST} y = Add(x, e)"),
        (f"{ENDLESS} y = Add(x, e)", f"{ENDLESS} y = Add(x, u)"),
        (f"{ENDLESS} t = Add(x, e) y = Add(t, u)", f"{ENDLESS} y = Add(x, u)"),
        (f"{ENDLESS} t = Add(x, u) y = Sub(t, u)", f"{ENDLESS} y = Identity(x)"),
        (f"{ENDLESS} t = Max(x, u) y = Add(t, e)", f"{ENDLESS} y = Add(x, e)"),
        (
            f"{ENDLESS} t = Pad(x, n, u) p = PRelu(t, k) y = Add(p, e)",
            f"{ENDLESS} {FILLED} y = Add(f, e)",
        ),
        *(
            (
                f"{LOWEST} {POOLED} y = {last}(m, k)",
                f"{ENDLESS} t = {last}(x, k) y = Pad(t, n, e)",
            )
            for last in ("Add", "Mul")
        ),
        (f"{ENDLESS} {AVERAGED}", f"{LOWEST} {AVERAGED}"),
    ],
)
def test_no_infinity_is_taken_for_another_number(before: str, after: str) -> None:
    first, second = (pool(f"{SCALE} {body}") for body in (before, after))
    assert prove(first, second, limits=Limits(seconds=0.5)).verdict != "proved"


def test_a_window_of_the_lowest_number_alone_is_a_reading() -> None:
    """By the text it is that number and -inf; runtimes begin maxima with the number."""
    alone = f"{FILLED} y = MaxPool<kernel_shape = [1]>(f)"
    first, second = (pool(f"{SCALE} {one} {alone}") for one in (LOWEST, ENDLESS))
    found = prove(first, second)
    assert found.verdict == "proved"
    assert found.readings == ("a maximum of the lowest finite numbers alone is -inf",)
    wider = "f = Pad(x, n, e) y = MaxPool<kernel_shape = [3]>(f)"
    first, second = (pool(f"{SCALE} {one} {wider}") for one in (LOWEST, ENDLESS))
    found = prove(first, second)
    assert (found.verdict, found.readings) == ("proved", ()), "each window holds a number"


CALLS = """g (float[1,1,H] x) => (float[a,b,c] y) {{ y = com.microsoft.Outer{call}(x) }}
<domain: "com.microsoft", opset_import: ["" : 18]>
Inner <p: ints = [1, 1]> (a) => (b) {{ b = MaxPool<kernel_shape = [3], pads: ints = @p>(a) }}
<domain: "com.microsoft", opset_import: ["" : 18, "com.microsoft" : 1]>
Outer <q: int = 0> (a) => (b) {{
    i = Constant<value_int: int = @q>()
    c = Cast<to = 9>(i)
    b = If(c) <then_branch = one () => (float[a,b,d] t) {{ t = Relu(a) }},
        else_branch = other () => (float[a,b,d] u) {{ u = com.microsoft.Inner{inner}(a) }}>
}}"""


@pytest.mark.parametrize(
    ("call", "inner", "pads"), [("", "", "[1, 1]"), ("<q = 0>", "<p = [0, 1]>", "[0, 1]")]
)
def test_attributes_that_calls_leave_out_have_their_defaults(
    call: str, inner: str, pads: str
) -> None:
    called = text(CALLS.format(call=call, inner=inner))
    plain = "y = MaxPool<kernel_shape = [3], pads = {}>(x)"
    assert prove(called, pool(plain.format(pads))).verdict == "proved"
    assert prove(called, pool(plain.format("[0, 0]"))).verdict == "refuted"
