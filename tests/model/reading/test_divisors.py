"""Which divisors are said to settle pads that the graph computes."""

import pytest

from onnxpad.geometry.size_fact import SizeFact
from onnxpad.model.reading.divisors import settling_facts
from onnxpad.model.reading.survey import Survey
from tools.benchmarks.networks import Network


@pytest.mark.parametrize(
    ("strides", "divisor"),
    [
        pytest.param((2,), 2, id="one stride"),
        pytest.param((2, 1, 4), 8, id="a product"),
        pytest.param((2,) * 8, 256, id="more than images are usually divided by"),
    ],
)
def test_strides_say_what_settles_computed_pads(strides: tuple[int, ...], divisor: int) -> None:
    net = Network()
    net.shape = ("N", 3, "H", "W")
    for stride in strides:
        net.same_conv(4, 5, stride)
    found = settling_facts(Survey(net.model()))
    assert found == (("H", SizeFact(divisor, 0)), ("W", SizeFact(divisor, 0)))
