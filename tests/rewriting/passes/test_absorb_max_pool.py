"""absorb-pad before max pools: bounds of the data prove that the Pad never wins."""

import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import (
    X5,
    attributes,
    by_onnxruntime,
    refused,
)
from tests.rewriting.passes.absorbing import NEGATIVE_5, ONE_EACH, RULE, absorbed, through, tiny


def test_max_pool_of_what_is_lowest_behind_a_function() -> None:
    end = "[op] y = MaxPool <kernel_shape = [3]> (b)"
    after = absorbed(through("Neg (a)", value="inf", end=end), NEGATIVE_5)
    assert attributes(after) == {"kernel_shape": [3], "pads": [1, 1]}


MAX = "[op] y = MaxPool <kernel_shape = [3]> (b)"
NOT_BELOW = {
    "Relu": "Relu (x)",
    "Sigmoid": "Sigmoid (x)",
    "Clip": "Clip (x, z)",
    "Abs": "Abs (x)",
    "Softmax": "Softmax (x)",
    "Sqrt": "Sqrt (r)",
    "Mul": "Mul (r, e)",
    "Add": "Add (e, r)",
    "Concat": "Concat <axis = 2> (r, e)",
    "MaxPool": "MaxPool <kernel_shape = [3], pads = [1, 1]> (r)",
    "AveragePool": "AveragePool <kernel_shape = [2]> (r)",
    "Reshape": "Reshape (r, shape)",
    "Transpose": "Transpose <perm = [1, 0, 2]> (r)",
    "Pad": 'Pad <mode = "edge"> (r, p)',
    "DequantizeLinear": "DequantizeLinear (q, s, u)",
    "Max": "Max (x, e)",
}
NEED = "float z = {0}, int64[3] shape = {1, 1, -1}, float s = {0.1}, uint8 u = {0}"


@pytest.mark.parametrize("name", NOT_BELOW)
def test_row_28_max_pool_of_what_is_never_negative(name: str) -> None:
    body = f"r = Relu (x) e = Exp (x) q = QuantizeLinear (x, s, u) v = {NOT_BELOW[name]} "
    body += f"a = Pad (v, p) b = Identity (a) {MAX}"
    model = tiny(body, constants=f"{ONE_EACH}, {NEED}")
    done = rewrite(model, passes=[RULE]).model
    assert isinstance(done, onnx.ModelProto)
    assert attributes(done)["pads"] == [1, 1]
    for x in (NEGATIVE_5, X5 - 3):
        wanted, found = (by_onnxruntime(one, x) for one in (model, done))
        assert found == wanted == by_onnxruntime(done, x, optimised=True)


MAY_BE_BELOW = {
    "Neg": "Neg (r)",
    "Sub": "Sub (r, e)",
    "Clip": "Clip (x, s)",
    "Add": "Add (x, r)",
    "Concat": "Concat <axis = 2> (r, x)",
    "max pool with windows of padding": (
        "MaxPool <kernel_shape = [2], dilations = [4], pads = [1, 1]> (r)"
    ),
    "DequantizeLinear": "DequantizeLinear (q, t, u)",
    "Min": "Min (x, e)",
    "Mul": "Mul (r, s)",
    "a Pad of less": "Pad (r, p, s)",
}


@pytest.mark.parametrize("name", MAY_BE_BELOW)
def test_row_27_max_pool_of_what_may_be_negative(name: str) -> None:
    held = f"{ONE_EACH}, float s = {{-1}}, float t = {{0.1}}, uint8 u = {{7}}"
    body = f"r = Relu (x) e = Exp (x) q = QuantizeLinear (x, t, u) v = {MAY_BE_BELOW[name]} "
    end = "a = Pad (v, p) z = Identity (a) [op] y = MaxPool <kernel_shape = [3]> (z)"
    model = tiny(body + end, constants=held)
    skips = [one.skip.reason for one in rewrite(model, passes=[RULE]).skips]
    assert "the Pad writes 0 behind Identity 'z', MaxPool pads with the lowest value" in skips


def test_max_pool_of_never_negative_integers() -> None:
    """Integers overflow, so sums of what is not negative prove nothing."""
    body = f"r = Relu (x) v = Add (r, r) a = Pad (v, p) {MAX.replace('(b)', '(a)')}"
    model = tiny(body, "int8[1,1,5]", constants=ONE_EACH, result="int8[]")
    assert "lowest value" in refused(model, RULE).reason


def test_row_36_max_pool_windows_without_data() -> None:
    wide = "int64[6] p = {0, 0, 3, 0, 0, 3}"
    body = f"r = Relu (x) a = Pad (r, p) {MAX.replace('(b)', '(a)')}"
    assert "reach the kernel" in refused(tiny(body, constants=wide), RULE).reason
    dilated = "[op] y = MaxPool <kernel_shape = [3], dilations = [2]> (a)"
    model = tiny(f"r = Relu (x) a = Pad (r, p) {dilated}", "float[1,1,6]", constants=ONE_EACH)
    assert refused(model, RULE).reason == (
        "the Pad writes 0, and a dilated window may hold its cells alone"
    )


def test_row_69_ceil_mode() -> None:
    call = "MaxPool <kernel_shape = [2], strides = [3], ceil_mode = 1> (a)"
    body = f"r = Relu (x) a = Pad (r, p) [op] y = {call}"
    model = tiny(body, "float[1,1,3]", constants="int64[6] p = {0, 0, 0, 0, 0, 1}")
    assert (
        refused(model, RULE).reason == "ceil_mode would drop the last window, which the Pad keeps"
    )
