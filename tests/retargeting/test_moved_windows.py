"""Every split of the cells that a window pads, and what is left out of these."""

from __future__ import annotations

import pytest

from onnxpad.geometry.size import Symbol
from onnxpad.padding.chain import Chain, Pads
from onnxpad.padding.effective_pads import output_sizes
from onnxpad.retargeting.moved_windows import moved_windows, not_moved_windows, placements
from tests.retargeting.layers import layer

COUNTS = {
    "nine, one of which stands there": (layer("Conv", 9, 3, pads=(1, 1)), 8),
    "three": (layer("Conv", 9, 4, pads=(1, 2)), 15),
    "a pool keeps pads below its kernel": (layer("MaxPool", 8, 2, pads=(1, 1)), 0),
    "auto_pad": (layer("Conv", 9, 3, 2, "SAME_UPPER"), 8),
    "no pads": (layer("Conv", 9, 3), 0),
    "a transposed convolution": (layer("ConvTranspose", 9, 3, 2, pads=(1, 1)), 8),
}


@pytest.mark.parametrize(("chain", "count"), COUNTS.values(), ids=COUNTS)
def test_every_split_of_the_totals_is_given_once(chain: Chain, count: int) -> None:
    found = list(moved_windows(chain))
    pads = {one.padding for one in found}
    assert len(found) == len(pads) == count
    assert not_moved_windows(chain) == ""
    for one in found:
        assert isinstance(one.padding, Pads)
        assert output_sizes(one) == output_sizes(chain)


def test_what_is_left_out_is_said() -> None:
    large = layer("Conv", 20, 11, pads=(5, 5))
    assert len(list(moved_windows(large))) == 100
    assert "all but the first 100 ways" in not_moved_windows(large)
    hidden = layer("Conv", Symbol("n"), 3, 2, "SAME_UPPER")
    assert not list(moved_windows(hidden))
    assert "which hang on open sizes" in not_moved_windows(hidden)
    assert not not_moved_windows(layer("Conv", Symbol("n"), 3, 1, "SAME_UPPER"))


def test_placements_stand_in_one_order() -> None:
    small, large = (placements(layer("Conv", 20, k, pads=(k // 2,) * 2)) for k in (3, 5))
    assert len(small) == len(large) == 16
    for one, other in zip(small, large, strict=True):
        assert isinstance(one.padding, Pads)
        assert isinstance(other.padding, Pads)
        assert tuple(2 * pad for pad in one.padding.flat) == other.padding.flat
