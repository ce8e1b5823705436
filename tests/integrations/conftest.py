"""Tools that onnxpad works inside of, each in an environment of its own, from PyPI."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.house.documents import ROOT, with_models
from tests.runtimes.live import Runtime
from tests.runtimes.live.environments import Unavailable, place

REQUIREMENTS = Path(__file__).parent / "requirements"
SECONDS = 900
QUIET = {
    "YOLO_AUTOINSTALL": "false",
    "YOLO_OFFLINE": "true",
    "HF_HUB_OFFLINE": "1",
    "PYTHONWARNINGS": "ignore",
}
"""No tool asks the network for anything."""


class Host(NamedTuple):
    """A tool in its environment, and onnxpad as pip would install it there."""

    python: Path
    site: Path
    folder: Path

    def fails(self, *words: str) -> str:
        """What a command prints that ends with an error."""
        done = self._run(words)
        assert done.returncode, done.stdout + done.stderr
        return done.stdout + done.stderr

    def run(self, *words: str) -> str:
        """What a command prints, errors first; its first word is a program of the environment."""
        done = self._run(words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stderr + done.stdout

    def program(self, code: str) -> str:
        """What a Python program prints."""
        (self.folder / "program.py").write_text(code)
        return self.run("python", "program.py")

    def _run(self, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        program, *arguments = words
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            [str(self.python.parent / program), *arguments],
            cwd=self.folder,
            env=kept | QUIET | {"PYTHONPATH": str(self.site), "HOME": str(self.folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, unpacked: its entry points are there too."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def host(site: Path, tmp_path: Path) -> Callable[[str], Host]:
    """The tool of this name, in a folder with the models that commands name."""

    def found(name: str) -> Host:
        try:
            python = place(Runtime(name, str(REQUIREMENTS / f"{name}.txt")))
        except Unavailable as reason:
            pytest.skip(f"no environment with {name}: {reason}")
        return Host(python, site, with_models(tmp_path))

    return found
