"""Many models on one command line: lines, sums, exit codes, workers, and their end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import onnx
import pytest

from onnxpad.cli import run
from tests.batch.folders import PLAIN, SAME, STUCK, leftovers, save
from tests.cli.processes import COMMAND, environment
from tests.models.text import text_model

Captured = pytest.CaptureFixture[str]
WEIGHT = "float[1,1,3] w = {1, 10, 100}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return save(tmp_path / "in", a=SAME, b=PLAIN, c="", deep__d=SAME)


def test_a_line_says_the_sizes_that_alone_were_written(tmp_path: Path, capsys: Captured) -> None:
    """It and the last line agree on whether the file is another."""
    body = "y = Conv <auto_pad = 'SAME_UPPER'> (x, w)".replace("'", '"')
    model = text_model(
        body, inputs="float[n, 1, h] x", outputs="float[a, b, c] y", constants=WEIGHT
    )
    for name in ("one", "two"):
        onnx.save(model, tmp_path / f"{name}.onnx")
    command = ["rewrite", str(tmp_path), "--target", "ncnn", "--dim", "n=1"]
    assert run([*command, "-o", str(tmp_path / "out")]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    ends = [line.split("0 nodes rewritten, 0 skipped")[1:] for line in lines]
    assert ends.count(["; sizes written: n=1"]) == 2
    assert last == "2 models: 2 rewritten"
    assert run([*command, "--dry-run"]) == 0
    assert capsys.readouterr().out.count("; sizes that would be written: n=1\n") == 2


def test_a_model_of_which_nothing_is_known_is_not_called_fine(
    tmp_path: Path, capsys: Captured
) -> None:
    open_batch = "float[N,1,8] x"
    for name in "ab":
        node = "[c] y = Conv <pads=[1, 1]> (x, w)"
        onnx.save(text_model(node, open_batch, constants=WEIGHT), tmp_path / f"{name}.onnx")
    assert run(["inspect", str(tmp_path), "--target", "ncnn"]) == 0
    first, _, what, last = capsys.readouterr().out.splitlines()
    assert first.endswith("ncnn: unknown 1")
    assert what.startswith("not known: no finding unless --fail-on unknown")
    assert last.startswith("2 models: 2 not known (")
    assert run(["inspect", str(tmp_path), "--target", "ncnn", "--fail-on", "unknown"]) == 1
    capsys.readouterr()
    one = str(tmp_path / "a.onnx")
    assert run(["inspect", one, "--target", "ncnn"]) == 0
    said = capsys.readouterr().out
    assert "target ncnn 20261020: unknown 1 of 1 operator that can pad\n" in said
    assert f"next: onnxpad rewrite {one} --target ncnn --dim 'N=1' -o OUT" in said
    assert run(["rewrite", one, "--target", "ncnn", "-o", str(tmp_path / "out.onnx")]) == 0
    capsys.readouterr()
    assert run(["inspect", one, "--target", "ncnn", "--dim", "N=1"]) == 0
    assert "target ncnn 20261020: takes 1 of 1" in capsys.readouterr().out


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_ctrl_c_ends_all_workers_and_leaves_nothing(folder: Path) -> None:
    """Both workers are in the middle of writing a file."""
    (folder.parent / "sitecustomize.py").write_text(STUCK)
    paths = os.pathsep.join([str(folder.parent), environment()["PYTHONPATH"]])
    with subprocess.Popen(
        [*COMMAND, "rewrite", "in", "-o", "out", "-j", "2"],
        env=environment() | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as process:
        while len(leftovers(folder.parent / "out")) < 2:
            assert process.poll() is None
            time.sleep(0.02)
        children = Path(f"/proc/{process.pid}/task").glob("*/children")
        workers = [int(pid) for path in children for pid in path.read_text().split()]
        assert len(workers) == 2
        os.killpg(process.pid, signal.SIGINT)
        start = time.monotonic()
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - start < 30
    assert errors == b""
    assert [pid for pid in workers if alive(pid)] == []
    assert list((folder.parent / "out").rglob("*.*")) == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_end_tidily_when_their_parent_is_killed(folder: Path) -> None:
    (folder.parent / "sitecustomize.py").write_text(STUCK)
    paths = os.pathsep.join([str(folder.parent), environment()["PYTHONPATH"]])
    with subprocess.Popen(
        [*COMMAND, "rewrite", "in", "-o", "out", "-j", "2"],
        env=environment() | {"PYTHONPATH": paths},
        stderr=subprocess.DEVNULL,
    ) as process:
        while len(leftovers(folder.parent / "out")) < 2:
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    deadline = time.monotonic() + 60
    while leftovers(folder.parent / "out") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert leftovers(folder.parent / "out") == []


def test_the_nodes_that_fail_are_named_and_what_is_left_out_is_counted(
    tmp_path: Path, capsys: Captured
) -> None:
    """Without a gate as well: up to ten, and then what names the others."""
    few, many = (
        "float[1,1,10] x",
        " ".join(f"a{n} = LpPool<kernel_shape=[2]>(x)" for n in range(11)),
    )
    model = partial(text_model, inputs=few, outputs="float[a,b,c] y", opset=17)
    bad = tmp_path / "bad.onnx"
    onnx.save(model("[p] y = LpPool<kernel_shape=[2]>(x)"), bad)
    good = tmp_path / "good.onnx"
    onnx.save(model("y = Relu(x)"), good)
    assert run(["inspect", str(bad), str(good), "--target", "opencv"]) == 1
    told = capsys.readouterr()
    assert told.err.startswith(f"fails: {bad}: opencv:refused 'p': it has no LpPool\n")
    assert "not named" not in told.err
    assert "names the nodes" not in told.out
    more = tmp_path / "more.onnx"
    onnx.save(model(f"{many} y = Relu(x)"), more)
    assert run(["inspect", str(bad), str(more), "--target", "opencv"]) == 1
    told = capsys.readouterr()
    count = f"11 failing findings in 1 model ({more}) not named above"
    left = f"{count}: --each or --json names every node"
    assert f"{left}\n" in told.err
    assert run(["inspect", str(bad), str(more), "--target", "opencv", "--each"]) == 1
    told = capsys.readouterr()
    assert all(f"'a{n}'" in told.err for n in range(11))
    assert "not named" not in told.err
    command = ["inspect", str(bad), str(more), "--target", "opencv", "--fail-on", "refused"]
    assert run(command) == 1
    assert f"8 failing findings in 1 model ({more}) not named" in capsys.readouterr().err
    assert run([*command, "--json"]) == 1
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [len(one["findings"]) for one in records] == [1, 11]


@pytest.mark.parametrize("verb", [["inspect"], ["rewrite", "--dry-run"]])
def test_what_is_not_known_of_a_release_is_said_once(
    verb: list[str], folder: Path, capsys: Captured
) -> None:
    models = [str(folder / f"{name}.onnx") for name in ("a", "b")]
    run([*verb, *models, "--target", "openvino@1999.1"])
    told = capsys.readouterr().out
    assert told.count("note: openvino 1999.1 was not measured: judged as 2023.3") == 1


def test_a_proof_of_what_onnxruntime_does_not_run_says_so(tmp_path: Path, capsys: Captured) -> None:
    from tests.validation.test_unrunnable import SAME as SAME_UPPER
    from tests.validation.test_unrunnable import twins

    folder, fine = tmp_path / "in", text_model("y = Relu(x)", "float[1,1,10] x", opset=17)
    folder.mkdir()
    onnx.save(twins(**SAME_UPPER), folder / "twins.onnx")
    onnx.save(fine, folder / "fine.onnx")
    out = str(tmp_path / "out")
    assert run(["rewrite", str(folder), "-o", out, "--validate", "--device", "cpu"]) == 0
    told = capsys.readouterr().out
    assert "; proved; onnxruntime opens neither model: " in told
    assert run(["validate", str(folder), out, "--device", "cpu"]) == 0
    told = capsys.readouterr().out
    assert "; onnxruntime opens neither model: " in told
