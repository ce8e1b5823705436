"""Models that compute with open sizes: what is equal at small sizes alone is not proved."""

import onnx
import pytest

from onnxpad.proof import Limits, prove
from tests.proof.small_models import text

NUMBERS = (*range(-9, 10), 20, 31, 40, 41, 50, 60, 100, 128)
SIZE = "s = Shape(x) n = Slice(s, c2, c3)\n"
"""The size of the last axis of three, or of the last but one of four."""
PICKED = "q = Concat<axis = 0>(c0, c0, {}, c0, c0, c0) y = Pad(x, q)"
TABLE = ", ".join("01"[at >= 40] for at in range(100))
ONCE = ", ".join("01"[at == 4] for at in range(100))
Case = tuple[str, str, str, dict[str, int | str]]


def named(number: int) -> str:
    return f"c{number}" if number >= 0 else f"m{-number}"


def model(
    body: str, inputs: str = "float[1,1,H] x", more: str = "", opset: int = 18
) -> onnx.ModelProto:
    constants = [f"int64[1] {named(one)} = {{{one}}}" for one in NUMBERS]
    constants += [f"float[1,1,{k}] w{k} = {{{', '.join('123456'[:k])}}}" for k in (2, 3, 4)]
    constants += [more] if more else []
    result = "float[a,b,c,d] y" if "W]" in inputs or ",5]" in inputs else "float[a,b,c] y"
    result = "float[a,b,c,d] y" if ",10]" in inputs else result
    return text(f"g ({inputs}) => ({result}) <{', '.join(constants)}> {{ {body} }}", opset)


def case(body: str, wrong: str, right: str, inputs: str = "float[1,1,H] x", **dims: str) -> Case:
    return body.replace("WRONG", wrong), body.replace("WRONG", right), inputs, dict(dims)


LIST = (
    "o = ConstantOfShape<value = int64[1] {1}>(n) v = ConstantOfShape<value = int64[1] {0}>(c100)"
)
LIST = f"{SIZE} {LIST} l = Concat<axis = 0>(o, v)\n"
BRANCH = """a = MaxPool<kernel_shape = [2], strides = [{}]>(x) r = Relu(a)
{} = Conv<strides = [2], WRONG>(r, w3)"""
BRANCHES = f"""y = If(c) <then_branch = one () => (float[a,b,d] t) {{ {BRANCH.format(2, "t")} }},
else_branch = other () => (float[a,b,e] u) {{ {BRANCH.format(1, "u")} }}>"""
BOTH = ('auto_pad = "SAME_UPPER"', "pads = [0, 1]")
GROWN = "W = Greater(k, WRONG) e = Where(W, c1, c0)\n" + PICKED.format("e")

CASES: dict[str, Case] = {
    "an axis of a fixed size grows by pads alone": case(
        f"""{SIZE} p = Mod(n, c2) q = Concat<axis = 0>(c0, c0, c0, c0, c0, c0, c0, p) d = Pad(x, q)
        t = Shape(d) k = Slice(t, c3, c4) g = Sub(n, k) W = Greater(g, WRONG) e = Where(W, c1, c0)
        v = Concat<axis = 0>(c0, c0, c0, c0, c0, c0, e, c0) y = Pad(d, v)""",
        "c60",
        "c100",
        "float[1,1,H,5] x",
    ),
    "channels are those of an open weight": case(
        "a = Conv(x, v) b = Relu(a) r = Slice(b, c0, WRONG, c1) y = Relu(r)",
        "c20",
        "c31",
        "float[1,1,H] x, float[M,1,3] v",
    ),
    "a kernel of an open size": case(
        "a = Conv(x, v) t = Shape(a) k = Slice(t, c2, c3) W = Less(k, WRONG) e = Where(W, c1, c0)"
        + PICKED.format("e"),
        "c20",
        "c9",
        "float[1,1,100] x, float[1,1,K] v",
    ),
    "parts of a fixed axis that were computed": case(
        f"""{SIZE} p = Mod(n, c5) q = Sub(c9, p) k = Concat<axis = 0>(c1, p, q)
        a, b, z = Split<axis = 3>(x, k) r = Relu(z) y = Slice(r, c0, WRONG, c3)""",
        "c7",
        "c6",
        "float[1,1,H,10] x",
    ),
    "axes that were computed": case(
        f"""{SIZE} g = Greater(n, c60) a = Where(g, c3, c2) p = Concat<axis = 0>(c1, c2)
        d = Pad(x, p, , a) r = Relu(d) y = Slice(r, c0, WRONG, c3)""",
        "c9",
        "c20",
        "float[1,1,H,5] x",
    ),
    "a table that a slice looks up": case(
        f"{SIZE} u = Add(n, c1) p = Slice(T, n, u) z = Mul(p, WRONG)" + PICKED.format("z"),
        "c1",
        "c0",
    ),
    "a table of rows of an open size": case(
        f"""{SIZE} u = Concat<axis = 0>(n, m1) t = Reshape(U, u) f = Slice(t, c1, c2, c0)
        g = Slice(f, c0, c1, c1) h = Reshape(g, c1) z = Mul(h, WRONG)"""
        + PICKED.format("z"),
        "c1",
        "c0",
    ),
    "channels by number": case(
        f"{SIZE} k = Min(n, WRONG) r = Relu(x) y = Gather<axis = 1>(r, k)",
        "c40",
        "c50",
        "float[1,100,H] x",
    ),
    "so many of the channels": case(
        f"{SIZE} r = Relu(x) q = Slice(r, c0, WRONG, c1) y = Slice(q, c0, n, c1)",
        "c50",
        "c100",
        "float[1,100,H] x",
    ),
    "a number from a list of an open length": case(
        f"{LIST} f = Gather(l, c40) z = Mul(f, WRONG)" + PICKED.format("z"), "c1", "c0"
    ),
    "a slice of a list of an open length": case(
        f"{LIST} f = Slice(l, c40, c41) z = Mul(f, WRONG)" + PICKED.format("z"), "c1", "c0"
    ),
    "one number of a list of an open length": case(
        f"""{LIST} f = Slice(l, c40, c41) g = Squeeze(f, c0) h = Unsqueeze(g, c0)
        z = Mul(h, WRONG)"""
        + PICKED.format("z"),
        "c1",
        "c0",
    ),
    "the length of a list": case(
        f"{SIZE} h = Div(n, c8) l = ConstantOfShape(h) t = Shape(l) k = Slice(t, c0, c1) {GROWN}",
        "c20",
        "c60",
        H="%8=0",
    ),
    "a size that was stretched": case(
        f"""{SIZE} p = Concat<axis = 0>(c0, c0, m8, c0, c0, c0) a = Pad(x, p)
        t = ConvTranspose<strides = [4]>(a, w4) r = Shape(t) k = Slice(r, c2, c3)
        u = Mul(n, c31) v = Div(u, c8) W = Greater(k, v) e = Where(W, WRONG, c0)"""
        + PICKED.format("e"),
        "c1",
        "c0",
        H="%8=0",
    ),
    "sizes of which one is a multiple are compared": case(
        """s = Shape(x) n = Slice(s, c2, c3) k = Slice(s, c3, c4) W = Greater(k, n)
        e = Where(W, WRONG, c0)
        q = Concat<axis = 0>(c0, c0, c0, c0, c0, e, c0, c0) y = Pad(x, q)""",
        "c1",
        "c0",
        "float[1,1,H,W] x",
        H="%60=0",
    ),
    "a number that hangs on two sizes": case(
        """s = Shape(x) n = Slice(s, c2, c3) k = Slice(s, c3, c4) f = Mod(n, c7) g = Mod(k, c9)
        F = Equal(f, c0) G = Equal(g, c0) W = And(F, G) e = Where(W, WRONG, c0)
        q = Concat<axis = 0>(c0, c0, c0, c0, c0, e, c0, c0) y = Pad(x, q)""",
        "c1",
        "c0",
        "float[1,1,H,W] x",
    ),
    "branches with tensors of one name": case(BRANCHES, *BOTH, "float[1,1,H] x, bool c", H="%4=0"),
    "a size that jumps where sizes are large": case(
        f"""{SIZE} G = Greater(n, c60) e = Where(G, c1, c0)
        q = Concat<axis = 0>(c0, c0, c0, c0, c0, e) a = Pad(x, q) r = Relu(a)
        y = Conv<strides = [2], WRONG>(r, w3)""",
        *BOTH,
        H="%4=0",
    ),
    "a size that hangs on another axis": case(
        """s = Shape(x) n = Slice(s, c3, c4) p = Mod(n, c2)
        q = Concat<axis = 0>(c0, c0, c0, c0, c0, c0, p, c0) a = Pad(x, q) r = Relu(a)
        y = MaxPool<kernel_shape = [3, 1], strides = [2, 1], WRONG>(r)""",
        'auto_pad = "SAME_UPPER"',
        "pads = [0, 0, 1, 0]",
        "float[1,1,H,W] x",
        H="%4=0",
    ),
    "a table by number": case(
        f"{SIZE} p = Gather(T, n) z = Mul(p, WRONG) {PICKED.format('z')}", "c1", "c0"
    ),
    "a number from a list that is long enough": case(
        f"{LIST.replace('c100', 'c9')} f = Gather(l, c40) z = Mul(f, WRONG) {PICKED.format('z')}",
        "c1",
        "c0",
    ),
    "so many rows": case(
        f"{SIZE} u = Concat<axis = 0>(n, m1) t = Reshape(z, u) y = Slice(t, c0, WRONG, c0)",
        "c31",
        "c40",
        "float[1,1,H] x, float[100] z",
    ),
    "a size that jumps where sizes are larger": case(
        f"""{SIZE} G = Greater(n, c128) e = Where(G, c1, c0)
        q = Concat<axis = 0>(c0, c0, c0, c0, c0, e) a = Pad(x, q) r = Relu(a)
        y = Conv<strides = [2], WRONG>(r, w3)""",
        *BOTH,
        H="%2=0",
    ),
}


# Most wrong proofs of these take a quarter of a second or less; those of these take longer.
LONGER = ("axes that were computed", "a number that hangs on two sizes")


@pytest.mark.part(4)
@pytest.mark.parametrize("name", CASES)
def test_what_differs_at_large_sizes_alone_is_not_proved(name: str) -> None:
    first, second, inputs, dims = CASES[name]
    more = f"int64[100] T = {{{TABLE}}}, int64[100] U = {{{ONCE}}}"
    models = [model(body, inputs, more) for body in (first, second)]
    for before, after in (models, models[::-1]):
        limits = Limits(seconds=1 if name in LONGER else 0.5)
        assert prove(before, after, dims=dims, limits=limits).verdict != "proved"


SHIFTED = """{} e = Where(W, WRONG, c0) m = Neg(e) q = Concat<axis = 0>(c0, c0, e, c0, c0, m)
f = Pad(x, q)
"""
SLOW = "Less(g, c0) e = Where(W, WRONG, c0)" + PICKED.format("e")
FITTING: dict[str, Case] = {
    "a list that a fixed one is added to": case(
        f"{LIST.replace('c100', 'c20')} t = Shape(l) u = Mul(n, c2) g = Sub(t, u) W = {SLOW}",
        "c1",
        "c0",
    ),
    "an axis that a fixed one is added to": case(
        f"""{SIZE} a = Concat<axis = 2>(x, z) t = Shape(a) k = Slice(t, c2, c3) u = Mul(n, c2)
        g = Sub(k, u) W = {SLOW}""",
        "c1",
        "c0",
        "float[1,1,H] x, float[1,1,9] z",
    ),
    "few sizes that are spread out, and fit": (
        """a = MaxPool<kernel_shape = [4], strides = [4]>(x)
        b = MaxPool<kernel_shape = [2], pads = [0, 1]>(a) y = Add(b, F)""",
        "a = MaxPool<kernel_shape = [4], strides = [4]>(x) y = Add(a, F)",
        "float[1,1,H] x",
        {},
    ),
    "two sizes that are the same": case(
        SHIFTED.format(
            f"""{SIZE} r = Shape(z) k = Slice(r, c2, c3) i = Mod(n, c3) j = Mod(k, c5)
            I = Equal(i, c1) J = Equal(j, c3) W = And(I, J)"""
        )
        + "y = Concat<axis = 1>(f, z)",
        "c1",
        "c0",
        "float[1,1,H] x, float[1,1,W] z",
        H="%4=0",
        W="%4=0",
    ),
}


@pytest.mark.part(3)
@pytest.mark.parametrize("name", FITTING)
def test_what_differs_at_sizes_that_fit_is_not_proved(name: str) -> None:
    first, second, inputs, dims = FITTING[name]
    more = "float[1,1,6] F = {1, 2, 3, 4, 5, 6}"
    models = [model(body, inputs, more) for body in (first, second)]
    for before, after in (models, models[::-1]):
        proof = prove(before, after, dims=dims, limits=Limits(seconds=3))
        assert proof.verdict != "proved"


def test_two_sizes_of_one_name_are_not_taken_for_one() -> None:
    body = """s = Shape(x) b = Slice(s, c0, c1) n = Slice(s, c2, c3) W = Equal(b, n)
    e = Where(W, c0, WRONG) q = Concat<axis = 0>(c0, c0, c0, c0, c0, e) y = Pad(x, q)"""
    models = [model(body.replace("WRONG", one), "float[B,1,H] x") for one in ("c1", "c0")]
    for one in models:
        sizes = one.graph.input[0].type.tensor_type.shape.dim
        sizes[0].Clear()
        sizes[2].dim_param = "x[0]"
    assert prove(*models, limits=Limits(seconds=30)).verdict != "proved"


MEASURED = "t = Shape(a) k = Slice(t, c2, c3)\n"
GROWING = {
    "an axis that grows by pads": f"""{SIZE} h = Div(n, c8)
        p = Concat<axis = 0>(c0, c0, c0, c0, c0, h) a = Pad(x, p) {MEASURED}
        g = Sub(k, n) W = Greater(g, c3)""",
    "less a negative size": f"{SIZE} m = Neg(n) g = Sub(n, m) W = Greater(g, c40)",
    "a sum": f"{SIZE} g = Add(n, c1) W = Greater(g, c31)",
    "the smaller one": f"{SIZE} i = Min(n, c9) g = Sub(i, n) W = Less(g, m9)",
    "the larger one": f"{SIZE} i = Max(n, c9) g = Add(i, c1) W = Greater(g, c40)",
    "a multiple": f"{SIZE} u = Mul(n, c2) g = Sub(u, n) W = Greater(g, c20)",
    "a part": f"{SIZE} h = Div(n, c2) g = Sub(n, h) W = Greater(g, c9)",
    "twice negative": f"{SIZE} m = Neg(n) g = Sub(m, n) h = Neg(g) W = Greater(h, c40)",
    "without a sign": f"{SIZE} m = Neg(n) i = Abs(m) g = Add(i, n) W = Greater(g, c40)",
    "an axis behind a stride": f"""{SIZE} a = MaxPool<kernel_shape = [2], strides = [2]>(x)
        {MEASURED} g = Sub(n, k) W = Greater(g, c9)""",
    "an axis that is stretched": f"""{SIZE} a = ConvTranspose<strides = [2]>(x, w2) {MEASURED}
        g = Sub(k, n) W = Greater(g, c20)""",
    "sizes of two axes": """s = Shape(x) n = Slice(s, c2, c3) r = Shape(z) k = Slice(r, c2, c3)
        g = Sub(n, k) W = Greater(g, c9)""",
}


@pytest.mark.part(4)
@pytest.mark.parametrize("name", GROWING)
def test_what_grows_is_not_taken_for_level(name: str) -> None:
    body = f"{GROWING[name]} e = Where(W, WRONG, c0) {PICKED.format('e')}"
    inputs = "float[1,1,H] x" + ", float[1,1,W] z" * ("two axes" in name)
    before, after = (model(body.replace("WRONG", one), inputs) for one in ("c1", "c0"))
    assert prove(before, after, limits=Limits(seconds=30)).verdict != "proved"


@pytest.mark.parametrize("called", ["r[2]", "x[1]"])
def test_a_size_that_is_called_as_another_one_would_be(called: str) -> None:
    models = [
        model(
            f"a = MaxPool<kernel_shape = [2]>(x) r = Relu(a) u = Conv<strides = [2], {how}>(r, w3) "
            "y = Relu(u)",
            "float[1,1,H] x",
        )
        for how in BOTH
    ]
    for one in models:
        sizes = one.graph.input[0].type.tensor_type.shape.dim
        sizes[2].dim_param = called
        if called == "x[1]":
            sizes[1].Clear()
    dims: dict[str, int | str] = {called: "%2=0"}
    assert prove(*models, dims=dims, limits=Limits(seconds=1)).verdict != "proved"


TOTAL = """{t}l = Sub({t}k, c1) {t}m = Mul({t}l, c2) {t}e = Add({t}m, c3) {t}o = Sub({t}e, {t}n)
{t}T = Max({t}o, c0) {t}b = Div({t}T, c2) {t}r = Sub({t}T, {t}b)
"""
STEPS = "{t}u = Add({t}n, c1) {t}k = Div({t}u, c2)\n" + TOTAL
EACH = (
    "{t}s = Shape({x}) {t}h_n = Slice({t}s, c2, c3) {t}w_n = Slice({t}s, c3, c4)\n"
    + STEPS.replace("{t}", "{t}h_")
    + STEPS.replace("{t}", "{t}w_")
)
ZEROS = "c0, c0, {t}h_b, {t}w_b, c0, c0, {t}h_r, {t}w_r"
WAYS = {
    "one after the other": EACH + f"{{t}}p = Concat<axis = 0>({ZEROS})\n",
    "both at once": "{t}s = Shape({x}) {t}n = Slice({t}s, c2, c4)\n"
    + STEPS
    + "{t}p = Concat<axis = 0>(c0, c0, {t}b, c0, c0, {t}r)\n",
    "as F.pad is exported": EACH
    + """{t}z = ConstantOfShape<value = int64[1] {{0}}>(c4)
    {t}g = Concat<axis = 0>({t}w_b, {t}w_r, {t}h_b, {t}h_r, {t}z)
    {t}v = Constant<value_ints = [-1, 2]>() {t}f = Reshape({t}g, {t}v)
    {t}i = Slice({t}f, m1, m9, c0, m1) {t}j = Transpose<perm = [1, 0]>({t}i)
    {t}p = Reshape({t}j, m1)
    """,
}


@pytest.mark.part(3)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("batch", ["1", "N"])
def test_computed_pads_of_two_axes_are_proved_under_what_is_said_of_both(
    way: str, batch: str
) -> None:
    convolved = "{to} = Conv<strides = [2, 2]>({t}d, w)\n"
    layer = WAYS[way] + "{t}d = Pad({x}, {t}p) " + convolved
    plain = "{to} = Conv<strides = [2, 2], pads = [0, 0, 1, 1]>({x}, w)\n"
    names = ({"t": "a_", "x": "x", "to": "a"}, {"t": "b_", "x": "a", "to": "y"})
    weight = "float[1,1,3,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}"
    before, after = (
        model("".join(part.format(**one) for one in names), f"float[{batch},1,H,W] x", weight)
        for part in (layer, plain)
    )
    assert prove(before, after, dims={"H": "%4=0", "W": "%4=0"}).verdict == "proved"
    weaker = prove(before, after, dims={"H": "%4=0", "W": "%2=0"}, limits=Limits(seconds=0.5))
    assert weaker.verdict != "proved"


FLOAT = f"{SIZE} f = Cast<to = KIND>(n) k = Cast<to = KIND>(K) a = Div(f, k)\n"
SCALED = f"{FLOAT} b = Mul(a, k) c = Floor(b) d = Cast<to = 7>(c) e = Sub(d, n)"
WIDE, NARROW = "1", "10"


@pytest.mark.parametrize(
    ("numbers", "kind", "divisor"),
    [
        (SCALED, WIDE, 85),
        (SCALED, NARROW, 3),
        (f"{SIZE} f = Cast<to = KIND>(n) d = Cast<to = 7>(f) e = Sub(d, n)", NARROW, 1),
        (f"{FLOAT} b = Floor(a) d = Cast<to = 7>(b) i = Div(n, K) e = Sub(d, i)", NARROW, 3),
    ],
)
def test_a_float_that_is_rounded_at_large_sizes_proves_nothing(
    numbers: str, kind: str, divisor: int
) -> None:
    padded = f"{numbers.replace('KIND', kind)} {PICKED.format('e')}"
    before = model(padded, more=f"int64[1] K = {{{divisor}}}")
    proof = prove(before, model(PICKED.format("c0")))
    assert (proof.verdict, proof.reason) == ("undecided", "a rounded float decides")


@pytest.mark.parametrize("divisor", [3, 8])
def test_a_size_over_a_number_rounded_up_is_proved(divisor: int) -> None:
    ceiling = f"{FLOAT} b = Ceil(a) c = Mul(b, k) d = Cast<to = 7>(c) e = Sub(d, n)"
    whole = f"{SIZE} m = Neg(n) e = Mod(m, K)"
    before, after = (
        model(f"{one} {PICKED.format('e')}", more=f"int64[1] K = {{{divisor}}}")
        for one in (ceiling.replace("KIND", WIDE), whole)
    )
    assert prove(before, after).verdict == "proved"


@pytest.mark.parametrize(
    ("numbers", "same"),
    [
        ("e = Mod<fmod = 1>(n, c2)", "e = Mod(n, c2)"),
        ("p = Mod(n, c3) e = Pow(p, c2)", "p = Mod(n, c3) e = Mul(p, p)"),
        ("b = Cast<to = 9>(n) e = Cast<to = 7>(b)", "e = Identity(c1)"),
        ("b = Cast<to = 9>(n) i = Not(b) e = Cast<to = 7>(i)", "e = Identity(c0)"),
        (
            """m = Neg(n) b = Cast<to = 12>(m) i = Cast<to = 7>(b)
            W = Less(i, c0) e = Where(W, c1, c0)""",
            "e = Identity(c0)",
        ),
    ],
)
def test_numbers_without_a_rule_refute_nothing(numbers: str, same: str) -> None:
    models = [model(f"{SIZE} {one} {PICKED.format('e')}") for one in (numbers, same)]
    assert prove(*models).verdict != "refuted"


def test_models_are_not_compared_at_sizes_that_cannot_be() -> None:
    weight = f"float[1,3,3] v = {{{', '.join('123456789')}}}"
    models = [
        model(f"y = Conv<pads = {pads}>(x, v)", "float[1,C,8] x", weight)
        for pads in ("[1, 1]", "[1, 0]")
    ]
    assert prove(*models).verdict == "refuted"
    assert prove(*models, dims={"C": "%2=0"}).verdict == "undecided"
