"""The written scripts, run in the runtimes themselves: they show what is recorded of them."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from onnxpad import reproducing
from onnxpad.errors import RequestError
from onnxpad.reproducing import all_seen, last_run, reproduce, specimen
from onnxpad.runtimes.targets import find_target
from tests.reproducing import scripts
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.environments import Unavailable

SHOWN = [
    ("ncnn", "asymmetric-maxpool"),
    ("ncnn", "same-averages"),
    ("ncnn", "pad-with-axes"),
    ("opencv", "same-convtranspose"),
    ("opencv", "pad-of-int8"),
]
RUN = (
    *("onnxruntime", "openvino", "opencv", "ncnn", "mnn", "tvm", "tinygrad", "iree"),
    *("onnxruntime-web", "opencv-classic"),
)
"""Runtimes in whose newest release every row has been run as a script."""
SWEPT = [
    pytest.param(name, address, marks=pytest.mark.sweep)
    for name in RUN
    for address, record in all_seen(name).items()
    if record["verdict"] != "not shown"
    and (name, address) not in {*SHOWN, ("ncnn", "concat-at-the-end-of-a-model")}
]


@pytest.mark.part(3)
@pytest.mark.parametrize(("name", "address"), [*SHOWN, *SWEPT])
def test_a_written_script_shows_what_was_seen(name: str, address: str, tmp_path: Path) -> None:
    found = reproduce(name, address)
    assert found.shown
    try:
        verdict = scripts.ran(found, RUNTIMES[name], tmp_path / "made").verdict
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert verdict == all_seen(name)[address]["verdict"]


@pytest.mark.sweep
@pytest.mark.parametrize("name", RUN)
def test_every_row_was_run_in_the_newest_release(name: str) -> None:
    """If not: python -m tests.reproducing NAME. A row without a small model says why."""
    target = find_target(name)
    for address, row in target.failures.items():
        if row in target.rows and row.unshown:
            assert specimen(target, address) is None, f"{address} has a model by now"
        elif row in target.rows:
            assert last_run(name, address).startswith(target.version), address


def test_a_row_without_a_small_model_says_why() -> None:
    with pytest.raises(RequestError, match="it shows at another size than pnnx was given"):
        reproduce("ncnn", "slice-resize-reshape-and-expand-by-computed-sizes")


def test_the_text_says_what_was_seen() -> None:
    text = reproduce("mnn", "asymmetric-lppool").files()["README.md"].decode()
    assert "its script was run, and MNN 3.6.1, CPU, precision high computed something else" in text


def test_where_nothing_was_seen_the_text_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproducing, "_verdict", lambda *_: "not shown")
    found = reproduce("iree", "pad-in-mode-reflect")
    text = found.files()["README.md"].decode()
    assert not found.shown
    assert "This model did not show it:" in text
    assert "was right, with other small models of this kind as well" in text
    assert "fails as long as it is so" not in text


@pytest.mark.sweep
def test_what_a_script_started_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scripts, "SECONDS", 3)
    started = f"import subprocess; subprocess.run([{sys.executable!r}, 'child.py'])"
    wrote = "import time\nwhile True:\n    open('lives', 'a').write('.')\n    time.sleep(0.2)"
    (tmp_path / "child.py").write_text(wrote)
    (tmp_path / "run.py").write_text(started)
    line = [sys.executable, "run.py"]
    assert scripts.ended(line, tmp_path) is None
    before = (tmp_path / "lives").stat().st_size
    time.sleep(1)
    assert (tmp_path / "lives").stat().st_size == before > 0
