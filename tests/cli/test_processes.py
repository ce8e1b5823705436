"""Exit codes and streams, as a shell sees them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

from onnxpad import __version__
from onnxpad.cli import run
from tests.cli.processes import DYNAMIC, MODELS, SAME, environment, onnxpad
from tests.models.unbounded import window


def test_version() -> None:
    done = onnxpad("--version")
    assert (done.returncode, done.stdout) == (0, f"onnxpad, version {__version__}\n".encode())


@pytest.mark.parametrize("verb", ["inspect", "rewrite", "validate", "explain"])
def test_help_has_an_example(verb: str) -> None:
    done = onnxpad(verb, "--help")
    assert done.returncode == 0
    assert done.stderr == b""
    assert f"\n  onnxpad {verb}".encode() in done.stdout


def test_no_arguments_are_wrong_usage_and_show_help() -> None:
    done = onnxpad()
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"Usage: onnxpad" in done.stderr
    assert b"error" not in done.stderr


def test_a_shell_can_complete_verbs_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_ONNXPAD_COMPLETE", "bash_source")
    assert b"_ONNXPAD_COMPLETE=bash_complete" in onnxpad().stdout
    monkeypatch.setenv("_ONNXPAD_COMPLETE", "bash_complete")
    for words, place, found in (
        ("onnxpad re", "1", {b"resolve", b"retarget", b"rewrite"}),
        ("onnxpad rewrite --in-", "2", {b"--in-place"}),
        ("onnxpad rewrite m.onnx --pass symmetric-pads-by-k", "4", {b"symmetric-pads-by-kernel"}),
        ("onnxpad inspect m.onnx --target tensorr", "4", {b"tensorrt"}),
        ("onnxpad explain exit", "2", {b"exit-codes"}),
        ("onnxpad retarget m.onnx --to pyt", "4", {b"pytorch"}),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", place)
        assert {line.partition(b",")[2] for line in onnxpad().stdout.splitlines()} == found


def test_inspect_prints_a_table() -> None:
    done = onnxpad("inspect", SAME)
    assert done.returncode == 0
    assert done.stderr == b""
    assert b"\nnode " in done.stdout
    assert b"\x1b" not in done.stdout


def test_inspect_reads_standard_input() -> None:
    piped = onnxpad("inspect", "-", "--json", stdin=SAME.read_bytes())
    read = json.loads(piped.stdout)
    assert read.pop("file") == "-"
    named = json.loads(onnxpad("inspect", SAME, "--json").stdout)
    assert named.pop("file") == str(SAME)
    assert read == named


def test_names_in_any_script_can_be_printed(tmp_path: Path) -> None:
    model = onnx.load(SAME)
    model.graph.node[0].name = "卷积/é"
    onnx.save(model, tmp_path / "m.onnx")
    ascii_only = onnxpad("inspect", tmp_path / "m.onnx", PYTHONIOENCODING="ascii")
    assert ascii_only.returncode == 0
    assert b"\\u5377\\u79ef/\\xe9 " in ascii_only.stdout
    read = json.loads(
        onnxpad("inspect", tmp_path / "m.onnx", "--json", PYTHONIOENCODING="ascii").stdout
    )
    assert read["nodes"][0]["node"] == "卷积/é"


def test_rewrite_writes_and_reports(tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    done = onnxpad("rewrite", SAME, "-o", out)
    assert done.returncode == 0
    assert done.stderr == b""
    said, costs = done.stdout.decode().splitlines()
    assert said.endswith(f"-> {out}: 6 nodes rewritten (explicit-pads 6), 0 skipped")
    assert costs.startswith("operators: 17 before, 17 after; file: 45.5 kB before, ")
    onnx.checker.check_model(onnx.load(out))


def test_rewrite_from_standard_input_to_standard_output(tmp_path: Path) -> None:
    onnxpad("rewrite", SAME, "-o", tmp_path / "out.onnx")
    done = onnxpad("rewrite", "-", "-o", "-", stdin=SAME.read_bytes())
    assert done.returncode == 0
    assert done.stdout == (tmp_path / "out.onnx").read_bytes()
    assert b"standard input -> standard output: 6 nodes rewritten" in done.stderr
    with_json = onnxpad("rewrite", "-", "-o", "-", "--json", stdin=SAME.read_bytes())
    assert with_json.stdout == done.stdout
    assert json.loads(with_json.stderr)["written"] == "-"


def test_a_pipeline_of_two(tmp_path: Path) -> None:
    first = onnxpad("rewrite", SAME, "-o", "-")
    second = onnxpad(
        "rewrite", "-", "--pass", "split-pads", "-o", tmp_path / "o.onnx", stdin=first.stdout
    )
    assert second.returncode == 0
    found = json.loads(onnxpad("inspect", tmp_path / "o.onnx", "--json").stdout)
    assert found["summary"]["forms"]["auto_pad"] == 0
    assert found["summary"]["forms"]["pad-node"] > 3


def test_what_needs_no_change_is_written_byte_for_byte(tmp_path: Path) -> None:
    model = MODELS / "kt_net_even.onnx"
    done = onnxpad("rewrite", model, "-o", tmp_path / "same.onnx")
    assert done.returncode == 0
    assert (tmp_path / "same.onnx").read_bytes() == model.read_bytes()


def test_check_writes_nothing_and_exits_with_1_if_it_would(tmp_path: Path) -> None:
    before = onnxpad("rewrite", SAME, "--check", "-o", tmp_path / "out.onnx")
    assert before.returncode == 1
    assert b"6 nodes would be rewritten" in before.stdout
    assert list(tmp_path.iterdir()) == []
    onnxpad("rewrite", SAME, "-o", tmp_path / "out.onnx")
    assert onnxpad("rewrite", tmp_path / "out.onnx", "--check").returncode == 0


def test_strict_writes_nothing_where_a_node_is_skipped(tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    done = onnxpad("rewrite", DYNAMIC, "-o", out, "--strict")
    assert done.returncode == 1
    assert not out.exists()
    assert b"nothing written" in done.stderr
    assert b"skip: explicit-pads, Conv 'Conv__8990'" in done.stdout
    assert onnxpad("rewrite", DYNAMIC, "-o", out).returncode == 0
    assert out.exists()
    facts = ("--dim", "unk__9105%4=0", "--dim", "unk__9106%4=0")
    assert onnxpad("rewrite", DYNAMIC, "-o", out, "--strict", *facts).returncode == 0


WRONG = {
    "an unknown verb": ("frobnicate",),
    "an unknown option": ("inspect", SAME, "--frob"),
    "no model": ("inspect",),
    "nowhere to write": ("rewrite", SAME),
    "two places to write": ("rewrite", SAME, "-o", "out.onnx", "--in-place"),
    "the input as output": ("rewrite", SAME, "-o", SAME),
    "an unknown pass": ("rewrite", SAME, "--pass", "explicit-pad", "--check"),
    "a fact about nothing": ("inspect", SAME, "--dim", "H"),
    "a dimension that is not there": ("inspect", SAME, "--dim", "H=4"),
    "a node that is not there": ("inspect", SAME, "--node", "stem/*"),
    "a file that is not there": ("inspect", "absent.onnx"),
    "a file that is no model": ("inspect", MODELS / "ORIGINS.md"),
    "a name that explains nothing": ("explain", "explicit-pad"),
    "one model to validate": ("validate", SAME),
    "standard input twice": ("validate", "-", "-"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_usage_is_one_message_and_exit_code_2(case: str, tmp_path: Path) -> None:
    done = onnxpad(*WRONG[case], folder=tmp_path)
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 2
    assert done.stdout == b""
    assert lines[0].startswith("error: ")
    assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("  try     onnxpad"))
    assert list(tmp_path.iterdir()) == []


def test_one_bad_model_does_not_lose_the_others(tmp_path: Path) -> None:
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(SAME.read_bytes()[:1000])
    done = onnxpad("rewrite", SAME, bad, DYNAMIC, "-o", tmp_path / "out", folder=tmp_path)
    assert done.returncode == 2
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [DYNAMIC.name, SAME.name]
    assert done.stderr.decode().startswith(f"error: {bad}")
    seen = onnxpad("inspect", SAME, bad, DYNAMIC, "--json")
    assert seen.returncode == 2
    files = [json.loads(line)["file"] for line in seen.stdout.splitlines()]
    assert files == [str(SAME), str(bad), str(DYNAMIC)]


def test_explain_names_everything_and_one_thing() -> None:
    everything = onnxpad("explain", "--all")
    assert everything.returncode == 0
    assert b"\ntensorflow " in everything.stdout
    one = onnxpad("explain", "absorb-pad", "--json")
    assert json.loads(one.stdout)["kind"] == "pass"


def test_validate_exits_with_1_where_models_differ(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    before, out = tmp_path / "before.onnx", tmp_path / "out.onnx"
    onnx.save(window(size=8, kernel=3, strides=[2], auto_pad="SAME_UPPER"), before)
    onnxpad("rewrite", before, "-o", out)
    same = onnxpad("validate", before, out, "--samples", "1", "--device", "cpu")
    assert same.returncode == 0
    assert same.stdout.decode().startswith("proved: ")
    model = onnx.load(out)
    pads = next(a for a in model.graph.node[0].attribute if a.name == "pads")
    pads.ints[:] = [1, 0]
    onnx.save(model, out)
    other = onnxpad("validate", before, out, "--samples", "1", "--device", "cpu", "--json")
    assert other.returncode == 1
    read = json.loads(other.stdout)
    assert (read["before"], read["verdict"], read["ok"]) == (str(before), "different", False)


def test_what_nobody_foresaw_is_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("surprise")

    monkeypatch.setattr("onnxpad.inspection.inspect", broken)
    assert run(["inspect", str(SAME)]) == 2
    said = capsys.readouterr().err
    assert "internal error; nothing more was written" in said
    assert "KeyError: 'surprise'" in said
    assert "Traceback" not in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    ("streams", "code", "said"),
    [
        (">&-", 2, b"error: standard output is closed"),
        (">/dev/full", 2, b"error: cannot write: No space left on device"),
        (">/dev/null 2>&-", 0, b""),
    ],
)
def test_closed_and_full_streams(streams: str, code: int, said: bytes) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -m onnxpad inspect "{SAME}" {streams}'],
        capture_output=True,
        check=False,
        env=environment(),
    )
    assert done.returncode == code
    assert done.stderr.startswith(said)
    assert b"internal error" not in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_size_beyond_what_a_file_can_hold() -> None:
    done = onnxpad("inspect", DYNAMIC, "--dim", f"unk__9105={2**63}")
    assert done.returncode == 2
    assert b"a size is at most 9223372036854775807" in done.stderr


ENDING = """
import atexit, os, sys, threading
from onnxpad.__main__ import main
atexit.register(lambda: print("ended with", os.environ.get("OPENBLAS_NUM_THREADS")))
threading.Thread(target=lambda: {waits}, daemon={daemon}).start()
sys.argv = ["onnxpad", *{arguments}]
main()
"""


def ended(*arguments: str, waits: str = "0", daemon: bool = True) -> tuple[int, list[str]]:
    script = ENDING.format(arguments=arguments, waits=waits, daemon=daemon)
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, check=False
    )
    return done.returncode, done.stdout.decode().splitlines()[-2:]


def test_what_a_program_does_at_its_end_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert ended("inspect", "--no-such")[0] == 2
    assert ended("--version") == (0, [f"onnxpad, version {__version__}", "ended with 1"])
    sleeps = "threading.Event().wait(60)"
    assert ended("--version", waits=sleeps)[1][-1] == "ended with 1"
    prints = "threading.Event().wait(.5) or print('a thread')"
    status, lines = ended("--version", waits=prints, daemon=False)
    assert (status, sorted(lines)) == (0, ["a thread", "ended with 1"])


def test_only_what_computes_with_numpy_lets_it_start_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert ended("validate", "--help")[1][-1] == "ended with None"
    assert ended("guard", "--help")[1][-1] == "ended with None"
    assert ended("diagnose", "--help")[1][-1] == "ended with 1"
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    assert ended("--version")[1][-1] == "ended with 3"
