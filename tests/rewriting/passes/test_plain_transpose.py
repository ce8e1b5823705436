"""auto_pad and output_shape of transposed convolutions; rows 16 to 22 of the tricky cases."""

from __future__ import annotations

import pytest

from tests.models.tiny import (
    attributes,
    by_onnxruntime,
    left_alone,
    numbers,
    refused,
    rewritten,
    tiny,
    values,
)

PLAIN = "plain-transpose"
X3 = numbers(1, 2, 3)


@pytest.mark.parametrize(
    ("written", "pads", "extra", "expected"),
    [
        pytest.param(
            'strides = [2], auto_pad = "SAME_UPPER"',
            [0, 1],
            None,
            [1, 10, 102, 20, 203, 30],
            id="row 16 upper",
        ),
        pytest.param(
            'strides = [2], auto_pad = "SAME_LOWER"',
            [1, 0],
            None,
            [10, 102, 20, 203, 30, 300],
            id="row 16 lower",
        ),
        pytest.param(
            "strides = [2], output_shape = [6], pads = [0, 1]",
            [1, 0],
            None,
            [10, 102, 20, 203, 30, 300],
            id="row 17",
        ),
        pytest.param(
            "strides = [2], output_shape = [8]",
            None,
            [1],
            [1, 10, 102, 20, 203, 30, 300, 0],
            id="row 18",
        ),
        pytest.param(
            'strides = [2], auto_pad = "SAME_UPPER", output_padding = [1]',
            [1, 1],
            [1],
            [10, 102, 20, 203, 30, 300],
            id="row 21",
        ),
        pytest.param(
            'strides = [2], auto_pad = "VALID"',
            [0, 0],
            None,
            [1, 10, 102, 20, 203, 30, 300],
            id="VALID",
        ),
    ],
)
def test_rewrites(
    written: str, pads: list[int] | None, extra: list[int] | None, expected: list[float]
) -> None:
    model = tiny(f"[op] y = ConvTranspose <{written}> (x, w)", "float[1,1,3]")
    after = rewritten(model, PLAIN, X3)
    found = attributes(after)
    assert not {"auto_pad", "output_shape"} & found.keys()
    assert (found.get("pads"), found.get("output_padding")) == (pads, extra)
    assert values(after, X3) == expected
    for optimised in (False, True):
        assert by_onnxruntime(after, X3, optimised=optimised) == expected
    assert left_alone(after, PLAIN)


def test_same_needs_no_size() -> None:
    model = tiny(
        '[op] y = ConvTranspose <strides = [2], auto_pad = "SAME_UPPER"> (x, w)', "float[1,1,n]"
    )
    rewritten(model, PLAIN, *[numbers(*range(1, n + 1)) for n in (1, 2, 3, 6, 7)])


def test_row_20_a_kernel_below_the_stride_crops_nothing() -> None:
    model = tiny(
        '[op] y = ConvTranspose <strides = [4], auto_pad = "SAME_UPPER"> (x, v)',
        "float[1,1,3]",
        constants="float[1,1,1] v = {2}",
    )
    after = rewritten(model, PLAIN, X3)
    assert len(values(after, X3)) == 9


@pytest.mark.parametrize(
    ("written", "size", "reason"),
    [
        pytest.param("strides = [2], output_shape = [12]", 3, "5 cells beyond", id="row 19"),
        pytest.param("strides = [2], output_shape = [6]", "n", "needs the size", id="open size"),
    ],
)
def test_refuses(written: str, size: object, reason: str) -> None:
    model = tiny(f"[op] y = ConvTranspose <{written}> (x, w)", f"float[1,1,{size}]")
    assert reason in refused(model, PLAIN).reason


def test_row_22_cells_of_output_padding_hold_the_bias() -> None:
    model = tiny(
        "[op] y = ConvTranspose "
        '<strides = [3], output_padding = [2], auto_pad = "VALID"> (x, v, b)',
        "float[1,1,3]",
        constants="float[1,1,1] v = {1}, float[1] b = {7}",
    )
    after = rewritten(model, PLAIN, X3)
    assert attributes(after)["output_padding"] == [2]
    wanted = [8, 7, 7, 9, 7, 7, 10, 7, 7]
    assert values(after, X3) == by_onnxruntime(after, X3) == wanted
