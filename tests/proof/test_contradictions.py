"""Models that contradict the text of an operator are not proved equal, whatever was changed."""

import re

import pytest

from onnxpad.proof import Proof, prove
from tests.proof.small_models import text

SAME, PADS = 'auto_pad = "SAME_UPPER"', "pads = [{0}]"
BRANCHES = """y0 = If(b) <then_branch = one () => (float[d,e,f] t) {{ t = {first}(a, w) }},
else_branch = two () => (float[d,e,f] u) {{ u = {second}(a, w) }}>
y = MaxPool<kernel_shape = [3], {pads}>(y0)"""


def model(nodes: str, sizes: str, weight: str, more: str = "") -> str:
    graph = f"g (float[{sizes}] x, float[{weight}] w{more}) => (float[p,q,r] y)"
    return f"{graph} {{ {nodes} }}"


def changed(nodes: str, sizes: str, weight: str, more: str = "", rank: int = 1) -> Proof:
    """What is said of a rewrite of a pool behind `nodes`, which it leaves as they are."""
    kernel = ", ".join("3" * rank)
    pool = f"{nodes}\ny = MaxPool<kernel_shape = [{kernel}], {{pads}}>(a)"
    ones = PADS.format(", ".join("1" * 2 * rank))
    before, after = (
        text(model(pool.format(pads=pads), sizes, weight, more)) for pads in (SAME, ones)
    )
    return prove(before, after)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("nodes", "sizes", "weight"),
    [
        ("a = Conv(x, w)", "1,4,61", "8,3,5"),
        ("a = Conv(x, w)", "1,2,13,18,17", "4,3,3,3,3"),
        ("a = Conv(x, w)", "N,4,H", "8,3,5"),
        ("a = Conv<group = 2>(x, w)", "1,4,61", "8,3,5"),
        ("a = Conv<group = 2>(x, w)", "1,6,61", "7,3,5"),
        ("a = Conv<strides = [2, 2]>(x, w)", "1,4,61", "8,4,5"),
        ("a = ConvTranspose(x, w)", "1,4,61", "3,8,5"),
        ("a = ConvTranspose(x, w)", "N,4,D,H,W", "3,8,2,2,2"),
        ("a = MaxPool<kernel_shape = [9]>(x)", "1,4,7", "1"),
        ("a = AveragePool<kernel_shape = [3, 3]>(x)", "1,4,61", "1"),
        ("b = Transpose<perm = [0, 2, 1]>(x)\na = Conv(b, w)", "1,4,61", "8,4,5"),
        ("a = Add(x, w)", "1,4,61", "3,61"),
        ("a = Concat<axis = 1>(x, w)", "1,4,61", "1,4,60"),
    ],
)
def test_no_result_is_not_proved(nodes: str, sizes: str, weight: str) -> None:
    rank = sizes.count(",") - 1
    found = changed(nodes, sizes, weight, rank=rank)
    assert found.verdict == "undecided"
    assert re.match("(neither model has a|the first model has no) result: ", found.reason)


def test_the_node_and_its_shapes_are_named() -> None:
    found = changed("a = Conv(x, w)", "1,2,13,18,17", "4,3,3,3,3", rank=3)
    assert found.reason == (
        "neither model has a result: Conv 'a': x (1, 2, 13, 18, 17) does not fit weight "
        "(4, 3, 3, 3, 3), group 1"
    )


def test_two_types_of_one_operator_are_not_proved() -> None:
    found = changed("a = Add(x, v)", "1,4,61", "1", ", double[1] v")
    assert found.reason == (
        "the first model has no result: Add 'a' of float32 and float64, where ONNX has one type"
    )


@pytest.mark.parametrize(
    ("nodes", "sizes", "weight", "more"),
    [
        ("a = Conv(x, w)", "N,4,H", "8,4,5", ""),
        ("a = Conv(x, w)", "N,C,H", "8,3,5", ""),
        ("a = Conv<group = 2>(x, w)", "N,C,H", "8,3,5", ""),
        ("a = Concat<axis = 1>(x, v)", "N,4,H", "1", ", float[N,4,K] v"),
        ("a = Add(x, v)", "N,4,H", "1", ", float[N,4,K] v"),
        ("b = MaxPool<kernel_shape = [50]>(x)\na = Relu(b)", "N,4,H", "1", ""),
    ],
)
def test_sizes_that_may_fit_are_proved(nodes: str, sizes: str, weight: str, more: str) -> None:
    assert changed(nodes, sizes, weight, more).verdict == "proved"


@pytest.mark.parametrize(
    ("branches", "verdict"),
    [(("Conv", "Conv"), "undecided"), (("Conv", "Add"), "proved"), (("Add", "Add"), "proved")],
)
def test_an_if_has_no_result_where_neither_branch_has_one(
    branches: tuple[str, str], verdict: str
) -> None:
    before, after = (_behind_if(branches, pads) for pads in (SAME, PADS.format("1, 1")))
    assert prove(text(before), text(after)).verdict == verdict


def _behind_if(branches: tuple[str, str], pads: str) -> str:
    first, second = branches
    nodes = "a = Relu(x)\n" + BRANCHES.format(first=first, second=second, pads=pads)
    return model(nodes, "1,4,61", "1,3,1", ", bool b").replace("Add(a, w)", "Add(a, a)")


def test_what_no_output_needs_is_no_matter() -> None:
    assert changed("a = Relu(x)\nb = Conv(x, w)", "1,4,61", "8,3,5").verdict == "proved"


def test_behind_an_if_shapes_go_on() -> None:
    """Both branches make one shape, which a convolution behind them does not take."""
    nodes = """c = If(b) <then_branch = one () => (float[d,e,f] t) { t = Relu(x) },
else_branch = two () => (float[d,e,f] u) { u = Sigmoid(x) }>
a = Conv(c, w)"""
    before, after = (
        text(model(f"{nodes}\ny = MaxPool<kernel_shape = [3], {pads}>(a)", *where))
        for pads in (SAME, "pads = [1, 1]")
        for where in [("1,4,61", "8,3,5", ", bool b")]
    )
    found = prove(before, after)
    assert (found.verdict, "Conv 'a'" in found.reason) == ("undecided", True)
