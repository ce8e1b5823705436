"""What `pip install` brings: a wheel and an sdist of a clean checkout, with data and metadata."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DATA = {
    path.relative_to(ROOT).as_posix()
    for folder in ("schemas", "topics", "runtimes/running/adapters", "runtimes/targets")
    for path in (ROOT / "onnxpad" / folder).iterdir()
    if path.is_file()
} | {
    "onnxpad/py.typed",
    "onnxpad/runtimes/running/serving.mjs",
    "onnxpad/runtimes/measured.json",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both, made of what git has."""
    pytest.importorskip("hatchling")
    if not (ROOT / ".git").exists():
        pytest.skip("a clean checkout is one of git")
    clean = tmp_path_factory.mktemp("clean")
    files = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(files, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (clean / name).parent.mkdir(parents=True, exist_ok=True)
            (clean / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(clean / "dist")]
    subprocess.run(command, cwd=clean, check=True, capture_output=True)
    return clean / "dist"


def test_the_wheel_has_all_that_is_read_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (name for name in names if name.endswith("/METADATA"))
        found = message_from_bytes(archive.read(metadata))
    assert names >= DATA
    assert {name.partition("/")[0] for name in names} == {"onnxpad", metadata.partition("/")[0]}
    assert found["Requires-Python"] == ">=3.11"
    assert found.get_all("Classifier") == PROJECT["classifiers"]
    needed = [one for one in found.get_all("Requires-Dist") or [] if "extra ==" not in one]
    assert not any("onnxruntime" in one for one in needed)
    assert found["Project-URL"] is None


def test_the_wheel_works_where_nothing_else_is(built: Path, tmp_path: Path) -> None:
    """Unpacked and put in front: what is not in it is not found."""
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")  # noqa: S202 - it was made above
    (tmp_path / "m.onnx").write_bytes((ROOT / "models" / "t_same_string_ts.onnx").read_bytes())
    lines = (["explain", "exit-codes"], ["explain", "--schema", "inspect"], ["inspect", "m.onnx"])
    code = (
        f"import sys; from onnxpad.cli import run; sys.exit(any([run(line) for line in {lines}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_sdist_has_what_the_checks_need(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {"README.md", "LICENSE", "tests/check.py", "models/ORIGINS.md", *DATA}


def test_every_python_that_is_named_is_allowed() -> None:
    named = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if ":: 3." in one]
    assert named == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["requires-python"] == f">={named[0]}"
