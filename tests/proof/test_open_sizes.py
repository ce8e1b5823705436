"""Models that compute with open sizes: what is equal at small sizes alone is not proved."""

from typing import NamedTuple

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from onnxpad.proof import Limits, prove
from tests.proof.small_models import text

Whole = NDArray[np.int64]
NUMBERS = (*range(-9, 10), 20, 31, 40, 41, 50, 60, 100)
SIZE = "s = Shape(x) n = Slice(s, c2, c3)\n"
"""The size of the last axis of three, or of the last but one of four."""
PICKED = "q = Concat<axis = 0>(c0, c0, {}, c0, c0, c0) y = Pad(x, q)"
TABLE = np.random.default_rng(3).integers(0, 3, 100)
BOTH = ('auto_pad = "SAME_UPPER"', "pads = [0, 1]")


def named(number: int) -> str:
    return f"c{number}" if number >= 0 else f"m{-number}"


def model(body: str, inputs: str = "float[1,1,H] x", more: str = "") -> onnx.ModelProto:
    constants = [f"int64[1] {named(one)} = {{{one}}}" for one in NUMBERS]
    constants += [f"float[1,1,{k}] w{k} = {{{', '.join('123456'[:k])}}}" for k in (2, 3, 4)]
    constants += [more] if more else []
    is_image = any(one in inputs for one in ("H,W]", ",5]", ",10]"))
    result = "float[a,b,c,d] y" if is_image else "float[a,b,c] y"
    return text(f"g ({inputs}) => ({result}) <{', '.join(constants)}> {{ {body} }}")


class Number(NamedTuple):
    """A number that a model computes from sizes: its name, and what it is at all of them."""

    name: str
    values: Whole


class Drawn:
    """Numbers drawn from the sizes of two inputs, as text and at all pairs of sizes."""

    def __init__(self, seed: int, step: int) -> None:
        self.random = np.random.default_rng(seed)
        n, m = np.meshgrid(np.arange(step, 240, step), np.arange(1, 240))
        self.lines = [SIZE, "r = Shape(z) m = Slice(r, c2, c3)"]
        self.numbers = [Number("n", n.ravel()), Number("m", m.ravel())]
        self.valid = np.ones(n.size, bool)

    def add(self, line: str, values: Whole) -> Number:
        """A line that makes `{}`."""
        made = Number(f"v{len(self.numbers)}", values)
        self.lines.append(line.replace("{}", made.name))
        self.numbers.append(made)
        return made

    def constant(self, number: int) -> str:
        name = f"k{len(self.lines)}"
        self.lines.append(f"{name} = Constant<value_ints = [{number}]>()")
        return name

    def between(self, one: Number, low: int, high: int) -> Number:
        largest = self.add(f"{{}} = Max({one.name}, {self.constant(low)})", one.values.clip(low))
        smaller = largest.values.clip(None, high)
        return self.add(f"{{}} = Min({largest.name}, {self.constant(high)})", smaller)

    def step(self) -> None:  # noqa: C901, PLR0912, PLR0915 - a table of operators
        """One more number, from those that are there; the last one as a rule."""
        weights = [1.0] * len(self.numbers)
        weights[0], weights[-1] = 3, 4
        share = np.asarray(weights) / sum(weights)
        one, other = (self.numbers[at] for at in self.random.choice(len(weights), 2, p=share))
        k, few = int(self.random.integers(2, 60)), int(self.random.integers(2, 9))
        axis, n = "t{} = Shape(a{}) {} = Slice(t{}, c2, c3)", self.numbers[0].values
        a, b, name = one.values, other.values, one.name
        match int(self.random.integers(18)):
            case 0:
                self.add(f"{{}} = Add({name}, {other.name})", a + b)
            case 1 | 2:
                self.add(f"{{}} = Sub({name}, {other.name})", a - b)
            case 3:
                self.add(f"{{}} = Mul({name}, {named(few)})", a * few)
            case 4 | 5:
                self.add(f"{{}} = Div({name}, {named(few)})", np.sign(a) * (np.abs(a) // few))
            case 6 | 7:
                self.add(f"{{}} = Mod({name}, {named(few)})", a % few)
            case 8:
                self.between(one, -k, k)
            case 9:
                self.add(f"{{}} = Neg({name})", -a)
            case 10:
                op, made = [("Abs", np.abs(a)), ("Relu", a.clip(0)), ("Sign", np.sign(a))][k % 3]
                self.add(f"{{}} = {op}({name})", made)
            case 11:
                line = f"w{{}} = Less({name}, {self.constant(k)}) {{}} = Where(w{{}}, {name}, "
                self.add(f"{line}{other.name})", np.where(a < k, a, b))
            case 12:
                place = self.between(one, 0, 98)
                row = f"u{{}} = Add({place.name}, c1) {{}} = Slice(T, {place.name}, u{{}})"
                line = row if k % 2 else f"{{}} = Gather(T, {place.name})"
                self.add(line, TABLE[place.values])
            case 13:
                count = self.between(one, 0, 90)
                line = f"o{{}} = ConstantOfShape<value = int64[1] {{2}}>({count.name}) "
                line += (
                    f"l{{}} = Concat<axis = 0>(o{{}}, T) {{}} = Slice(l{{}}, c{few}, c{few + 1})"
                )
                rest = TABLE[(few - count.values).clip(0)]
                self.add(line, np.where(count.values > few, 2, rest))
            case 14:
                self.valid &= n >= 2
                pool = f"a{{}} = MaxPool<kernel_shape = [2], strides = [{few}]>(x) "
                self.add(pool + axis, (n - 2) // few + 1)
            case 15:
                turned = f"a{{}} = ConvTranspose<strides = [{few}]>(x, w2) "
                self.add(turned + axis, (n - 1) * few + 2)
            case 16:
                pads = self.between(one, 0, k)
                line = f"q{{}} = Concat<axis = 0>(c0, c0, {pads.name}, c0, c0, c1) "
                self.add(f"{line}a{{}} = Pad(x, q{{}}) {axis}", n + pads.values + 1)
            case 17:
                op, cut = [("Floor", a // few), ("Ceil", -(-a // few))][k % 2]
                line = f"f{{}} = Cast<to = 1>({name}) g{{}} = Constant<value_floats = [{few}.0]>() "
                line += f"h{{}} = Div(f{{}}, g{{}}) i{{}} = {op}(h{{}}) {{}} = Cast<to = 7>(i{{}})"
                self.add(line, cut)

    def condition(self) -> NDArray[np.bool_]:
        """Make W: as a rule true at few sizes, none of them small, or at none."""
        number, is_small = self.numbers[-1], self.numbers[0].values < 16
        small = number.values[is_small]
        late = np.setdiff1d(number.values, small)
        op = str(self.random.choice(["Equal", "Greater", "Less"]))
        limits = {"Greater": small.max(), "Less": small.min()}
        limit = int(limits[op] if op in limits else [*late, number.values.max() + 1][0])
        self.lines.append(f"W = {op}({number.name}, {self.constant(limit)})")
        compare = {"Equal": np.equal, "Greater": np.greater, "Less": np.less}[op]
        return np.asarray(compare(number.values, limit) & self.valid)


@pytest.mark.parametrize(
    "number",
    [
        *range(16),
        *(pytest.param(number, marks=pytest.mark.sweep) for number in range(16, 400)),
    ],
)
def test_pads_that_are_wrong_at_some_sizes_are_not_proved(number: int) -> None:
    """And pads that are wrong at none are not refuted."""
    drawn = Drawn(number, step=4 if number % 3 == 0 else 1)
    for _ in range(int(drawn.random.integers(1, 5))):
        drawn.step()
    is_wrong = drawn.condition().any()
    body = " ".join(drawn.lines) + " e = Where(W, WRONG, c0) "
    if number % 3:
        body += PICKED.format("e")
        wrong, right = "c1", "c0"
    else:
        body = body.replace("WRONG", "c1") + "q = Concat<axis = 0>(c0, c0, e, c0, c0, c0) "
        body += "i = Pad(x, q) j = Relu(i) y = Conv<strides = [2], WRONG>(j, w3)"
        wrong, right = BOTH
    table = f"int64[100] T = {{{', '.join(map(str, TABLE))}}}"
    given = "float[1,1,H] x, float[1,1,W] z"
    models = [model(body.replace("WRONG", one), given, table) for one in (wrong, right)]
    dims: dict[str, int | str] = {} if number % 3 else {"H": "%4=0"}
    for before, after in (models, models[::-1]):
        verdict = prove(before, after, dims=dims, limits=Limits(seconds=0.4)).verdict
        assert verdict != ("proved" if is_wrong else "refuted"), body


def test_two_sizes_of_one_name_are_not_taken_for_one() -> None:
    body = """s = Shape(x) b = Slice(s, c0, c1) n = Slice(s, c2, c3) W = Equal(b, n)
    e = Where(W, c0, WRONG) q = Concat<axis = 0>(c0, c0, c0, c0, c0, e) y = Pad(x, q)"""
    models = [model(body.replace("WRONG", one), "float[B,1,H] x") for one in ("c1", "c0")]
    for one in models:
        sizes = one.graph.input[0].type.tensor_type.shape.dim
        sizes[0].Clear()
        sizes[2].dim_param = "x[0]"
    assert prove(*models, limits=Limits(seconds=30)).verdict != "proved"


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


@pytest.mark.parametrize("way", WAYS)
def test_computed_pads_of_two_axes_are_proved_under_what_is_said_of_both(
    way: str,
) -> None:
    convolved = "{to} = Conv<strides = [2, 2]>({t}d, w)\n"
    layer = WAYS[way] + "{t}d = Pad({x}, {t}p) " + convolved
    plain = "{to} = Conv<strides = [2, 2], pads = [0, 0, 1, 1]>({x}, w)\n"
    names = ({"t": "a_", "x": "x", "to": "a"}, {"t": "b_", "x": "a", "to": "y"})
    weight = "float[1,1,3,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}"
    before, after = (
        model("".join(part.format(**one) for one in names), "float[N,1,H,W] x", weight)
        for part in (layer, plain)
    )
    assert prove(before, after, dims={"H": "%4=0", "W": "%4=0"}).verdict == "proved"
    weaker = prove(before, after, dims={"H": "%4=0", "W": "%2=0"}, limits=Limits(seconds=0.5))
    assert weaker.verdict != "proved"
