"""Every number of cells on each axis by itself, and every output_padding with it."""

from __future__ import annotations

from itertools import product

import pytest

from onnxpad.padding.chain import Chain, Pads
from onnxpad.retargeting.candidates import not_grown, ordinary
from onnxpad.retargeting.each_axis import each_axis, not_each_axis
from tests.retargeting.layers import layer

SMALL = list(product(range(1, 6), range(1, 6), range(1, 3)))


def crops(ways: tuple[Chain, ...]) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """What is cut off in front and what is left at the end, axis by axis."""
    found = set()
    for one in ways:
        assert isinstance(one.padding, Pads)
        extra = one.output_padding or (0,) * one.rank
        ends = tuple(end - more for end, more in zip(one.padding.ends, extra, strict=True))
        found.add((one.padding.begins, ends))
    return found


@pytest.mark.parametrize(("kernel", "stride", "dilation"), SMALL)
def test_every_output_padding_is_given_with_the_present_crop(
    kernel: int, stride: int, dilation: int
) -> None:
    chain = layer("ConvTranspose", 9, kernel, stride, pads=(0, 0), dilation=dilation)
    given = {
        one.output_padding or (0, 0) for one in ordinary(chain) if one.padding == chain.padding
    }
    assert given == set(product(range(max(stride, dilation)), repeat=2))
    assert bool(not_grown(chain)) is (dilation > stride)


@pytest.mark.parametrize(("kernel", "stride", "dilation"), SMALL)
def test_every_crop_of_each_axis_is_given_with_every_output_padding(
    kernel: int, stride: int, dilation: int
) -> None:
    chain = layer("ConvTranspose", 9, kernel, stride, pads=(0, 0), dilation=dilation)
    span = dilation * (kernel - 1) + 1
    axis = {(p, p - e) for p in range(span) for e in range(max(stride, dilation))}
    wanted = {((a, c), (b, d)) for (a, b), (c, d) in product(axis, repeat=2)}
    found = crops(each_axis(chain))
    assert found <= wanted
    assert (found == wanted) is (not not_each_axis(chain)) is (len(wanted) <= 256)


@pytest.mark.parametrize("op", ["Conv", "MaxPool", "AveragePool"])
@pytest.mark.parametrize(("kernel", "stride", "dilation"), SMALL)
def test_every_number_of_each_axis_is_given_once(
    op: str, kernel: int, stride: int, dilation: int
) -> None:
    chain = layer(op, 20, kernel, stride, pads=(0, 0), dilation=dilation)
    span = dilation * (kernel - 1) + 1
    most = kernel - 1 if op != "Conv" else span if span > 1 else 0
    found = [one.padding for one in each_axis(chain)]
    numbers = product(range(most + 1), repeat=2)
    assert set(found) == {Pads(pads, pads) for pads in numbers}
    assert len(found) == len(set(found))
    assert not not_each_axis(chain)


def test_the_nearest_come_first_and_what_is_left_out_is_said() -> None:
    chain = layer("Conv", 40, 31, pads=(4, 4))
    found = each_axis(chain)
    assert found[0].padding == chain.padding
    assert len(found) == 256
    distances = [sum(abs(pad - 4) for pad in one.padding.begins) for one in found]  # type: ignore[union-attr]
    assert distances == sorted(distances)
    assert "all but the nearest 256 ways" in not_each_axis(chain)
