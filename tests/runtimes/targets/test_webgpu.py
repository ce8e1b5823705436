"""The WebGPU targets over the probes: what fails is mended wherever a pass can."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnxpad import rewrite
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.environments import Unavailable
from tests.runtimes.live.running import outcomes
from tests.runtimes.targets import probes

pytestmark = pytest.mark.skipif(probes.folder() is None, reason="../shared/probes is not there")

NO_WAY = {
    "webgpu": {"convt3d", "maxpool2d_indices"},
    "webgpu-jsep": {
        *("convt3d", "maxpool2d_indices", "maxpool2d_dil2", "maxpool3d", "avgpool3d"),
        *("qdqconv", "qlinearconv"),
    },
}
"""What no pass mends, by the begin of its probes' names."""


def failing(name: str) -> list[str]:
    return [
        one.probe
        for one in probes.outcomes()
        if one.runtime == name and one.verdict in ("rejects", "wrong", "crash")
    ]


@pytest.mark.sweep
@pytest.mark.parametrize("name", NO_WAY)
def test_what_fails_has_a_way_or_is_known_to_have_none(name: str) -> None:
    stuck = {
        probe for probe in failing(name) if rewrite(probes.model_path(probe), target=name).unfit
    }
    assert all(probe.startswith(tuple(NO_WAY[name])) for probe in stuck), stuck
    assert all(any(probe.startswith(one) for probe in stuck) for one in NO_WAY[name])


@pytest.mark.sweep
@pytest.mark.parametrize("name", NO_WAY)
def test_what_is_rewritten_runs_right_there(name: str, tmp_path: Path) -> None:
    written = {}
    for key, case in probes.cases().items():
        done = rewrite(case.model, target=name)
        if done.changed and not done.unfit:
            done.save(tmp_path / f"{key}.onnx")
            written[key] = case._replace(model=tmp_path / f"{key}.onnx")
    try:
        found = outcomes(RUNTIMES[name], written)
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert {k: one.message for k, one in found.items() if one.verdict != "ok"} == {}
    assert len(found) > 5
