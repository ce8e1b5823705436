"""Where a runtime is installed: this Python, another one, or a folder with npm's node_modules."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import distributions
from pathlib import Path
from typing import NamedTuple

from onnxpad.errors import RuntimeUnavailable
from onnxpad.runtimes.running.headers import Header

_ASK = "import json, sys; sys.stdout.write(json.dumps([sys.version.split()[0], sys.path[1:]]))"
_SECONDS_TO_ASK = 60
_NAMES = {"x86_64": "x86-64", "AMD64": "x86-64", "aarch64": "arm64", "ARM64": "arm64"}


class Place(NamedTuple):
    """A program that runs adapters, its version, and where its packages lie.

    `is_own`: it is this very Python. `folder` is set for npm.
    """

    program: str
    version: str
    paths: tuple[str, ...] = ()
    folder: Path | None = None
    is_own: bool = False

    def release(self, name: str) -> str | None:
        """The version of a distribution; None where it is not installed."""
        if self.folder is not None:
            file = self.folder / "node_modules" / name / "package.json"
            return str(json.loads(file.read_text("utf-8"))["version"]) if file.is_file() else None
        found = next(iter(distributions(name=name, path=list(self.paths))), None)
        return None if found is None else found.version

    def has(self, module: str) -> bool:
        """Whether there is a module that came without a distribution, as with one's own build."""
        return bool(module and PathFinder.find_spec(module, list(self.paths)))

    @property
    def environment(self) -> dict[str, str]:
        """The variables of this process; another Python has modules of its own."""
        dropped = () if self.is_own else ("PYTHONPATH", "PYTHONHOME")
        return {name: value for name, value in os.environ.items() if name not in dropped}


def place_of(live: bool | str | os.PathLike[str]) -> Place:  # noqa: FBT001 - True is this Python
    """This Python for True, else the Python at a path, or of the environment in a folder.

    Raises RuntimeUnavailable where there is none.
    """
    if isinstance(live, bool):
        return Place(
            sys.executable, platform.python_version(), tuple(filter(None, sys.path)), is_own=True
        )
    return _other_python(os.fspath(live))


@cache
def _other_python(path: str) -> Place:
    inner = (Path(path, *parts) for parts in (("bin", "python"), ("Scripts", "python.exe")))
    program = next((str(one) for one in inner if one.is_file()), path)
    kept = Place(program, "").environment
    try:
        # Asked as `serving` runs there: with the user's own packages, and not those of PYTHONPATH.
        done = subprocess.run(  # noqa: S603 - the user names it
            [program, "-c", _ASK],
            env=kept,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS_TO_ASK,
            check=True,
        )
        version, paths = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        raise RuntimeUnavailable(
            f"'{path}' is no Python that starts: name its program, such as venv/bin/python, or the "
            "folder of an environment"
        ) from None
    return Place(program, version, tuple(paths))


def node_place(live: bool | str | os.PathLike[str], package: str) -> Place:  # noqa: FBT001 - True is this folder
    """Node, with the packages of a folder; the working one for True."""
    folder = Path.cwd() if isinstance(live, bool) else Path(live)
    if not (folder / "node_modules" / package).is_dir():
        raise RuntimeUnavailable(
            f"there is no {package} in {folder}: npm install {package}, and name that folder "
            "behind --live"
        )
    return Place("node", "", folder=folder.resolve())


def require_programs(header: Header) -> None:
    """Raise RuntimeUnavailable where a program that an adapter needs is missing."""
    missing = [name for name in header.programs if shutil.which(name) is None]
    if missing:
        raise RuntimeUnavailable(f"{header.title} needs {' and '.join(missing)} on the PATH")


def digest(path: str | os.PathLike[str]) -> str:
    """The content of a file."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def machine() -> str:
    """The kind of processor: 'x86-64', 'arm64'."""
    name = platform.machine()
    return _NAMES.get(name, name)


@cache
def processor() -> str:
    """What numbers may depend on: instructions that the processor has, and NVIDIA's devices."""
    lines = [machine(), platform.system()]
    devices = sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))
    for file in (Path("/proc/cpuinfo"), Path("/proc/driver/nvidia/version"), *devices):
        with suppress(OSError):
            told = file.read_text("utf-8", errors="replace").splitlines()
            lines += [line for line in dict.fromkeys(told) if line.startswith(_TELLING)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


_TELLING = ("flags", "Features", "NVRM", "Model")
"""How lines begin that name instructions, the driver and the devices."""
