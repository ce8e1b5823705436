"""A fleet of workers that somebody else runs: Dask, in an environment of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.batch.folders import SAME, leftovers, save
from tests.runtimes.live import Runtime
from tests.runtimes.live.environments import Unavailable, place

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture(scope="module")
def dask() -> str:
    """The Python of an environment that has Dask; onnx and the rest come from this one."""
    try:
        return str(place(Runtime("dask", str(HERE / "dask.txt"))))
    except Unavailable as reason:
        pytest.skip(f"no environment with Dask: {reason}")


@pytest.mark.sweep
@pytest.mark.parametrize("many", [80, 200])
def test_nothing_is_lost_when_a_worker_is_killed(dask: str, tmp_path: Path, many: int) -> None:
    models, output = save(tmp_path / "in", m000=SAME), tmp_path / "out"
    for number in range(1, many):
        shutil.copy(models / "m000.onnx", models / f"m{number:03}.onnx")
    path = os.pathsep.join([str(ROOT), sysconfig.get_paths()["purelib"]])
    done = subprocess.run(
        [dask, str(HERE / "dask_session.py"), str(models), str(output)],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told.pop("files") == [str(path) for path in sorted(models.iterdir())]
    assert told.pop("line") == "2 models: 2 fine"
    assert (
        told.pop("nobody")
        == "  try     dask scheduler, which prints its address, and dask worker ADDRESS"
    )
    assert told == {"summary": {"rewritten": many}, "killed": True, "stayed": True, "code": 0}
    assert len({path.read_bytes() for path in output.glob("*.onnx")}) == 1
    assert len(list(output.iterdir())) == many
    assert leftovers(output) == []
