"""Every convention file: covered by goldens or marked as read; one file is all that it takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnxpad import resolving
from onnxpad.frameworks import conventions, fits, layer, to_onnx, values, worked_out
from onnxpad.frameworks.choices import HowKnown, Role
from onnxpad.frameworks.conventions import Convention, all_conventions, find_convention, find_layer
from onnxpad.frameworks.layer import Layer
from onnxpad.model import small_models
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
NAMES = {
    "tensorflow", "keras", "tflite", "pytorch", "timm", "caffe", "caffe2", "torch7",
    "torch7-thnn", "opencv-caffe-importer", "opencv-darknet-importer", "cudnn", "mps",
    "mpsgraph", "core-ml", "cntk", "theano", "mxnet", "darknet", "paddle", "jax", "flax",
    "chainer", "dl4j", "matlab", "tensornets", "onnx",
}  # fmt: skip


def test_all_frameworks_are_there() -> None:
    """A new one needs no line here: it is a file."""
    assert set(all_conventions()) >= NAMES


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


def test_no_engine_knows_a_framework_by_name() -> None:
    engines = [conventions, layer, worked_out, values, to_onnx, fits, resolving, small_models]
    texts = {module.__name__: Path(str(module.__file__)).read_text() for module in engines}
    quoted = [f'"{name}"' for name in all_conventions()]
    assert [(name, word) for name, text in texts.items() for word in quoted if word in text] == []
