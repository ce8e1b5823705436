"""What is said beside a plan holds on every sample: names, other ways, sizes that would tell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest
from onnx import ModelProto, parser

from onnxpad.diagnosis import Diagnosis, diagnose
from onnxpad.inspection import inspect
from onnxpad.show.diagnoses import finding_row
from onnxpad.show.wording import frameworks_text
from tests.retargeting.running import Array, outputs, signed

CONV = "Conv <strides = [2, 2], PADS> (x, w)"
POOL = "MaxPool <kernel_shape = [3, 3], strides = [2, 2], PADS> (x)"
OPEN = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 1, H, W] x, float[1, 1, 3, 3] w) => (float[1, 1, K, L] y) {
  z = OP
  y = Identity (z)
}
"""
WEIGHT = signed(9, 1, 1, 3, 3)
HALF, END = "pads = [1, 1, 1, 1]", "pads = [0, 0, 1, 1]"


def open_model(op: str, pads: str) -> ModelProto:
    return parser.parse_model(OPEN.replace("OP", op).replace("PADS", pads))


def told(wrong: ModelProto, right: ModelProto, sizes: Sequence[int]) -> Diagnosis:
    x: list[Array] = [signed(size, 1, 1, size, size) for size in sizes]
    y = [outputs(right, {"x": one, "w": WEIGHT})[0] for one in x]
    inputs = {"x": x, "w": [WEIGHT] * len(x)}
    found = diagnose(wrong, inputs=inputs, outputs={"y": y})
    assert found.explained, found.reason
    return found


def others(found: Diagnosis) -> dict[str, tuple[int, ...] | None]:
    (node,) = found.nodes
    return {one.label: one.sizes for one in node.alternatives}


def test_numbers_that_fit_one_size_are_named_beside_same() -> None:
    found = told(open_model(CONV, HALF), open_model(CONV, END), [16])
    assert others(found)["pads [0, 0, 1, 1]"] == (17, 17)


def test_a_convention_that_another_sample_refutes_is_not_named() -> None:
    """One cell at the end fits both sizes, SAME the even one only: Caffe's ceil means it too."""
    found = told(open_model(POOL, HALF), open_model(POOL, END), [16, 15])
    (entry,) = found.plan.entries
    assert (entry.settings["pads"], entry.settings["ceil_mode"]) == ([0, 0, 0, 0], 1)
    assert "caffe" in entry.conventions
    assert "tensorflow" not in entry.conventions
    assert set(found.nodes[0].conventions) == set(entry.conventions)
    assert "SAME_UPPER" not in others(found)


def test_what_fits_the_first_sample_alone_is_no_other_way() -> None:
    model = open_model(CONV, HALF)
    assert others(told(model, model, [17]))["SAME_UPPER"] == (18, 18)
    assert told(model, model, [17, 18]).nodes == ()


def test_only_frameworks_whose_own_rule_gives_it_are_named() -> None:
    """TensorFlow can be given explicit pads; its rules are SAME and VALID. JAX has SAME_LOWER."""
    (entry,) = told(open_model(CONV, END), open_model(CONV, HALF), [16, 17]).plan.entries
    assert entry.conventions[:2] == ("pytorch", "caffe")
    assert not {"tensorflow", "keras", "tflite"} & set(entry.conventions)
    assert {"jax", "onnx", "core-ml"} <= set(entry.conventions)


def test_same_is_named_for_those_that_have_it() -> None:
    found = told(open_model(CONV, HALF), open_model(CONV, END), [16])
    assert {"tensorflow", "keras", "jax", "onnx"} <= set(found.nodes[0].conventions)
    assert found.nodes[0].conventions[0] == "tensorflow"
    assert not {"pytorch", "caffe"} & set(found.nodes[0].conventions)


WAYS = (HALF, END, 'auto_pad = "SAME_UPPER"', f"{HALF}, ceil_mode = 1", "ceil_mode = 1")


@pytest.mark.parametrize("sizes", [(10, 9), pytest.param((9, 11, 10), marks=pytest.mark.sweep)])
def test_what_several_sizes_tell_is_found_in_any_order(sizes: Sequence[int]) -> None:
    """Ways that are one way at one size are told apart by another: the plan fits all of them."""
    for wrong, right in permutations(WAYS, 2):
        found = told(open_model(POOL, wrong), open_model(POOL, right), sizes)
        assert found.tried < 60, (wrong, right)


def test_of_ways_that_fit_the_plan_has_the_frequent_one() -> None:
    """At an odd size SAME, half the kernel, and that rounding up are one: SAME is TensorFlow's."""
    wrong, right = f"{END}, ceil_mode = 1".replace("1, 1]", "2, 2]"), f"{HALF}, ceil_mode = 1"
    found = told(open_model(POOL, wrong), open_model(POOL, right), [9])
    assert found.nodes[0].after == "SAME_UPPER"
    assert any("Add a sample in which it reads [10, 10]" in one for one in found.warnings)


@pytest.mark.parametrize(("wrong", "right"), [(HALF, END), (END, HALF)])
def test_the_table_names_whom_inspect_names(wrong: str, right: str) -> None:
    """Those whose own rule it is come first, then those that can be given the numbers."""
    (node,) = told(open_model(CONV, wrong), open_model(CONV, right), [16, 17]).nodes
    (inspected,) = inspect(open_model(CONV, right)).nodes
    assert finding_row(node)[-1] == frameworks_text(inspected.conventions)
