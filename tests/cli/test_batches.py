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
MODELS = Path(__file__).parents[2] / "models"
WEIGHT = "float[1,1,3] w = {1, 10, 100}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return save(tmp_path / "in", a=SAME, b=PLAIN, c="", deep__d=SAME)


def test_of_many_models_those_that_fail_alone(capsys: Captured) -> None:
    bad, good = (str(MODELS / f"{n}.onnx") for n in ("k_unet_dyn_op13", "k_yolo_tiny_op15"))
    command = ["inspect", bad, good, "--target", "opencv"]
    every = run(command), capsys.readouterr().out.splitlines()
    some = run([*command, "--failing"]), capsys.readouterr().out.splitlines()
    assert every[0] == some[0] == 1
    assert some[1] == [line for line in every[1] if not line.startswith(good)]
    assert len(some[1]) == len(every[1]) - 1
    assert run(["inspect", bad, "--target", "opencv", "--failing"]) == 1
    line, *_, last = capsys.readouterr().out.splitlines()
    assert line == some[1][0]
    assert last == f"1 model: 1 failing ({bad})"


def test_one_line_a_model_and_a_last_one(folder: Path, capsys: Captured) -> None:
    assert run(["rewrite", "in", "-o", "out"]) == 2
    captured = capsys.readouterr()
    a, b, d = Path("a.onnx"), Path("b.onnx"), Path("deep", "d.onnx")
    done = "1 node rewritten (explicit-pads 1), 0 skipped"
    assert captured.out.splitlines() == [
        f"{'in' / a} -> {'out' / a}: {done}",
        f"{'in' / b} -> {'out' / b}: 0 nodes rewritten, 0 skipped",
        f"{'in' / d} -> {'out' / d}: {done}",
        f"4 models: 2 rewritten, 1 unchanged, 1 error ({Path('in/c.onnx')})",
    ]
    assert captured.err.startswith(f"error: {Path('in/c.onnx')}: not an ONNX model")
    assert (folder.parent / "out" / "deep" / "d.onnx").exists()


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


@pytest.mark.parametrize(
    "line",
    ["inspect in", "rewrite in -o out", "retarget in --to pytorch -o out", "validate in in"],
)
def test_models_are_left_out(line: str, folder: Path, capsys: Captured) -> None:
    pytest.importorskip("onnxruntime")
    assert run([*line.split(), "--exclude", "c*", "--exclude", "deep/"]) == 0
    said = capsys.readouterr()
    noun = "pair" if line.startswith("validate") else "model"
    assert said.err == f"note: --exclude leaves 2 {noun}s out\n"
    assert f"2 {noun}s: " in said.out
    assert run([*line.split(), "--exclude", "nobody"]) == 2
    assert "--exclude 'nobody' is about no model of a folder or" in capsys.readouterr().err
    (folder.parent / "pyproject.toml").write_text(
        "[tool.onnxpad]\nexclude = ['c*', 'nobody', 'split-pads']\ntarget = 'ncnn'"
    )
    assert run(line.split()) == 0
    assert f"3 {noun}s: " in capsys.readouterr().out


def test_exclude_of_rewrite_is_about_passes_as_well(folder: Path, capsys: Captured) -> None:
    line = ["rewrite", "in", "--target", "onnx2torch", "--dry-run", "--exclude", "c.onnx"]
    assert run([*line, "--exclude", "explicit-pads"]) == 0
    assert "1 node would be rewritten (split-pads 1), 0" in capsys.readouterr().out
    one = ["rewrite", str(folder / "a.onnx"), "--target", "onnx2torch", "--dry-run"]
    for models in (line, one):
        assert run([*models, "--exclude", "explicit-pad"]) == 2
        assert "; did you mean the pass 'explicit-pads'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said", "tried"),
    [
        (
            ["--target", "opencv"],
            (
                "opencv would refuse or miscompute 2 of its nodes: Conv 'Conv__8990', "
                "'Conv__9006': may compute wrong numbers: OpenCV pads SAME_* as if stride"
            ),
            "--dim 'unk__9105%4=0' --dim 'unk__9106%4=0' settles all 2",
        ),
        (
            ["--strict"],
            "--strict allows no skips, and there are 2: Conv 'Conv__8990' and 1 more: SAME_UPPER",
            "--dim 'unk__9105=640' --dim 'unk__9106=640',",
        ),
    ],
)
def test_a_refused_model_says_why_and_what_to_type(
    options: list[str], said: str, tried: str, tmp_path: Path, capsys: Captured
) -> None:
    unet = MODELS / "k_unet_dyn_op13.onnx"
    two = [str(unet), str(MODELS / "kt_net_even.onnx")]
    assert run(["rewrite", *two, "-o", str(tmp_path), *options]) == 1
    first, second, *_ = capsys.readouterr().err.splitlines()
    assert first.startswith(f"nothing written for {unet}: {said}")
    assert second.startswith(f"  try     {tried}")


def test_what_is_left_or_lets_the_unknown_through_is_said_of_each(capsys: Captured) -> None:
    """As rewrite says it of one model alone; every try stands on a line of its own."""
    names = ("k_unet_dyn_op13.onnx", "k_yolo_tiny_op15.onnx")
    unet, yolo = (str(MODELS / name) for name in names)
    assert run(["rewrite", unet, yolo, "--target", "opencv", "--check"]) == 1
    tries = [line for line in capsys.readouterr().err.splitlines() if line.startswith("  try ")]
    assert tries[0] == "  try     --dim 'unk__9105%4=0' --dim 'unk__9106%4=0' settles all 2"
    assert tries[1].startswith("  try     --allow-unknown, which takes for granted")
    assert run(["rewrite", unet, yolo, "--target", "ncnn", "--check"]) == 1
    left = "10 nodes left as before, unknown for ncnn until the batch is 1: add --dim unk__9836=1"
    assert left in capsys.readouterr().out


def test_a_model_of_which_nothing_is_known_is_not_called_fine(
    tmp_path: Path, capsys: Captured
) -> None:
    open_batch = "float[N,1,8] x"
    for name in "ab":
        node = "[c] y = Conv <pads=[1, 1]> (x, w)"
        onnx.save(text_model(node, open_batch, constants=WEIGHT), tmp_path / f"{name}.onnx")
    assert run(["inspect", str(tmp_path), "--target", "ncnn"]) == 0
    first, _, what, last = capsys.readouterr().out.splitlines()
    assert first.endswith("ncnn: unknown 1 until the batch is 1: add --dim N=1")
    assert what.startswith("not known: no finding unless --fail-on unknown")
    assert last.startswith("2 models: 2 not known (")
    assert run(["inspect", str(tmp_path), "--target", "ncnn", "--fail-on", "unknown"]) == 1
    capsys.readouterr()
    one = str(tmp_path / "a.onnx")
    assert run(["inspect", one, "--target", "ncnn"]) == 0
    said = capsys.readouterr().out
    assert "nothing known of 1 operator that can pad until the batch is 1: add --dim N=1" in said
    assert f"next: onnxpad rewrite {one} --target ncnn --dim 'N=1' -o OUT" in said
    assert run(["rewrite", one, "--target", "ncnn", "-o", str(tmp_path / "out.onnx")]) == 0
    capsys.readouterr()
    assert run(["inspect", one, "--target", "ncnn", "--dim", "N=1"]) == 0
    assert "target ncnn 20261020: takes 1 of 1" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_globs_are_understood_where_the_shell_does_not(capsys: Captured) -> None:
    assert run(["inspect", "in/[ab].onnx"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 models: 2 fine"
    assert run(["inspect", "in/*.txt"]) == 2
    assert "no file matches 'in/*.txt'" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("more", [[], ["-j", "2"]])
def test_a_record_for_each_model_errors_too(more: list[str], capsys: Captured) -> None:
    assert run(["inspect", "in", "--json", *more]) == 2
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [Path(one["file"]).name for one in records] == ["a.onnx", "b.onnx", "c.onnx", "d.onnx"]
    assert [one.get("error", {}).get("kind") for one in records] == [None, None, "ModelError", None]


@pytest.mark.usefixtures("folder")
def test_a_single_error_is_a_record_as_well(capsys: Captured) -> None:
    assert run(["rewrite", "in/c.onnx", "--check", "--json"]) == 2
    captured = capsys.readouterr()
    (record,) = map(json.loads, captured.out.splitlines())
    assert (record["schema"], record["file"], record["error"]["kind"]) == (
        1,
        "in/c.onnx",
        "ModelError",
    )
    assert captured.err == f"error: {record['error']['message']}\n"


@pytest.mark.usefixtures("folder")
def test_nothing_is_done_for_nodes_that_no_model_has(capsys: Captured) -> None:
    save(Path("open"), a=SAME, b=PLAIN)
    dims = ["--node", "nobody"]
    assert run(["rewrite", "open", "--check", *dims]) == 2
    assert "no padded node of any model matches 'nobody'" in capsys.readouterr().err
    assert run(["rewrite", "open", "--check"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 models: 1 would be rewritten, 1 unchanged"


@pytest.mark.usefixtures("folder")
def test_edits_are_printed_where_they_are_asked_for(capsys: Captured) -> None:
    assert run(["rewrite", "in/[ab].onnx", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(": remove auto_pad")
    assert lines[-2].startswith(str(Path("in/b.onnx")))


@pytest.mark.usefixtures("folder")
def test_two_folders_are_validated_by_their_places(capsys: Captured) -> None:
    run(["rewrite", "in", "-o", "out"])
    capsys.readouterr()
    assert run(["validate", "in", "out", "--samples", "1", "--run-only"]) == 2
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1] == f"4 pairs: 3 identical, 1 error ({Path('in/c.onnx')})"
    assert run(["validate", "in", "out/a.onnx"]) == 2
    assert "a folder is compared with a folder" in capsys.readouterr().err
    assert run(["validate", "in", "out", "--inputs", "in/a.onnx"]) == 2
    assert "--inputs does nothing here" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rewrite", "-", "in", "-j", "2", "--check"], "standard input can be read here alone"),
        (["rewrite", "in", "-o", "-"], "several models do not fit"),
        (["rewrite", "in", "-o", "in"], "is an input"),
        (["inspect", "in", "-j", "0"], "0 is not in the range"),
        (["inspect", "in", "--dask", "nowhere"], "Dask"),
    ],
)
def test_what_cannot_be_is_said(arguments: list[str], said: str, capsys: Captured) -> None:
    assert run(arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_the_output_folder_is_not_read_again(capsys: Captured) -> None:
    assert run(["rewrite", ".", "-o", "fixed"]) == 2
    before = sorted(Path("fixed").rglob("*.onnx"))
    assert run(["rewrite", ".", "-o", "fixed"]) == 2
    assert sorted(Path("fixed").rglob("*.onnx")) == before
    assert "4 models: " in capsys.readouterr().out


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


def test_a_reason_is_told_of_the_nodes_that_have_it(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "m.onnx"
    pools = " ".join(f"p{n} = MaxPool <kernel_shape = [2], dilations = [2]> (x)" for n in range(2))
    nodes = f"{pools} y = ConvTranspose <output_shape = [12], strides = [2]> (x, w)"
    given = "float[1,1,6] x"
    weight = "float[1,1,3] w = {1, 10, 100}"
    onnx.save(text_model(nodes, given, constants=weight, opset=17), path)
    assert run(["inspect", str(path), "--target", "mnn", "--fail-on", "wrong"]) == 1
    lines = [one for one in capsys.readouterr().err.splitlines() if str(path) in one]
    told = {one.split("'")[1]: one for one in lines if one.startswith("fails: ")}
    assert told["p0"].endswith("mnn:wrong 'p0', 'p1': a dilation is above 1")
    assert "dilation" not in told["y"]


@pytest.mark.parametrize("verb", [["inspect"], ["rewrite", "--dry-run"]])
def test_what_is_not_known_of_a_release_is_said_once(
    verb: list[str], folder: Path, capsys: Captured
) -> None:
    models = [str(folder / f"{name}.onnx") for name in ("a", "b")]
    run([*verb, *models, "--target", "openvino@1999.1"])
    told = capsys.readouterr().out
    assert told.count("note: openvino 1999.1 was not measured: judged as 2023.3") == 1


def test_nodes_of_several_operators_have_one_reason(tmp_path: Path, capsys: Captured) -> None:
    same = "auto_pad='SAME_UPPER', strides=[2, 2], kernel_shape=[3, 3]".replace("'", '"')
    model = text_model(
        f"[c] a = Conv <{same}> (x, w) [p] y = MaxPool <{same}> (a)",
        "float[1,1,h,v] x",
        outputs="float[a,b,c,d] y",
        constants="float[1,1,3,3] w = {1, 1, 1, 1, 1, 1, 1, 1, 1}",
    )
    onnx.save(model, tmp_path / "m.onnx")
    onnx.save(model, tmp_path / "n.onnx")
    paths = [str(tmp_path / f"{name}.onnx") for name in "mn"]
    assert run(["rewrite", *paths, "--target", "opencv", "--dry-run"]) == 1
    told = capsys.readouterr().err
    assert "2 of its nodes: Conv, MaxPool 'c', 'p': may compute wrong numbers" in told
    assert "another reason" not in told


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
    totals = f"1 model that onnxruntime runs in neither form ({folder / 'twins.onnx'})"
    assert totals in told
    assert run(["validate", str(folder), out, "--device", "cpu"]) == 0
    told = capsys.readouterr().out
    assert "(onnxruntime opens neither model: " in told
    assert "1 pair that onnxruntime runs in neither form" in told


def test_what_a_batch_promises_of_a_model_alone_is_there(tmp_path: Path, capsys: Captured) -> None:
    two, fine = tmp_path / "two.onnx", tmp_path / "fine.onnx"
    weight = "float[1,1,3] w = {1, 10, 100}"
    for path, batch in ((two, 2), (fine, 1)):
        onnx.save(text_model("y = Conv(x, w)", f"float[{batch},1,8] x", constants=weight), path)
    command = ["rewrite", str(two), str(fine), "--target", "ncnn", "-o", str(tmp_path / "out")]
    assert run(command) == 1
    told = capsys.readouterr()
    cure = "export the model with a batch of 1, and run it once for each sample"
    assert f"  try     {cure}\n" in told.err
    assert "says what is nearest" not in told.err
    assert run(["rewrite", str(two), "--target", "ncnn", "--check"]) == 1
    assert f"  try     {cure}\n" in capsys.readouterr().out


def test_all_that_open_sizes_need_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    same = 'auto_pad = "SAME_LOWER", strides = [2, 2]'
    nodes = f"c = Conv <{same}> (x, w) y = MaxPool <kernel_shape = [2, 2], {same}> (c)"
    weight = f"float[1,1,3,3] w = {{{','.join('1' * 9)}}}"
    model = text_model(nodes, "float[N,1,H,W] x", outputs="float[N,1,p,q] y", constants=weight)
    onnx.save(model, tmp_path / "in" / "a.onnx")
    line = ["rewrite", "in", "--target", "ncnn", "-o", "out"]
    assert run(line) == 1
    tried = capsys.readouterr().err.partition("  try     ")[2]
    assert tried == "--dim 'N=1' --dim 'H%4=0' --dim 'W%4=0' settles all 2\n"
    facts = [word.strip("'") for word in tried.removesuffix(" settles all 2\n").split()]
    assert run([*line, *facts]) == 0
    capsys.readouterr()
    assert run(["rewrite", str(Path("in", "a.onnx")), "--target", "ncnn", "--check"]) == 1
    said = capsys.readouterr().out
    assert "Batch size is open; ncnn takes only 1.\ntry: --dim 'N=1' --dim 'H%4=0'" in said


@pytest.mark.parametrize(
    "verb",
    ["inspect", "rewrite -o out.onnx", "rewrite --in-place", "retarget --to pytorch --check"],
)
@pytest.mark.parametrize("names", [["in/c.onnx"], ["in/c.onnx", "in/deep/d.onnx"]])
def test_files_that_a_project_leaves_out_are_left_out_alone_as_well(
    verb: str, names: list[str], folder: Path, capsys: Captured
) -> None:
    settings = folder.parent / "pyproject.toml"
    settings.write_text("[tool.onnxpad]\nexclude = ['c.onnx', 'deep']\n")
    assert run([*verb.split(), *names]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    models = "1 model" if len(names) == 1 else "2 models"
    assert captured.err == (
        f"note: exclude in [tool.onnxpad] leaves {models} out, and none is left; "
        "onnxpad --isolated takes no notice of it\n"
    )
    assert not (folder.parent / "out.onnx").exists()
    assert run(["--isolated", *verb.split(), "in/c.onnx"]) == 2
    assert "not an ONNX model" in capsys.readouterr().err


def test_where_nothing_is_left_sarif_is_an_empty_log(folder: Path, capsys: Captured) -> None:
    (folder.parent / "pyproject.toml").write_text("[tool.onnxpad]\nexclude = 'c.onnx'\n")
    assert run(["inspect", "in/c.onnx", "--target", "opencv", "--sarif"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"] == []


def test_a_mistake_that_leaves_nothing_is_an_error(folder: Path, capsys: Captured) -> None:
    assert run(["inspect", "in/a.onnx", "in/b.onnx", "--exclude", "*"]) == 2
    assert "no model is left" in capsys.readouterr().err
    assert run(["inspect", "in/a.onnx", "--exclude", "*"]) == 2
    assert "is about no model of a folder" in capsys.readouterr().err
    (folder.parent / "pyproject.toml").write_text("[tool.onnxpad]\nexclude = '*'\n")
    assert run(["inspect", "in"]) == 2
    assert "set as exclude in pyproject.toml\n" in capsys.readouterr().err
