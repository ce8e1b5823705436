"""Differences that no padding explains: said so, and where they begin."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from onnx import ModelProto, helper, numpy_helper, parser

from onnxpad.diagnosis import Cause, Diagnosis, diagnose
from onnxpad.show.diagnoses import diagnosis_document
from tests.diagnosis.networks import AMBIGUOUS, resnet
from tests.retargeting.running import Array, outputs, signed

Change = Callable[[Array], Array]
TENSORS = ("stem_out", "pool_out", "s1b0_2_out", "s1b0_add_out", "s2b0_2_out", "s2b0_add_out")
X = signed(0, 1, 3, 64, 64)
_HEADED = """<ir_version: 9, opset_import: ["" : 19]>
g (float[1,3,9,9] x, float[4,3,3,3] w, float[4,5] m) => (float[1,5] y) {
  a = Conv <strides = [2, 2], pads = [PADS]> (x, w)
  b = GlobalAveragePool (a)
  c = Flatten (b)
  y = MatMul (c, m)
}"""


def changed(model: ModelProto, name: str, change: Change) -> ModelProto:
    """The model with other weights; '' is every weight."""
    for held in model.graph.initializer:
        if held.name == name or not name:
            value = np.ascontiguousarray(change(numpy_helper.to_array(held)))
            held.CopyFrom(numpy_helper.from_array(value.astype(np.float32), held.name))
    return model


def against(model: ModelProto, true: ModelProto, *tensors: str, budget: float) -> Diagnosis:
    del true.graph.output[:]
    names = [*tensors, "fc_out"]
    true.graph.output.extend(helper.make_tensor_value_info(name, 1, None) for name in names)
    reference = dict(zip(names, outputs(true, X), strict=True))
    return diagnose(model, inputs={"x": X}, outputs=reference, budget=budget)


CHANGES = {
    "1 % of a weight": ("s2b0_2_w", lambda w: w * 1.01, "s2b0_2_out", "s1b0_add_out"),
    "a transposed kernel": ("s1b0_2_w", lambda w: w.swapaxes(2, 3), "s1b0_2_out", "pool_out"),
    "a bias": ("stem_b", lambda b: b + 0.01, "stem_out", ""),
    "float16 weights": ("", lambda w: w.astype(np.float16), "stem_out", ""),
}


@pytest.mark.part(2)
@pytest.mark.parametrize(("weight", "change", "first", "after"), CHANGES.values(), ids=CHANGES)
def test_other_weights_are_not_explained(
    weight: str, change: Change, first: str, after: str
) -> None:
    true = changed(resnet({}), weight, change)
    found = against(resnet({}), true, *TENSORS, budget=600)
    several = found.difference is not None and len(found.difference.nodes) > 5
    cause = Cause.UNKNOWN if several else Cause.NOT_PADDING  # all was tried of one node only
    assert (found.explained, found.cause) == (False, cause)
    assert found.complete  # every assignment in front of what differs was tried
    assert not found.plan.entries
    tried = f"of the {found.tried} ways tried to pad 9 nodes none"
    opening = "" if several else "padding does not explain it: "
    assert found.reason.startswith(f"{opening}{tried}")
    assert "none comes much nearer than the model as it is" in found.reason
    assert found.difference is not None
    assert (found.difference.tensor, found.difference.after) == (first, after)
    assert found.difference.where == "everywhere"
    assert found.residual is not None
    assert found.allowed is not None
    assert found.residual > found.allowed


@cache
def of_padding_and_a_weight() -> Diagnosis:
    true = changed(resnet(dict.fromkeys(AMBIGUOUS, "upper")), "s2b0_2_w", lambda w: w * 1.01)
    return against(resnet({}), true, *TENSORS, budget=600)


@pytest.mark.sweep
def test_padding_and_a_weight_together_are_told_apart() -> None:
    found = of_padding_and_a_weight()
    assert not found.explained
    assert "padding seems a part of it" in found.reason
    assert found.nearest is not None
    assert {"stem", "pool", "s1b0_2"} <= {entry.node for entry in found.nearest.entries}
    assert found.difference is not None
    assert found.difference.tensor == "s2b0_2_out"
    assert "; with the nearest padding the first reference that differs is 's2b0_2_out'" in (
        found.reason
    )


def test_one_number_says_how_far_it_is_and_the_nearest_nodes_are_told() -> None:
    found = of_padding_and_a_weight()
    assert found.before is not None
    assert found.nearest is not None
    assert found.nearest_residual is not None
    assert found.nearest_residual < found.before / 3
    numbers = f"which leaves an error of {found.nearest_residual:.2g}; as it is {found.before:.2g}"
    assert numbers in found.reason
    planned = {entry.node for entry in found.nearest.entries}
    assert {node.node for node in found.nearest_nodes if node.changed} == planned
    told = str(diagnosis_document(found))
    assert "comes nearest with" in told
    assert f"with the nearest padding {found.nearest_residual:.2g}" in told


def test_a_short_budget_ends_the_search_and_claims_nothing() -> None:
    true = changed(resnet(dict.fromkeys(AMBIGUOUS, "upper")), "s2b0_2_w", lambda w: w * 1.01)
    found = against(resnet({}), true, budget=0.3)
    assert (found.explained, found.cause, found.complete) == (False, Cause.UNKNOWN, False)
    assert "the search ended with its budget: a larger --budget tries" in found.reason


def headed(pads: str) -> ModelProto:
    return parser.parse_model(_HEADED.replace("PADS", pads))


def test_a_reference_without_borders_leaves_padding_beside_a_weight_open() -> None:
    feeds = {"x": signed(0, 1, 3, 9, 9), "w": signed(1, 4, 3, 3, 3), "m": signed(2, 4, 5)}
    other = {**feeds, "m": feeds["m"] * np.float32(1.3) + np.float32(0.1)}
    right = outputs(headed("0, 0, 1, 1"), other)
    found = diagnose(headed("1, 1, 1, 1"), inputs=feeds, outputs={"y": right[0]})
    assert (found.explained, found.cause, found.complete) == (False, Cause.UNKNOWN, True)
    assert "save what the framework computes for 'a'" in found.settles
