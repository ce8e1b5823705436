"""What inspect says that rewrite does for a target, rewrite does: small models, every target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import onnx
import pytest

from onnxpad import Inspection, NodeVerdict, inspect, rewrite
from tests.models.text import text_model
from tests.names import TARGETS

_OPSETS = range(11, 24)
_SIZES = {"n": 1, "h": 9, "w": 10}
_MODES = ("constant", "edge", "reflect", "wrap")
_WRAP = 19
"""The opset that brought mode wrap."""
_PADS = "int64[8] p = {0,0,1,1,0,0,1,1}, int64[8] q = {0,0,0,1,0,0,2,0}"
_WEIGHT = f"float[3,3,3,3] k = {{{', '.join(['1'] * 81)}}}"
_NODES = {
    "pad": "y = Pad (x, p)",
    "max": "y = MaxPool <kernel_shape=[3,3], pads=[1,1,1,1]> (x)",
    "max, SAME": 'y = MaxPool <kernel_shape=[2,2], strides=[2,2], auto_pad="SAME_UPPER"> (x)',
    "max, uneven": "y = MaxPool <kernel_shape=[3,3], pads=[0,1,1,0]> (x)",
    "average": "y = AveragePool <kernel_shape=[3,3], pads=[1,1,1,1]> (x)",
    "average, uneven": "y = AveragePool <kernel_shape=[3,3], pads=[0,1,1,0]> (x)",
    "average, ceil": (
        "y = AveragePool <kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1], ceil_mode=1> (x)"
    ),
    "lp": "y = LpPool <kernel_shape=[3,3], pads=[1,1,1,1]> (x)",
    "conv": "y = Conv <pads=[1,1,1,1]> (x, k)",
    "conv, SAME": 'y = Conv <auto_pad="SAME_LOWER", strides=[2,2]> (x, k)',
    "conv, uneven": "y = Conv <pads=[0,1,1,0]> (x, k)",
    "conv, dilated": "y = Conv <pads=[1,1,1,1], strides=[2,2], dilations=[2,2]> (x, k)",
    "transposed, uneven": "y = ConvTranspose <pads=[0,1,1,0], strides=[2,2]> (x, k)",
    **{f"pad, {mode}": f'y = Pad <mode="{mode}"> (x, p)' for mode in _MODES},
    **{
        f"pads, {one}, {other}": f'a = Pad <mode="{one}"> (x, p) y = Pad <mode="{other}"> (a, q)'
        for one in _MODES
        for other in _MODES
    },
}
_CASES = [
    (opset, name) for opset in _OPSETS for name in _NODES if opset >= _WRAP or "wrap" not in name
]


def _model(nodes: str, sizes: str, opset: int) -> onnx.ModelProto:
    return text_model(
        nodes,
        f"float[{sizes}] x",
        outputs="float[a,b,c,d] y",
        constants=f"{_PADS}, {_WEIGHT}",
        opset=opset,
    )


def _stuck(found: Inspection, target: str) -> dict[str, str]:
    """The nodes for which inspect says that there is no way, each with the reason."""
    left = found.openings[target].left
    return {
        one.node.label: left.get(one.node, one.judgement.reason)
        for one in found.targets[target]
        if one.judgement.answer.fails and one.way is not None and _promised(one) is None
    }


def _promised(one: NodeVerdict | None) -> Any:
    """Passes and what is done to the whole model; None where there is no way."""
    way = one.to_json()["rewrite"] if one is not None else None
    return way if way and way["passes"] is not None else None


def _differing(model: onnx.ModelProto, dims: dict[str, int] | None) -> Iterator[str]:
    """The targets of which inspect says something that rewrite does not do, with what it says."""
    found = inspect(model, target="all", dims=dims)
    for name in TARGETS:
        done = rewrite(model, target=name, dims=dims)
        assert done.fitting is not None
        stuck = _stuck(found, name)
        if set(stuck.values()) != {one.judgement.reason for one in done.unfit}:
            yield f"{name}: inspect says no way for {stuck}, rewrite leaves {done.unfit}"
        plans = {one.node.label: one for one in done.fitting.plans}
        for one in found.targets[name]:
            if promised := _promised(one):
                written = _promised(plans.get(one.node.label)) or {"passes": []}
                whole = set(promised["whole"]) <= set(done.fitting.whole)
                if written["passes"] != promised["passes"] or not whole:
                    yield f"{name}: inspect promises {promised}, rewrite does {written}: {one}"


@pytest.mark.part(96)
@pytest.mark.parametrize(("opset", "name"), _CASES)
def test_what_inspect_promises_is_written_and_nothing_else(opset: int, name: str) -> None:
    assert list(_differing(_model(_NODES[name], "1,3,9,10", opset), None)) == []


@pytest.mark.part(2)
@pytest.mark.parametrize("reader", ["Conv (b, k)", "MaxPool <kernel_shape=[3,3]> (b)"])
@pytest.mark.parametrize(
    ("mode", "first"),
    [
        ("edge", "0,0,1,1,0,0,1,1"),
        ("edge", "0,0,0,0,0,0,0,0"),
        ("constant", "0,0,-1,0,0,0,0,0"),
        ("reflect", "0,1,0,0,0,1,0,0"),
    ],
)
def test_so_it_is_with_a_pad_that_a_window_behind_the_next_pad_lets_a_target_take(
    mode: str, first: str, reader: str
) -> None:
    model = text_model(
        f'a = Pad <mode="{mode}"> (x, p) b = Pad <mode="{mode}"> (a, q) y = {reader}',
        "float[1,3,9,10] x",
        outputs="float[a,b,c,d] y",
        constants=f"int64[8] p = {{{first}}}, int64[8] q = {{0,0,1,1,0,0,1,1}}, {_WEIGHT}",
        opset=13,
    )
    assert list(_differing(model, None)) == []


@pytest.mark.sweep
@pytest.mark.parametrize("opset", [13, 19])
@pytest.mark.parametrize("name", ["pad", "max, uneven", "conv", "transposed, uneven"])
def test_so_it_is_with_sizes_that_the_user_gives(opset: int, name: str) -> None:
    assert list(_differing(_model(_NODES[name], "n,3,h,w", opset), _SIZES)) == []
