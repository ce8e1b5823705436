"""What must hold on every real model that is at hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, checker

from onnxpad import Rewriting, rewrite
from tests.models.real import (
    OFF,
    ON,
    auto_pads,
    distance,
    light_models,
    model_paths,
    original_outputs,
    outputs,
    same,
    samples,
)

PATHS = [pytest.param(path, id=path.stem) for path in model_paths()]
# onnxruntime refuses SAME with dilation when it runs the model.
REFUSED_BEFORE = {"t_same_string_ts"}
# Exported with inputs that nobody can give.
NO_INPUTS = {"k_efficientnet_b0_kexport_broken_inputs"}
# onnxruntime's default optimiser fuses Pad(0) into MaxPool in these originals.
DAMAGED_BEFORE = {"t_yolotiny_zeropad_maxpool_ts"}


def rewritten(path: Path, *passes: str) -> Rewriting:
    done = rewrite(path, passes=list(passes))
    assert isinstance(done.model, ModelProto)
    if is_valid(onnx.load(path)):
        checker.check_model(done.model, full_check=True)
    return done


def is_valid(model: ModelProto) -> bool:
    try:
        checker.check_model(model, full_check=True)
    except (checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def check_outputs(path: Path, done: Rewriting) -> None:
    """Bit for bit what the original computes at the same level of optimisation."""
    assert isinstance(done.model, ModelProto)
    if not done.changed:
        assert done.model.SerializeToString() == path.read_bytes()
        return
    if path.stem in NO_INPUTS:
        assert not samples(path)
        return
    off, on = (outputs(done.model, path, level) for level in (OFF, ON))
    if path.stem not in DAMAGED_BEFORE and not isinstance(off, str):
        assert not isinstance(on, str), on
        assert distance(off, on) <= 0.05, "onnxruntime's optimiser damages what was written"
    for level, found in ((OFF, off), (ON, on)):
        if path.stem in REFUSED_BEFORE:
            assert isinstance(original_outputs(path, level), str)
            assert source_distance(path, found) < 1e-4
        else:
            assert same(original_outputs(path, level), found), (path.stem, level, found)


def source_distance(path: Path, found: list[list[np.ndarray]] | str) -> float:
    """Distance to the source framework's stored outputs."""
    assert not isinstance(found, str), found
    stored = np.load(path.with_suffix(".npz"))
    wanted = [
        [stored[f"s{number}_src{position}"] for position in range(len(row))]
        for number, row in enumerate(found)
    ]
    return distance(wanted, found)


@pytest.mark.parametrize("path", PATHS)
def test_explicit_pads_leaves_no_auto_pad_or_names_the_missing_size(path: Path) -> None:
    done = rewritten(path, "explicit-pads")
    assert isinstance(done.model, ModelProto)
    named = {skip.node.label.rsplit("/", 1)[-1]: skip.skip for skip in done.skips}
    for name in auto_pads(done.model):
        skip = named[name.rsplit("/", 1)[-1]]
        assert "needs the size" in skip.reason
        assert skip.hints
    check_outputs(path, done)


@pytest.mark.part(9)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "passes", [("split-pads",), ("absorb-pad",), ("split-pads", "absorb-pad")], ids="+".join
)
def test_pads_move_in_and_out_without_a_changed_number(path: Path, passes: tuple[str, ...]) -> None:
    check_outputs(path, rewritten(path, *passes))


def test_the_missing_sizes_of_the_dynamic_unet_are_settled_by_facts() -> None:
    path = next(path for path in model_paths() if path.stem == "k_unet_dyn_op13")
    first = rewrite(path)
    assert isinstance(first.model, ModelProto)
    assert len(auto_pads(first.model)) == 2
    roots = [hint for skip in first.skips for hint in skip.skip.hints if "%" in hint]
    assert roots
    facts = {
        part.split("%")[0].split("'")[1]: "%" + part.split("%")[1].rstrip("'")
        for hint in roots
        for part in hint.split(" --dim ")
        for part in [part.replace("--dim ", "")]
    }
    done = rewrite(path, dims=facts)
    assert isinstance(done.model, ModelProto)
    assert not auto_pads(done.model)
    even = [
        index
        for index, sample in enumerate(samples(path))
        if all(size % 4 == 0 for size in next(iter(sample.values())).shape[1:3])
    ]
    before, after = original_outputs(path, OFF), outputs(done.model, path, OFF)
    assert not isinstance(before, str)
    assert not isinstance(after, str)
    assert even
    assert same([before[i] for i in even], [after[i] for i in even])


@pytest.mark.parametrize("path", light_models(), ids=lambda path: path.stem)
def test_nothing_to_do_gives_the_input_back_byte_for_byte(path: Path, tmp_path: Path) -> None:
    done = rewrite(path, passes=["absorb-pad"])
    done.save(tmp_path / "out.onnx")
    if not done.changed:
        assert (tmp_path / "out.onnx").read_bytes() == path.read_bytes()
    explicit = rewrite(path, passes=["explicit-pads", "explicit-pads"])
    explicit.save(tmp_path / "explicit.onnx")
    again = rewrite(tmp_path / "explicit.onnx", passes=["explicit-pads"])
    again.save(tmp_path / "again.onnx")
    assert not again.changed
    assert (tmp_path / "again.onnx").read_bytes() == (tmp_path / "explicit.onnx").read_bytes()
