"""Every convention file: covered by goldens or marked as read; one file is all that it takes."""

from __future__ import annotations

import shutil
import subprocess
import sys
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

ROOT = Path(__file__).parents[2]
FOLDER = Path(str(conventions.__file__)).parent.relative_to(ROOT / "onnxpad")
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


NEW = '''"""Frobnet: two cells in front of every axis, none behind it, and nothing else to say here.
"""

from __future__ import annotations

from onnxpad.frameworks.conventions import Convention
from onnxpad.geometry.windows import Axis
from onnxpad.frameworks.choices import HowKnown
from onnxpad.frameworks.layer import Given, Mode, Pair
from onnxpad.frameworks.words import layers, named


def _two(axis: Axis, _given: Given) -> Pair:
    return (2, 0)


CONVENTION = Convention(
    source="made up for this test",
    layers=(
        layers(HowKnown.READ, "made up for this test")(
            "max_pool", *named(kernel="size", stride="step"), number=Mode(_two)
        ),
    ),
)
'''


def test_a_new_convention_is_one_file(tmp_path: Path) -> None:
    package = shutil.copytree(ROOT / "onnxpad", tmp_path / "onnxpad")
    (package / FOLDER / "frobnet.py").write_text(NEW, encoding="utf-8")
    code = (
        "import onnxpad\n"
        "shape = (1, 1, 6, 6)\n"
        "found = onnxpad.resolve('Frobnet', 'MaxPool2d', input_shape=shape, size=3, step=2)\n"
        "print(found.pads, found.output_shape, onnxpad.explain('frobnet')[0].kind)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert done.stdout.strip() == "(2, 2, 0, 0) (1, 1, 3, 3) convention"


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
