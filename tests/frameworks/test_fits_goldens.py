"""inspect names the framework of every golden layer, and not those that cannot write it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from onnxpad.frameworks.fits import ANY
from onnxpad.inspection import PaddedNode, inspect
from tests.resolving.goldens import ALL, SAMPLE, Golden, goldens

WINDOWS = {"Conv", "ConvTranspose", "MaxPool", "AveragePool"}
FILES = [SAMPLE, *sorted(ALL.glob("*.json"))] if ALL.is_dir() else [SAMPLE]


def layers(path: Path) -> Iterator[tuple[Golden, PaddedNode]]:
    """Each layer and the one operator of its model that has windows."""
    for golden in goldens(path):
        model = golden.resolved().to_model(golden.weight, golden.bias)
        (node,) = (node for node in inspect(model).nodes if node.op in WINDOWS)
        yield golden, node


def has_windows_outside(golden: Golden) -> bool:
    """Whether a Pad behind a pool writes windows of padding alone: the pool has fewer then."""
    steps = golden.resolved().steps
    pools = ["Pool" in step.op_type for step in steps]
    return any(pools) and steps[-1].op_type == "Pad"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_framework_of_a_golden_layer_is_named(path: Path) -> None:
    missed, outside = [], 0
    for golden, node in layers(path):
        if golden.record["framework"] not in node.conventions and node.conventions != (ANY,):
            missed += [] if has_windows_outside(golden) else [golden.record["id"]]
            outside += has_windows_outside(golden)
    assert missed == []
    assert outside <= 3


@pytest.mark.parametrize(
    ("framework", "op"), [("pytorch", "max_pool"), ("keras", "conv"), ("tflite", "avg_pool")]
)
def test_layers_of_others_that_it_cannot_write_are_told_apart(framework: str, op: str) -> None:
    """Each golden of another framework whose windows no layer of this one has."""
    named = [
        framework in node.conventions or node.conventions == (ANY,)
        for golden, node in layers(SAMPLE)
        if golden.record["op"] == op and golden.record["framework"] != framework
    ]
    assert named.count(False) > 0
