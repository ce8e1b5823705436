"""Models that never end or take all memory: an answer within the limits, nothing left running."""

import pytest

from onnxpad import RequestError, Verdict
from tests.models import runaway
from tests.validation.builders import two_convs
from tests.validation.runs import validate


def test_an_endless_loop_is_not_verified() -> None:
    model = runaway.endless_loop()
    found = validate(model, model, device="cpu", timeout=1)
    assert found.verdict is Verdict.UNVERIFIED
    assert not found.ok
    assert found.reason == (
        "onnxruntime took more than 1 s and was ended; --timeout 600 gives it more"
    )


def test_four_gigabytes_are_not_taken() -> None:
    model = runaway.four_gigabytes()
    found = validate(model, model, device="cpu", memory="300M")
    assert found.verdict is Verdict.UNVERIFIED
    assert "more than 300 MiB of memory" in found.reason
    assert "--memory 1.2G" in found.reason


@pytest.mark.parametrize("sizes", [(99_999_999, 99), (2**31, 2**31)])
def test_inputs_that_do_not_fit_are_refused_before_they_are_drawn(sizes: tuple[int, int]) -> None:
    dims = dict(zip("HW", sizes, strict=True))
    with pytest.raises(
        RequestError, match=r"cells and take .*GiB.*'x' is .*(?s:.*)(?:--dim|dims).*memory"
    ):
        validate(two_convs(), two_convs(), dims=dims, device="cpu")
