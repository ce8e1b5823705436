"""What to try where sizes are not known."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from onnxpad.geometry.size import Size, Symbol, ceil_divide, plus, stated_size
from onnxpad.geometry.size_fact import SizeFact
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Skip
from onnxpad.padding.effective_pads import (
    facts_text,
    settling,
    shape_to_give,
    sizes_to_give,
    told_in,
)

H, W = Symbol("H", root="H"), Symbol("W", root="W")
HALF = Symbol("ceil(H/2)", root="H", divisor=2)
UNKNOWN = Symbol("h")


def stated(divisor: int, rest: int) -> Size:
    return stated_size("H", SizeFact(divisor, rest))


@pytest.mark.parametrize(
    ("axes", "hints", "settled_by"),
    [
        pytest.param(
            [Axis(H, 3, 2), Axis(W, 3, 3)],
            ("--dim 'H=640' --dim 'W=639'", "--dim 'H%2=0' --dim 'W%3=0'"),
            {"H": "%2=0", "W": "%3=0"},
            id="two dimensions",
        ),
        pytest.param(
            [Axis(H, 3, 3), Axis(HALF, 3, 2)],
            ("--dim 'H=636'", "--dim 'H%12=0'"),
            {"H": "%12=0"},
            id="one dimension for two axes",
        ),
        pytest.param([Axis(HALF, 3, 1)], ("--dim 'H=640'", "--dim 'H%2=0'"), {"H": "%2=0"}, id="2"),
        pytest.param(
            [Axis(stated(3, 0), 3, 4)],
            ("--dim 'H=636'", "--dim 'H%12=0'"),
            {"H": "%12=0"},
            id="a divisor is given",
        ),
        pytest.param(
            [Axis(stated(3, 1), 3, 2), Axis(ceil_divide(stated(3, 1), 2), 3, 4)],
            ("--dim 'H=640'", "--dim 'H%24=16'"),
            {"H": "%24=16"},
            id="a rest is given",
        ),
        pytest.param(
            [Axis(stated(2, 1), 3, 4)],
            ("--dim 'H=641'", "--dim 'H%4=1'"),
            {"H": "%4=1"},
            id="a rest that no multiple has",
        ),
        pytest.param([Axis(stated(3, 0), 3, 1)], ("--dim 'H=639'",), {}, id="a number is left"),
        pytest.param([Axis(H, 3, 1)], ("--dim 'H=640'",), {}, id="every number divides by 1"),
        pytest.param([Axis(UNKNOWN, 3, 2)], ("give the model's inputs fixed sizes",), {}, id="no"),
        pytest.param([Axis(H, 3, 2), Axis(None, 3, 2)], ("--dim 'H=640'",), {}, id="one of two"),
    ],
)
def test_sizes_to_give(
    axes: Sequence[Axis], hints: tuple[str, ...], settled_by: dict[str, str]
) -> None:
    found = sizes_to_give("why", axes)
    assert found == Skip("why", hints)
    assert {name: fact.told for name, fact in found.settled_by} == settled_by


def test_where_only_the_number_helps_no_divisor_is_offered() -> None:
    found = sizes_to_give("why", [Axis(H, 3, 2)], exact=True)
    assert (found.hints, found.settled_by) == (("--dim 'H=640'",), ())


@pytest.mark.parametrize(
    ("size", "output", "hint"),
    [
        (H, 31, "--dim 'H=16'"),
        (HALF, 31, "--dim 'H=32'"),
        (plus(H, -2), 31, "--dim 'H=18'"),
        (stated(3, 0), 31, "--dim 'H=18'"),
    ],
)
def test_the_input_is_the_output_over_the_stride(size: Symbol, output: int, hint: str) -> None:
    assert shape_to_give("why", [Axis(size, 3, 2)], [output]) == Skip("why", (hint,))


def test_one_fact_for_all() -> None:
    even, thirds = SizeFact(2, 0), SizeFact(3, 1)
    skips = [
        Skip("a", settled_by=(("H", even), ("W", even))),
        Skip("b", settled_by=(("H", thirds),)),
        Skip("c"),
    ]
    assert settling(skips) == ((("H", SizeFact(6, 4)), ("W", even)), 2)
    assert settling([Skip("c")]) == ((), 0)


@pytest.mark.parametrize(
    ("hint", "facts"),
    [
        ("--dim 'H=640' --dim 'images[2]%24=16'", {"H": 640, "images[2]": "%24=16"}),
        ("--dim 'a=b=7'", {"a=b": 7}),
        ("--pass runtime-pads", {}),
    ],
)
def test_facts_are_read_again(hint: str, facts: dict[str, int | str]) -> None:
    found = {name: fact.told for name, fact in told_in(hint).items()}
    assert found == facts
    if facts:
        assert facts_text(tuple(found.items())) == hint
