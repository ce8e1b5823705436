"""Candidates name frameworks as inspect's column fits does."""

from __future__ import annotations

from itertools import product

import pytest

from onnxpad.frameworks.fits import ANY, fits
from onnxpad.retargeting.candidates import candidates
from tests.retargeting.layers import layer


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
