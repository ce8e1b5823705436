"""What a target takes is left alone, byte for byte; what `portable` takes, every runtime takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import ModelProto, parser

from onnxpad import rewrite
from onnxpad.runtimes.targets import find_target
from tests.models.real import model_paths
from tests.runtimes.targets import probes
from tests.runtimes.targets.predict import chains, predicted

FEW = ("onnxruntime@1.31", "openvino", "tvm")
"""Targets that take almost everything."""

TWO = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,8,8] x, float[2,2,3,3] w) => (float[1,2,4,4] y) {
  [wrong] a = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(x, w)
  [right] y = Conv<kernel_shape=[3,3], pads=[1,1,1,1]>(a, w)
}"""
SMALL = 400_000
needs_probes = pytest.mark.skipif(probes.folder() is None, reason="../shared/probes is not there")


def untouched(path: Path, target: str, folder: Path) -> bool:
    """Whether the target objects to nothing; then the file that is written is the file.

    It objects to local functions as well, which are written out.
    """
    done = rewrite(path, target=target)
    assert done.fitting is not None
    if done.fitting.plans or done.unfit or done.inlined:
        return False
    assert not done.changed
    done.save(folder / "same.onnx")
    assert (folder / "same.onnx").read_bytes() == path.read_bytes(), (path.stem, target)
    return True


@pytest.mark.part(4)
@pytest.mark.parametrize("target", FEW)
def test_real_models_that_a_target_takes_stay_as_they_are(target: str, tmp_path: Path) -> None:
    paths = [path for path in model_paths() if path.stat().st_size < SMALL]
    kept = [path.stem for path in paths if untouched(path, target, tmp_path)]
    assert len(kept) > len(paths) // 2


def test_only_what_a_target_objects_to_is_changed() -> None:
    """Of two nodes one is taken, which stays byte for byte."""
    model = parser.parse_model(TWO)
    done = rewrite(model, target="opencv")
    assert isinstance(done.model, ModelProto)
    first, second = done.model.graph.node
    assert first != model.graph.node[0]
    assert second.SerializeToString() == model.graph.node[1].SerializeToString()
    assert [change.node.label for change in done.changes] == ["wrong"]


@needs_probes
def test_what_portable_takes_runs_everywhere() -> None:
    """But for operators that a runtime lacks altogether, and for batches above 1."""
    fine = {
        one.probe
        for one in probes.outcomes()
        if predicted("portable", one.probe) == "takes" and not has_batch(one.probe)
    }
    assert len(fine) > 15
    failing = [
        f"{one.runtime}: {one.probe} ({one.verdict})"
        for one in probes.outcomes()
        if one.probe in fine and one.verdict != "ok" and not lacks(one.runtime, one.probe)
    ]
    assert failing == []


def has_batch(probe: str) -> bool:
    """Whether a batch is not 1."""
    return any(chain.shape is None or chain.shape[0] != 1 for chain in chains(probe))


def lacks(target: str, probe: str) -> bool:
    """Whether the target refuses an operator of the probe in every form.

    The OpenVINO provider refuses a Pad that is all there is, or nearly.
    """
    titles = {chain.op.title for chain in chains(probe)}
    if target == "onnxruntime-openvino" and "Pad" in titles:
        return True
    rows = find_target(target).rows
    taken = {n for row in rows if row.answer == "takes" and not row.when for n in row.operators}
    refused = {n for row in rows if row.answer.fails and not row.when for n in row.operators}
    return bool(titles - taken) or bool(titles & refused)
