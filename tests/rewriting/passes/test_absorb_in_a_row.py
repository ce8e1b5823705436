"""absorb-pad with several Pads in a row, and what onnxruntime would fuse."""

import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import (
    NEGATIVE,
    X5,
    attributes,
    by_onnxruntime,
    constant,
    kinds,
    numbers,
    refused,
    values,
)
from tests.rewriting.passes.absorbing import NEGATIVE_5, ONE_EACH, RULE, absorbed, tiny

IN_A_ROW = {
    "row 58 crops what was added": ("2, 2", "-1, -1", [1, 1]),
    "both add": ("1, 0", "2, 1", [3, 1]),
    "of one side": ("2, 1", "-2, 1", [0, 2]),
}


@pytest.mark.parametrize(("first", "second", "pads"), IN_A_ROW.values(), ids=IN_A_ROW)
def test_pads_in_a_row(first: str, second: str, pads: list[int]) -> None:
    (a, b), (c, d) = first.split(","), second.split(",")
    held = f"int64[6] p = {{0, 0, {a}, 0, 0, {b}}}, int64[6] q = {{0, 0, {c}, 0, 0, {d}}}"
    model = tiny("a = Pad (x, p) b = Pad (a, q) [op] y = Conv (b, w)", constants=held)
    after = absorbed(model, X5)
    assert kinds(after) == ["Conv"]
    assert attributes(after) == {"pads": pads}


def test_row_58_a_pad_behind_a_crop() -> None:
    held = "int64[6] p = {0, 0, -2, 0, 0, 0}, int64[6] q = {0, 0, 1, 0, 0, 0}"
    model = tiny("a = Pad (x, p) b = Pad (a, q) [op] y = Conv (b, w)", constants=held)
    done = rewrite(model, passes=[RULE])
    assert isinstance(done.model, onnx.ModelProto)
    assert kinds(done.model) == ["Pad", "Conv"]
    assert values(done.model, X5) == values(model, X5)
    assert constant(done.model, "p").tolist()[2] == -2
    assert "negative pads" in done.skips[-1].skip.reason


def test_pads_of_other_values_do_not_add_up() -> None:
    held = "int64[6] p = {0, 0, 2, 0, 0, 2}, int64[6] q = {0, 0, -1, 0, 0, 1}, float c = {5}"
    model = tiny("a = Pad (x, p, c) b = Pad (a, q) [op] y = Conv (b, w)", constants=held)
    assert "negative pads" in refused(model, RULE).reason


def test_zeros_in_a_row_before_an_average() -> None:
    body = "a = Pad (x, p) b = Pad (a, p) [op] y = AveragePool <kernel_shape = [3]> (b)"
    after = absorbed(tiny(body, constants=ONE_EACH), NEGATIVE_5)
    assert attributes(after) == {"kernel_shape": [3], "pads": [2, 2], "count_include_pad": 1}


def test_nothing_is_left_for_onnxruntime_to_fuse_wrongly() -> None:
    """Identity and Dropout go before onnxruntime fuses the Pad into the max pool that is left."""
    for idle in ("Identity (a)", "Dropout (a)", "Cast <to = 1> (a)"):
        body = (
            f"a = Pad (x, p) b = {idle} [op] c = Conv (b, w) m = MaxPool <kernel_shape = [3]> (b)"
        )
        model = tiny(f"{body} y = Concat <axis = 2> (c, m)", constants=ONE_EACH)
        assert by_onnxruntime(model, NEGATIVE, optimised=True) == by_onnxruntime(model, NEGATIVE)
        done = rewrite(model, passes=[RULE])
        assert isinstance(done.model, onnx.ModelProto)
        found = by_onnxruntime(done.model, NEGATIVE, optimised=True)
        assert found == by_onnxruntime(model, NEGATIVE)
        assert any("MaxPool reads the Pad too" in one.skip.reason for one in done.skips)


@pytest.mark.parametrize("rule", ["explicit-pads", "floor-pool"])
@pytest.mark.parametrize("idle", ["Identity (a)", "Dropout (a)", "Cast <to = 1> (a)"])
def test_auto_pad_shields_a_pool_behind_what_onnxruntime_removes(rule: str, idle: str) -> None:
    call = 'MaxPool <kernel_shape = [3], strides = [2], auto_pad = "VALID", ceil_mode = 1> (b)'
    model = tiny(f"a = Pad (x, p) b = {idle} [op] y = {call}", "float[1,1,4]", constants=ONE_EACH)
    x = numbers(-7, -1, -2, -2)
    wanted = by_onnxruntime(model, x)
    assert by_onnxruntime(model, x, optimised=True) == wanted
    done = rewrite(model, passes=[rule]).model
    assert isinstance(done, onnx.ModelProto)
    assert by_onnxruntime(done, x, optimised=True) == wanted
