"""A file may give any attribute any type: an answer or one of onnxpad's errors, never another."""

from __future__ import annotations

import contextlib
from random import Random

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, GraphProto, ModelProto, helper

import onnxpad
from onnxpad import OnnxpadError
from tests.models.every_operator import every_operator

WRONG = (
    helper.make_attribute("a", 3),
    helper.make_attribute("a", -1),
    helper.make_attribute("a", 2**62),
    helper.make_attribute("a", 0.5),
    helper.make_attribute("a", float("nan")),
    helper.make_attribute("a", "SAME"),
    helper.make_attribute("a", b"\xff"),
    helper.make_attribute("a", [0] * 7),
    helper.make_attribute("a", [2**62, -(2**62), 0, 1]),
    helper.make_attribute("a", [float("nan"), float("inf")]),
    helper.make_attribute("a", ["x", "y"]),
    helper.make_attribute("a", onnx.numpy_helper.from_array(np.zeros(2))),
    helper.make_attribute("a", GraphProto(name="body")),
    AttributeProto(type=AttributeProto.INTS),
    AttributeProto(type=AttributeProto.UNDEFINED),
    AttributeProto(type=AttributeProto.INTS, ref_attr_name="pads"),
)


def _changed(model: ModelProto, node: int, name: str, wrong: AttributeProto) -> ModelProto:
    found = ModelProto()
    found.CopyFrom(model)
    kept = [entry for entry in found.graph.node[node].attribute if entry.name != name]
    del found.graph.node[node].attribute[:]
    found.graph.node[node].attribute.extend(kept)
    found.graph.node[node].attribute.add().CopyFrom(wrong)
    found.graph.node[node].attribute[-1].name = name
    return found


PLACES = [
    (place, name)
    for place, node in enumerate(every_operator().graph.node)
    for name in dict.fromkeys(
        [*(entry.name for entry in node.attribute), "pads", "auto_pad", "strides", "kernel_shape"]
    )
]


def _judge(model: ModelProto) -> None:
    with contextlib.suppress(OnnxpadError):
        onnxpad.inspect(model)
    with contextlib.suppress(OnnxpadError):
        onnxpad.rewrite(model, passes=["explicit-pads", "split-pads"])
    with contextlib.suppress(OnnxpadError):
        onnxpad.retarget(model, to="tensorflow")


def test_some_attributes_of_another_type() -> None:
    random = Random(1)
    for _ in range(20):
        place, name = random.choice(PLACES)
        _judge(_changed(every_operator(), place, name, random.choice(WRONG)))


@pytest.mark.sweep
@pytest.mark.parametrize(("place", "name"), PLACES)
def test_all_attributes_of_another_type(place: int, name: str) -> None:
    for wrong in WRONG:
        _judge(_changed(every_operator(), place, name, wrong))
