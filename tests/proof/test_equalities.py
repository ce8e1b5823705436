"""Operators that have no rule, renamed tensors and bodies: equal operands, equal results."""

import onnx
import pytest

from tests.proof.kernel import Limits, prove
from tests.proof.small_models import text

WEIGHT = "float[2,2,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}"
SAME = 'auto_pad = "SAME_UPPER"'
PADS = "pads = [1, 1]"


def behind(nodes: str, padding: str, name: str = "t", opset: int = 18) -> onnx.ModelProto:
    """A convolution whose result has a name of its own, and what reads it."""
    read = nodes.replace("(t", f"({name}").replace(", t", f", {name}")
    body = f"{name} = Conv<{padding}>(x, w)\n{read}"
    return text(f"g (float[1,2,H] x) => (float[a,b,c] y) <{WEIGHT}> {{ {body} }}", opset)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "nodes",
    [
        "y = GlobalAveragePool(t)",
        "y = Flatten(t)",
        "y = Softmax<axis = 1>(t)",
        'y = Einsum<equation = "nch,ndh->ncd">(t, t)',
        'r = Constant<value_floats = [1.0, 1.0, 2.0]>()\ny = Resize<mode = "linear">(t, , r)',
        "i = ArgMax<axis = 1>(t)\ny = Cast<to = 1>(i)",
        "k = Constant<value_ints = [1]>()\ny, i = TopK(t, k)",
        "y = com.example.Unheard<a = 1>(t)",
    ],
)
def test_equal_operators_on_equal_operands(nodes: str) -> None:
    before = behind(nodes, SAME)
    for name in ("t", "other"):
        wrong = behind(nodes, "pads = [0, 2]", name)
        assert prove(before, behind(nodes, PADS, name)).verdict == "proved"
        assert prove(before, wrong, limits=Limits(seconds=0.5)).verdict != "proved"


LOOP = """g (int64 n, bool c, float[1,2,8] x) => (float[a,b,d] y) {{
    y = Loop(n, c, x)<body = b (int64 i, bool go, float[1,2,K] u) => (bool on, float[1,2,L] v) {{
        on = Identity(go)
        s = LpPool<kernel_shape = [3], {0}>(u)
        v = Sin(s)
    }}>
}}"""
SCAN = """g (float[T,1,2,8] x) => (float[a,b,d,e] y) {{
    y = Scan(x)<num_scan_inputs = 1, body = b (float[1,2,K] u) => (float[1,2,L] v) {{
        v = LpPool<kernel_shape = [3], {0}>(u)
    }}>
}}"""


@pytest.mark.parametrize("body", [LOOP, SCAN])
def test_bodies_are_functions_of_their_arguments(body: str) -> None:
    """However often the body runs."""
    before = text(body.format(SAME))
    assert prove(before, text(body.format(PADS))).verdict == "proved"
    assert prove(before, text(body.format("pads = [0, 2]"))).verdict != "proved"
    assert prove(before, text(body.format("pads = [1, 2]"))).verdict != "proved"


def test_a_body_whose_argument_has_no_rank() -> None:
    """The rank comes from outside, if the body keeps it."""
    plain = LOOP.replace("float[1,2,K] u", "float[] u").replace("float[1,2,L] v", "float[] v")
    before, after = (text(plain.format(padding)) for padding in (SAME, PADS))
    assert prove(before, after).verdict == "proved"
    growing = plain.replace("v = Sin(s)", "k = Constant<value_ints = [0]>()\nv = Unsqueeze(s, k)")
    before, after = (text(growing.format(padding)) for padding in (SAME, PADS))
    assert prove(before, after).verdict == "undecided"


def test_bodies_that_capture_what_differs() -> None:
    body = SCAN.replace("y = Scan", "k = Sin(z)\ny = Scan").replace(
        "(float[T", "(float[1] z, float[T"
    )
    body = body.replace("v = LpPool", "p = LpPool").replace("(u)\n", "(u)\nv = Add(p, k)\n")
    before, same = (text(body.format(padding)) for padding in (SAME, PADS))
    assert prove(before, same).verdict == "proved"
    other = text(body.format(PADS).replace("Sin(z)", "Cos(z)"))
    assert prove(before, other).verdict != "proved"


@pytest.mark.parametrize(
    "nodes",
    [
        "y = Softmax<axis = 1>(t)",
        'r = Constant<value_floats = [1.0, 1.0, 2.0]>()\ny = Resize<mode = "linear">(t, , r)',
        'y = Einsum<equation = "nch,ndh->ncd">(t, t)',
        "y = GlobalAveragePool(t)",
    ],
)
def test_wrong_operands_of_operators_without_a_rule_are_refuted(nodes: str) -> None:
    proof = prove(behind(nodes, SAME), behind(nodes, "pads = [0, 2]", "other"))
    assert proof.verdict == "refuted"
    assert proof.counterexample is not None
    assert proof.counterexample.cell is not None


def test_operators_that_draw_are_no_numbers_either() -> None:
    nodes = "y = RandomNormalLike<seed = 1.0>(t)"
    models = behind(nodes, SAME), behind(nodes, "pads = [0, 2]")
    assert prove(*models, limits=Limits(seconds=0.5)).verdict == "undecided"
