"""Every convention file: covered by goldens or marked as read; one file is all that it takes."""

from __future__ import annotations

import pytest

from onnxpad.frameworks.choices import HowKnown, Role
from onnxpad.frameworks.conventions import Convention, all_conventions, find_convention, find_layer
from onnxpad.frameworks.layer import Layer
from onnxpad.retargeting.habits import named_convention
from tests.resolving.goldens import SAMPLE, goldens

LAYERS = [
    (convention, layer) for convention in all_conventions().values() for layer in convention.layers
]
SAMPLED = {
    (
        case.record["framework"],
        find_layer(find_convention(case.record["framework"]), case.record["op"]).op,
    )
    for case in goldens(SAMPLE)
}


@pytest.mark.parametrize(
    ("convention", "layer"), LAYERS, ids=lambda item: getattr(item, "name", getattr(item, "op", ""))
)
def test_a_layer_is_covered_by_goldens_or_marked_as_read(
    convention: Convention, layer: Layer
) -> None:
    executed = layer.evidence is HowKnown.EXECUTED
    assert ((convention.name, layer.op) in SAMPLED) is executed
    assert len(layer.source) > 15
    assert ("measured" in layer.source) is executed


@pytest.mark.parametrize("convention", all_conventions().values(), ids=lambda item: item.name)
def test_a_file_says_what_and_from_where(convention: Convention) -> None:
    assert convention.layers
    assert len(convention.text) > 60
    assert len(convention.source) > 15


def test_names_and_aliases_are_unique() -> None:
    names = [name for item in all_conventions().values() for name in (item.name, *item.aliases)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("convention", "layer"), LAYERS, ids=lambda item: getattr(item, "name", getattr(item, "op", ""))
)
def test_words_are_unique_and_what_pads_has_a_rule(convention: Convention, layer: Layer) -> None:
    names = [name for word in layer.words for name in word.names]
    assert len(set(names)) == len(names), convention.name
    for word in layer.words:
        if word.role is Role.PADDING and word.axis is None:
            assert word.modes or word.layouts
            transposed = layer.op == "conv_transpose"
            for mode in word.modes.values():
                assert mode.cut if transposed else mode.pad_rule, (convention.name, word.name)


@pytest.mark.parametrize("name", ["Core ML", " core_ml ", "core \t_ml", "CoreML", "core-ml"])
def test_a_name_is_found_however_it_is_written(name: str) -> None:
    assert find_convention(name).name == "core-ml"
    assert named_convention(name) == "core-ml"
    assert named_convention("same upper") == named_convention("Same-Upper") == "SAME_UPPER"
