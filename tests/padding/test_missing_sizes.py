"""What to try where sizes are not known."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from onnxpad.geometry.size import Symbol, plus
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Skip
from onnxpad.padding.effective_pads import settling, shape_to_give, sizes_to_give

H, W = Symbol("H", root="H"), Symbol("W", root="W")
HALF = Symbol("ceil(H/2)", root="H", divisor=2)
UNKNOWN = Symbol("h")


@pytest.mark.parametrize(
    ("axes", "hints", "multiples"),
    [
        pytest.param(
            [Axis(H, 3, 2), Axis(W, 3, 3)],
            ("--dim 'H=640' --dim 'W=639'", "--dim 'H%2=0' --dim 'W%3=0'"),
            (("H", 2), ("W", 3)),
            id="two dimensions",
        ),
        pytest.param(
            [Axis(H, 3, 3), Axis(HALF, 3, 2)],
            ("--dim 'H=636'", "--dim 'H%12=0'"),
            (("H", 12),),
            id="one dimension for two axes",
        ),
        pytest.param([Axis(HALF, 3, 1)], ("--dim 'H=640'", "--dim 'H%2=0'"), (("H", 2),), id="2"),
        pytest.param([Axis(H, 3, 1)], ("--dim 'H=640'",), (), id="every number divides by 1"),
        pytest.param([Axis(UNKNOWN, 3, 2)], ("give the model's inputs fixed sizes",), (), id="no"),
        pytest.param([Axis(H, 3, 2), Axis(None, 3, 2)], ("--dim 'H=640'",), (), id="one of two"),
    ],
)
def test_sizes_to_give(
    axes: Sequence[Axis], hints: tuple[str, ...], multiples: tuple[tuple[str, int], ...]
) -> None:
    found = sizes_to_give("why", axes)
    assert found == Skip("why", hints)
    assert found.multiples == multiples


def test_where_only_the_number_helps_no_divisor_is_offered() -> None:
    found = sizes_to_give("why", [Axis(H, 3, 2)], exact=True)
    assert (found.hints, found.multiples) == (("--dim 'H=640'",), ())


@pytest.mark.parametrize(
    ("size", "output", "hint"),
    [(H, 31, "--dim 'H=16'"), (HALF, 31, "--dim 'H=32'"), (plus(H, -2), 31, "--dim 'H=18'")],
)
def test_the_input_is_the_output_over_the_stride(size: Symbol, output: int, hint: str) -> None:
    assert shape_to_give("why", [Axis(size, 3, 2)], [output]) == Skip("why", (hint,))


def test_one_divisor_for_all() -> None:
    skips = [Skip("a", multiples=(("H", 2), ("W", 2))), Skip("b", multiples=(("H", 3),)), Skip("c")]
    assert settling(skips) == ((("H", 6), ("W", 2)), 2)
    assert settling([Skip("c")]) == ((), 0)
