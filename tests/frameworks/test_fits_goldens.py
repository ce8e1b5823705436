"""inspect names the framework of every golden layer, and not those that cannot write it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from onnxpad.frameworks.fits import ANY
from onnxpad.inspection import PaddedNode, inspect
from tests.resolving.goldens import ALL, SAMPLE, Golden, goldens

FILES = [SAMPLE, *sorted(ALL.glob("*.json"))] if ALL.is_dir() else [SAMPLE]


OPS = ("Conv", "ConvTranspose", "MaxPool", "AveragePool")


def layers(path: Path) -> Iterator[tuple[Golden, PaddedNode, bool]]:
    """Each layer, the one operator of its model that has windows, and whether it has too few.

    A Pad behind a pool writes the windows of padding alone, which the pool does not have then.
    """
    for golden in goldens(path):
        model = golden.resolved().to_model(golden.weight, golden.bias)
        (node,) = (node for node in inspect(model).nodes if node.op in OPS)
        yield golden, node, "Pool" in node.op and model.graph.node[-1].op_type == "Pad"


@pytest.mark.part(4)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_framework_of_a_golden_layer_is_named(path: Path) -> None:
    unnamed = [
        (golden.record["id"], too_few)
        for golden, node, too_few in layers(path)
        if golden.record["framework"] not in node.conventions and node.conventions != (ANY,)
    ]
    assert [name for name, too_few in unnamed if not too_few] == []
    assert len(unnamed) <= 3


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("framework", "op"), [("pytorch", "max_pool"), ("keras", "conv"), ("tflite", "avg_pool")]
)
def test_layers_of_others_that_it_cannot_write_are_told_apart(framework: str, op: str) -> None:
    named = [
        framework in node.conventions or node.conventions == (ANY,)
        for golden, node, _ in layers(SAMPLE)
        if golden.record["op"] == op and golden.record["framework"] != framework
    ]
    assert named.count(False) > 0
