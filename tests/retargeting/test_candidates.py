"""Candidates name frameworks as inspect's column fits does."""

from __future__ import annotations

from itertools import product

import pytest

from onnxpad.frameworks.fits import ANY, fits
from onnxpad.retargeting.candidates import candidates, ordinary
from tests.retargeting.layers import layer


@pytest.mark.sweep
@pytest.mark.parametrize("op", ["Conv", "MaxPool", "AveragePool", "ConvTranspose"])
def test_nobody_is_named_who_cannot_write_it(op: str) -> None:
    """Paddle counts as many cells behind the input as in front: that is not count_include_pad."""
    named = 0
    for size, kernel, stride, begin, end in product((3, 8), (2, 3), (1, 2), (0, 1), (0, 1)):
        for counts in (False, True) if op == "AveragePool" else (False,):
            chain = layer(op, size, kernel, stride, (begin, end), counts_padding=counts)
            for candidate in candidates(chain):
                found = fits(candidate.chain)
                named += len(candidate.conventions)
                assert found == (ANY,) or set(candidate.conventions) <= set(found)
    assert named > 50


@pytest.mark.parametrize(
    ("kernel", "stride", "dilation"), [(3, 2, 1), (1, 4, 1), (2, 1, 3), (5, 3, 2), (4, 5, 1)]
)
def test_every_output_padding_is_given_with_the_present_crop(
    kernel: int, stride: int, dilation: int
) -> None:
    chain = layer("ConvTranspose", 9, kernel, stride, pads=(0, 0), dilation=dilation)
    given = {
        one.output_padding or (0, 0) for one in ordinary(chain) if one.padding == chain.padding
    }
    assert given == set(product(range(max(stride, dilation)), repeat=2))
