"""Explicit pads back to SAME, only where it is the same for every size."""

from __future__ import annotations

import pytest

from tests.tiny_models import X5, attributes, left_alone, numbers, refused, rewritten, tiny

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


def test_ceil_mode_goes_first() -> None:
    model = tiny(
        "[op] y = MaxPool <kernel_shape = [3], pads = [1, 1], ceil_mode = 1> (x)", "float[1,1,5]"
    )
    skip = refused(model, AUTO)
    assert "ceil_mode" in skip.reason
    assert skip.hints == ("--pass floor-pool",)
    assert attributes(rewritten(model, "floor-pool", X5))["pads"] == [1, 1]
