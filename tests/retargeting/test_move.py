"""Where single layers go, framework by framework."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from onnxpad.geometry.size import Size, Symbol
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.retargeting.move import moved, unchanged_because
from tests.retargeting.layers import layer

H = Symbol("H")
Row = tuple[str, Size, int, int, tuple[int, int] | str, str, object]

# operator, size, kernel, stride, pads, where to, pads of each axis afterwards (None: unchanged)
MOVES: list[Row] = [
    ("Conv", 224, 3, 2, (1, 1), "tensorflow", (0, 1)),
    ("Conv", 225, 3, 2, (1, 1), "tensorflow", None),
    ("Conv", 224, 7, 2, (3, 3), "tensorflow", (2, 3)),
    ("Conv", 224, 7, 2, (3, 3), "cntk", None),
    ("Conv", 224, 7, 2, (2, 3), "cntk", (3, 2)),
    ("Conv", 224, 4, 2, (1, 1), "cntk", None),
    ("Conv", 16, 2, 1, "SAME_LOWER", "cntk", (0, 1)),
    ("Conv", 224, 7, 2, (2, 3), "pytorch", (3, 3)),
    ("Conv", 224, 7, 2, (2, 3), "SAME_LOWER", (3, 2)),
    ("Conv", 224, 7, 2, (3, 2), "SAME_UPPER", (2, 3)),
    ("Conv", 224, 3, 2, (0, 1), "mps", (1, 0)),
    ("Conv", 224, 3, 2, (0, 1), "torch7", (1, 1)),
    ("Conv", 224, 3, 2, (0, 1), "theano", (1, 1)),
    ("Conv", 224, 3, 2, (0, 1), "darknet", (1, 1)),
    ("Conv", 224, 3, 2, (1, 1), "keras", (0, 1)),
    ("Conv", 224, 3, 2, (1, 1), "TF", (0, 1)),
    ("Conv", 224, 3, 2, (1, 1), "core ml", (0, 1)),
    ("Conv", 224, 3, 2, (0, 0), "tensorflow", None),
    ("Conv", 224, 1, 2, "SAME_UPPER", "pytorch", None),
    ("Conv", 224, 5, 1, (2, 2), "tensorflow", None),
    ("Conv", 16, 2, 1, (0, 1), "pytorch", None),
    ("Conv", 12, 4, 4, "SAME_UPPER", "symmetric", None),
    ("Conv", 16, 3, 1, (2, 0), "pytorch", None),
    ("Conv", 16, 5, 1, (4, 4), "tensorflow", None),
    ("Conv", H, 3, 2, (1, 1), "tensorflow", "SAME_UPPER"),
    ("Conv", H, 3, 2, "SAME_UPPER", "pytorch", (1, 1)),
    ("Conv", H, 3, 2, "SAME_UPPER", "SAME_LOWER", (1, 1)),
    ("Conv", H, 4, 2, "SAME_UPPER", "SAME_LOWER", "SAME_LOWER"),
    ("Conv", Symbol("H", modulus=4), 4, 2, "SAME_UPPER", "pytorch", None),
    ("Conv", Symbol("H", modulus=2), 7, 2, (3, 3), "tensorflow", (2, 3)),
    ("MaxPool", 112, 3, 2, (1, 1), "tensorflow", (0, 1)),
    ("MaxPool", 112, 3, 2, (0, 1), "chainer", (1, 1)),
    ("MaxPool", 4, 2, 1, "SAME_UPPER", "darknet", None),
    ("LpPool", 112, 3, 2, (1, 1), "SAME_UPPER", (0, 1)),
]


@pytest.mark.parametrize("row", MOVES, ids=lambda row: "-".join(map(str, row)))
def test_padding_goes_where_the_framework_has_it(row: Row) -> None:
    op, size, kernel, stride, pads, to, wanted = row
    chain = layer(op, size, kernel, stride, pads)
    found = moved(chain, to)
    assert isinstance(found, Chain), found
    if wanted is None:
        assert found is chain
        assert unchanged_because(chain, to)
        return
    assert found == layer(op, size, kernel, stride, wanted)  # type: ignore[arg-type] # as in MOVES


def changed(op: str, to: str, *layout: Any, **more: Any) -> Chain:
    found = moved(layer(op, *layout, **more), to)
    assert isinstance(found, Chain), found
    return found


def test_pools_round_as_the_framework_does() -> None:
    found = changed("MaxPool", "caffe", 112, 3, 2)
    assert (found.ceil_mode, found.padding) == (True, Pads((0, 0), (0, 0)))
    assert not changed("MaxPool", "caffe", 113, 3, 2).ceil_mode
    same = changed("MaxPool", "caffe", 112, 3, 2, (0, 1))
    assert same == layer("MaxPool", 112, 3, 2, (0, 1))
    assert changed("MaxPool", "pytorch", 112, 3, 2, ceil_mode=True).ceil_mode
    kept = layer("MaxPool", 112, 3, 2, ceil_mode=True)
    assert moved(kept, "tensorflow") is kept
    refused = moved(layer("MaxPool", 112, 3, 2, (1, 1), ceil_mode=True), "tensorflow")
    assert isinstance(refused, Skip)
    assert refused.reason == "it rounds up, which no pool of tensorflow does"


@pytest.mark.parametrize("to", ["tensorflow", "keras", "pytorch"])
def test_rounding_up_that_adds_no_window_is_no_reason_to_refuse(to: str) -> None:
    pool = layer("MaxPool", 4, 5, 3, (4, 4), ceil_mode=True)
    assert moved(pool, to) == pool


def test_windows_over_padding_alone_are_refused() -> None:
    found = moved(layer("MaxPool", 8, 1, 2), "caffe")
    assert isinstance(found, Skip)
    assert found.reason == "caffe has a last window over padding alone here, ONNX has none"
    kept = layer("MaxPool", 9, 1, 2)
    assert moved(kept, "caffe") is kept


def test_an_average_keeps_its_pads_where_the_framework_rounds_up() -> None:
    """Caffe, pad 1: ceil((8 + 2 - 3)/2) + 1 = 5 windows, the last of which starts inside."""
    average = layer("AveragePool", 8, 3, 2, (1, 1), counts_padding=True)
    assert moved(average, "caffe") == replace(average, ceil_mode=True)
    odd = layer("AveragePool", 7, 3, 2, (1, 1), counts_padding=True)
    assert moved(odd, "caffe") is odd


@pytest.mark.parametrize("front", [(0, 1, "reflect", 0.0), (0, 1, "constant", 2.0)])
def test_a_pad_that_holds_something_else_is_refused_where_zeros_would_move(
    front: tuple[int, int, str, float],
) -> None:
    chain = layer("Conv", 32, 3, 2, front=front)
    found = moved(chain, "pytorch")
    assert isinstance(found, Skip)
    assert found.reason.startswith("the Pad in front holds ")
    assert found.hints
    assert moved(chain, "tensorflow") is chain


def test_averages_divide_as_the_framework_does() -> None:
    counting = {"counts_padding": True}
    found = changed("AveragePool", "tensorflow", 36, 3, 2, (1, 1), **counting)
    assert found == layer("AveragePool", 36, 3, 2, (0, 1))
    found = changed("AveragePool", "tensorflow", 36, 3, 1, (1, 1), **counting)
    assert found == layer("AveragePool", 36, 3, 1, (1, 1))
    found = changed("AveragePool", "timm", 36, 3, 1, (1, 1))
    assert found == layer("AveragePool", 36, 3, 1, (1, 1), counts_padding=True)
    for flag in (False, True):
        chain = layer("AveragePool", 36, 3, 2, (1, 1), counts_padding=flag)
        assert moved(chain, "pytorch") is chain
    chain = layer("AveragePool", 36, 3, 2, counts_padding=True)
    assert moved(chain, "tensorflow") is chain


def test_a_pad_in_front_is_taken_into_account() -> None:
    zeros = (1, 1, "constant", 0.0)
    behind = layer("Conv", 32, 3, 2, front=zeros)
    assert moved(behind, "pytorch") is behind
    assert moved(behind, "tensorflow") == layer("Conv", 32, 3, 2, (0, 1))
    by_half = layer("Conv", 32, 7, 2, (2, 2), front=(1, 1, "constant", 0.0))
    assert moved(by_half, "tensorflow") == layer("Conv", 32, 7, 2, (2, 3))
    average = layer("AveragePool", 32, 3, 2, front=zeros)
    assert moved(average, "tensorflow") == layer("AveragePool", 32, 3, 2, (0, 1))


@pytest.mark.parametrize(
    "front", [(0, 1, "constant", 0.0), (0, 1, "edge", 0.0), (0, 1, "constant", -np.inf)]
)
def test_max_pools_behind_a_pad_pad_by_themselves(front: tuple[int, int, str, float]) -> None:
    chain = layer("MaxPool", 4, 2, 1, front=front)
    found = moved(chain, "tensorflow")
    if front[2:] == ("constant", 0.0):
        assert found == layer("MaxPool", 4, 2, 1, (0, 1))
    else:
        assert found is chain
    other = moved(chain, "SAME_LOWER")
    assert other == layer("MaxPool", 4, 2, 1, (1, 0))


def test_transposed_convolutions_crop_the_side_that_the_framework_does() -> None:
    torch = layer("ConvTranspose", 12, 3, 2, (1, 1), output_padding=(1, 1))
    tf = layer("ConvTranspose", 12, 3, 2, (0, 1))
    for to in ("tensorflow", "keras", "jax", "SAME_UPPER"):
        assert moved(torch, to) == tf
        assert moved(tf, to) is tf
    for to in ("pytorch", "symmetric", "torch7"):
        assert moved(tf, to) == torch
        assert moved(torch, to) is torch
    assert moved(tf, "mxnet") == layer("ConvTranspose", 12, 3, 2, (1, 0))
    even = layer("ConvTranspose", 12, 4, 2, (1, 1))
    valid = layer("ConvTranspose", 12, 3, 2)
    assert all(moved(even, to) is even for to in ("tensorflow", "pytorch", "caffe"))
    assert all(moved(valid, to) is valid for to in ("tensorflow", "pytorch", "caffe"))
    refused = moved(tf, "caffe")
    assert isinstance(refused, Skip)
    assert refused.reason == "caffe has no output_padding and cannot give size*stride cells"
    other = moved(layer("ConvTranspose", 12, 3, 2, (1, 1)), "tensorflow")
    assert isinstance(other, Skip)
    assert "gives neither size*stride cells nor all" in other.reason
