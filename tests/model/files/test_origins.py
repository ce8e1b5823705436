"""A model that was loaded knows its data files, wherever it is saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import onnxpad
from tests.models.text import text_model


def written(folder: Path, seed: int) -> Path:
    """A model with its weight in weights.bin, another one for each seed."""
    folder.mkdir()
    model = text_model(
        'y = Conv <kernel_shape = [3, 3], auto_pad = "SAME_UPPER"> (x, w)',
        "float[1,2,8,8] x",
        outputs="float[1,4,8,8] y",
    )
    weight = np.random.default_rng(seed).normal(size=(4, 2, 3, 3)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    path = folder / "model.onnx"
    onnx.save_model(
        model, path, save_as_external_data=True, location="weights.bin", size_threshold=0
    )
    return path


def weight(path: Path) -> list[float]:
    found = numpy_helper.to_array(onnx.load(path).graph.initializer[0])
    return [float(one) for one in found.ravel()[:3]]


def test_data_goes_along_without_being_told_where_it_is(tmp_path: Path) -> None:
    path = written(tmp_path / "a", 1)
    onnxpad.save(onnxpad.load(path), tmp_path / "new" / "model.onnx")
    assert weight(tmp_path / "new" / "model.onnx") == weight(path)
    for passes in ("explicit-pads", "static-pads"):
        done = onnxpad.rewrite(onnxpad.load(path), passes=passes)
        done.save(tmp_path / passes / "model.onnx")
        assert weight(tmp_path / passes / "model.onnx") == weight(path)


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize("rewritten", [False, True])
def test_a_foreign_file_of_that_name_is_an_error(
    tmp_path: Path, *, copied: bool, rewritten: bool
) -> None:
    path, other = written(tmp_path / "a", 1), written(tmp_path / "b", 2)
    model = onnxpad.load(path)
    if copied:
        kept, model = model, onnx.ModelProto()
        model.CopyFrom(kept)
    place = other.with_name("mine.onnx")
    done = onnxpad.rewrite(model, passes="explicit-pads")
    with pytest.raises(onnxpad.ModelError, match=r"another file"):
        done.save(place) if rewritten else onnxpad.save(model, place)
    assert not place.exists()


def test_the_same_bytes_and_the_own_folder_are_none(tmp_path: Path) -> None:
    path, same = written(tmp_path / "a", 1), written(tmp_path / "b", 1)
    model = onnx.ModelProto()
    model.CopyFrom(onnxpad.load(path))
    for one in (path, same):
        onnxpad.save(model, one.with_name("mine.onnx"))
        assert weight(one.with_name("mine.onnx")) == weight(path)


def test_another_model_is_not_taken_for_one_that_is_gone(tmp_path: Path) -> None:
    path, other = written(tmp_path / "a", 1), written(tmp_path / "b", 2)
    for _ in range(3):
        onnxpad.load(path)
        model = onnxpad.load(other)
        place = tmp_path / "new" / "model.onnx"
        onnxpad.save(model, place)
        assert weight(place) == weight(other)
