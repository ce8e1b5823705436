"""Explicit pads back to SAME, only where it is the same for every size."""

from __future__ import annotations

import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import X5, X6, X8, attributes, left_alone, numbers, refused, rewritten, tiny

AUTO = "auto-pads"


@pytest.mark.parametrize(
    ("pads", "stride", "size", "mode"),
    [
        pytest.param("0, 1", 2, 6, "SAME_UPPER", id="odd cell at the end"),
        pytest.param("1, 0", 2, 6, "SAME_LOWER", id="odd cell at the begin"),
        pytest.param("1, 1", 1, "n", "SAME_UPPER", id="stride 1 at any size"),
        pytest.param("1, 1", 2, "n", "SAME_LOWER", id="stride 2 at any size"),
        pytest.param("1, 2", 3, 4, "SAME_UPPER", id="what is never read does not matter"),
    ],
)
def test_rewrites(pads: str, stride: int, size: object, mode: str) -> None:
    model = tiny(
        f"[op] y = Conv <strides = [{stride}], pads = [{pads}]> (x, w)", f"float[1,1,{size}]"
    )
    sizes = (3, 4, 5, 6) if size == "n" else (int(str(size)),)
    inputs = [numbers(*range(1, n + 1)) for n in sizes]
    after = rewritten(model, AUTO, *inputs)
    assert attributes(after)["auto_pad"] == mode
    assert left_alone(after, AUTO)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        pytest.param("strides = [2], pads = [0, 1]", "not those of SAME", id="odd size"),
        pytest.param("dilations = [2], pads = [2, 2]", "disagree about SAME", id="dilation"),
        pytest.param("strides = [4], pads = [1, 1]", "disagree about SAME", id="short kernel"),
        pytest.param("pads = [3, 3]", "not those of SAME", id="full padding"),
    ],
)
def test_refuses(written: str, reason: str) -> None:
    model = tiny(f"[op] y = Conv <{written}> (x, w)", "float[1,1,5]")
    assert reason in refused(model, AUTO).reason


OFFSETS = f"float[1,1,1,1] v = {{1}}, float[1,2,4,4] o = {{{', '.join(['0.5'] * 32)}}}"


def test_refuses_operators_without_such_padding() -> None:
    crops = tiny("[op] y = ConvTranspose <pads = [1, 1]> (x, w)")
    assert refused(crops, AUTO).reason == "the pads of a transposed convolution crop its output"
    deformed = tiny(
        "[op] y = DeformConv <pads = [1, 1, 1, 1]> (x, v, o)",
        "float[1,1,2,2]",
        opset=19,
        constants=OFFSETS,
    )
    assert refused(deformed, AUTO).reason == "DeformConv has no auto_pad"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("[op] y = ConvTranspose <pads = [0, 0]> (x, w)", id="nothing cropped"),
        pytest.param(
            '[op] y = Conv <strides = [3], auto_pad = "SAME_LOWER"> (x, w)', id="SAME already"
        ),
        pytest.param('[op] y = Conv <auto_pad = "VALID"> (x, w)', id="VALID"),
    ],
)
def test_nothing_to_do(body: str) -> None:
    assert left_alone(tiny(body), AUTO)


def test_a_size_that_decides_and_is_not_known() -> None:
    model = tiny("[op] y = Conv <strides = [2], pads = [0, 1]> (x, w)", "float[1,1,n]")
    assert refused(model, AUTO).reason == "the pads [0, 1] are not those of SAME for every size"
    even = [numbers(*range(1, n + 1)) for n in (2, 4, 6)]
    after = rewritten(model, AUTO, *even, dims={"n": "%2=0"})
    assert attributes(after)["auto_pad"] == "SAME_UPPER"


def test_a_known_remainder_does_not_hide_that_every_size_fits() -> None:
    pool = "[op] y = MaxPool<kernel_shape=[3], strides=[2], pads=[1,1]>(x)"
    model = tiny(pool, "float[1,1,n]")
    done = rewrite(model, passes=[AUTO], dims={"n": "%2=0"})
    assert isinstance(done.model, onnx.ModelProto)
    assert attributes(done.model)["auto_pad"] == "SAME_LOWER"


def test_ceil_mode_goes_first() -> None:
    model = tiny(
        "[op] y = MaxPool <kernel_shape = [3], pads = [1, 1], ceil_mode = 1> (x)", "float[1,1,5]"
    )
    skip = refused(model, AUTO)
    assert skip.reason == "ceil_mode is set, which auto_pad has no use for"
    assert skip.hints == ("--pass floor-pool",)
    assert attributes(rewritten(model, "floor-pool", X5))["pads"] == [1, 1]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("[op] y = Conv <strides = [2], pads = [0, 0]> (x, w)", id="Conv"),
        pytest.param("[op] y = Conv <dilations = [2]> (x, w)", id="no pads written, dilation"),
        pytest.param("[op] y = MaxPool <kernel_shape = [2], strides = [3]> (x)", id="short kernel"),
        pytest.param(
            "[op] y = AveragePool <kernel_shape = [2], count_include_pad = 1> (x)", id="AveragePool"
        ),
        pytest.param("[op] y = LpPool <kernel_shape = [2], pads = [0, 0]> (x)", id="LpPool"),
    ],
)
def test_without_padding_it_is_valid(body: str) -> None:
    model = tiny(body, "float[1,1,n]")
    after = rewritten(model, AUTO, X5, X6, X8)
    assert attributes(after)["auto_pad"] == "VALID"
    assert "pads" not in attributes(after)
    assert left_alone(after, AUTO)


def test_what_split_pads_leaves_is_valid() -> None:
    model = tiny("[op] y = Conv <strides = [2], pads = [0, 3]> (x, w)", "float[1,1,n]")
    assert "not those of SAME" in refused(model, AUTO).reason
    split = rewritten(model, "split-pads", X5, X6)
    assert attributes(rewritten(split, AUTO, X5, X6))["auto_pad"] == "VALID"


def test_a_window_longer_than_the_input_stays() -> None:
    model = tiny("[op] y = Conv (x, w)", "float[1,1,2]")
    assert "fewer than the window" in refused(model, AUTO).reason


def test_ceil_mode_without_padding_goes_first() -> None:
    model = tiny("[op] y = MaxPool <kernel_shape = [3], strides = [2], ceil_mode = 1> (x)")
    assert refused(model, AUTO).hints == ("--pass floor-pool",)


def test_operators_without_auto_pad_and_without_padding_are_left_alone() -> None:
    model = tiny(
        "[op] y = DeformConv <pads = [0, 0, 0, 0]> (x, v, o)",
        "float[1,1,4,4]",
        opset=19,
        constants=OFFSETS,
    )
    assert left_alone(model, AUTO)


@pytest.mark.parametrize(
    ("written", "size"),
    [
        pytest.param('auto_pad = "SAME_LOWER"', "n", id="stride 1, an odd kernel"),
        pytest.param('strides = [2], auto_pad = "SAME_LOWER"', "5", id="an even total"),
        pytest.param("strides = [2], pads = [0, 1]", "6", id="pads"),
    ],
)
def test_upper_takes_what_is_the_same(written: str, size: str) -> None:
    model = tiny(f"[op] y = Conv <{written}> (x, w)", f"float[1,1,{size}]")
    inputs = (X5, X6, X8) if size == "n" else (numbers(*range(int(size))),)
    after = rewritten(model, AUTO, *inputs)
    assert attributes(after)["auto_pad"] == "SAME_UPPER"
    assert left_alone(after, AUTO)


def test_former_names() -> None:
    model = tiny("[op] y = Conv <pads = [1, 1]> (x, w)")
    with pytest.warns(FutureWarning, match="'auto-pads' now"):
        assert (
            attributes(rewrite(model, passes="auto-pads-upper").model)["auto_pad"] == "SAME_UPPER"
        )
