"""The written scripts, run in the runtimes themselves: they show what is recorded of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnxpad.reproducing import all_seen, reproduce
from tests.reproducing.scripts import verdict_of
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.environments import Unavailable

SHOWN = [
    ("ncnn", "asymmetric-maxpool"),
    ("ncnn", "same-averages"),
    ("ncnn", "pad-with-axes"),
    ("opencv", "same-with-dilations"),
    ("opencv", "stored-tensors-of-bool"),
    ("opencv", "pad-of-int8"),
]
SWEPT = [
    pytest.param(name, address, marks=pytest.mark.sweep)
    for name in ("ncnn", "opencv", "opencv-classic", "mnn", "openvino", "onnx2torch")
    for address, record in all_seen()[name].items()
    if record["verdict"] != "not shown"
    and (name, address) not in {*SHOWN, ("ncnn", "concat-at-the-end-of-a-model")}
]


@pytest.mark.parametrize(("name", "address"), [*SHOWN, *SWEPT])
def test_a_written_script_shows_what_was_seen(name: str, address: str, tmp_path: Path) -> None:
    found = reproduce(name, address)
    assert found.shown
    try:
        verdict = verdict_of(found, RUNTIMES[name], tmp_path / "made")
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert verdict == all_seen()[name][address]["verdict"]


def test_where_nothing_was_seen_the_text_says_so() -> None:
    found = reproduce("ncnn", "lppool-written-with-pow")
    text = found.files()["README.md"].decode()
    assert not found.shown
    assert "This model did not show it:" in text
    assert "was run with small models of this kind, and none showed it" in text
    assert "fails as long as it is so" not in text
