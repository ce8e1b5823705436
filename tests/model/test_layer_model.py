from __future__ import annotations

import pytest

from onnxpad.errors import InternalError
from onnxpad.model.small_models import layer_model
from onnxpad.padding.expansion import Grown, Named, Numbers, Operand, Read, Step

SHAPE = (1, 1, 4, 4)


@pytest.mark.parametrize("operand", [Named("elsewhere"), Grown(Read(1), (0,), (1,)), Read(1)])
def test_a_layer_that_reads_what_it_does_not_have_is_no_model(operand: Operand) -> None:
    with pytest.raises(InternalError, match="a single layer has no"):
        layer_model([Step("conv", "Conv", (Read(0), operand))], SHAPE)


def test_an_input_that_is_left_out_keeps_its_place() -> None:
    pads = Numbers("pads", "int64", (2,), (1, 1))
    axes = Numbers("axes", "int64", (1,), (3,))
    model = layer_model([Step("pad", "Pad", (Read(0), pads, None, axes))], SHAPE)
    assert list(model.graph.node[0].input) == ["x", "y_pads", "", "y_axes"]


def test_a_bias_that_is_not_given_is_left_out() -> None:
    model = layer_model([Step("pool", "MaxPool", (Read(0), Read(2)))], SHAPE)
    assert list(model.graph.node[0].input) == ["x"]
