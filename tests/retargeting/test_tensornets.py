"""The eleven networks of TensorNets' table, between asymmetric and symmetric padding."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, checker

from onnxpad.retargeting import Retargeting, retarget
from tests.models.tensornets import VARIANTS, Case, network
from tests.retargeting.running import Array, outputs, signed

PREACT = {"ResNet50v2", "ResNet101v2", "ResNet152v2"}
X = signed(11, 1, 3, 64, 64)


def pads_in_front(model: ModelProto) -> dict[str, tuple[str, list[int]]]:
    """Mode and pads of axes 2 and 3 of each Pad."""
    constants = {one.name: one for one in model.graph.initializer}
    found = {}
    for node in model.graph.node:
        if node.op_type == "Pad":
            flat = np.frombuffer(constants[node.input[1]].raw_data, np.int64).tolist()
            mode = next(one.s.decode() for one in node.attribute if one.name == "mode")
            found[node.name] = (mode, [flat[2], flat[6]])
    return found


def computed(model: object) -> Array:
    assert isinstance(model, ModelProto)
    return outputs(model, X)[0]


@pytest.mark.parametrize("name", VARIANTS)
def test_each_variant_pads_as_tensornets_states(name: str) -> None:
    model = network(name, "stated")
    checker.check_model(model)
    pads = pads_in_front(model)
    assert pads.pop("conv1/pad") == ("constant", [3, 3])
    assert pads.pop("pool1/pad") == ("edge", [0, 1] if name in PREACT else [1, 1])
    explicit = not name.startswith("ResNet") or name.endswith("v2")
    assert bool(pads) is explicit
    assert all(found == ("constant", [1, 1]) for found in pads.values())


@pytest.mark.parametrize("name", VARIANTS)
def test_it_moves_between_case_1_and_case_2_and_back(name: str) -> None:
    asymmetric, symmetric = network(name, 1), network(name, 2)
    there = retarget(symmetric, to="tensorflow")
    assert not there.skips
    assert not there.breaks
    moved = {one.node.label for one in there.changes}
    assert {"conv1", "pool1"} <= moved
    assert all("/block" in label for label in moved - {"conv1", "pool1"})
    wanted = {1: computed(asymmetric), 2: computed(symmetric)}
    assert np.abs(wanted[1] - wanted[2]).max() > 1e-3 * np.abs(wanted[1]).max()
    assert np.array_equal(computed(there.model), wanted[1])
    back = retarget(there.model, to="symmetric")
    assert np.array_equal(computed(back.model), wanted[2])
    assert {one.node.label for one in back.changes} == moved
    again = retarget(asymmetric, to="symmetric")
    assert np.array_equal(computed(again.model), wanted[2])
    assert not retarget(asymmetric, to="SAME_UPPER").changed


@pytest.mark.parametrize("name", sorted(PREACT))
def test_the_mixed_variants_come_back_by_their_pool(name: str) -> None:
    stated: Case = "stated"
    model = network(name, stated)
    all_symmetric = retarget(model, to="symmetric")
    assert [one.node.label for one in all_symmetric.changes] == ["pool1"]
    back = retarget(all_symmetric.model, to="tensorflow", nodes="pool1")
    assert np.array_equal(computed(back.model), computed(model))


def test_a_pool_padded_with_zeros_becomes_one_that_pads() -> None:
    """The same after a ReLU, where zeros never win."""
    model = network("ResNet50", 2)
    for node in model.graph.node:
        if node.name == "pool1/pad":
            node.attribute[0].s = b"constant"
    found: Retargeting = retarget(model, to="symmetric")
    assert [one.node.label for one in found.changes] == ["pool1"]
    assert np.array_equal(computed(found.model), computed(model))
