"""Makes the environment of a runtime on demand, once per version of its requirements file."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from tests.runtimes.live import Runtime

SECONDS_TO_INSTALL = 900


class Unavailable(Exception):
    """The environment cannot be made here: no network, no such wheel, or a program is missing."""


def folder() -> Path:
    """The folder of all environments and replies; $ONNXPAD_RUNTIMES says another one."""
    given = os.environ.get("ONNXPAD_RUNTIMES")
    return Path(given) if given else Path.home() / ".cache" / "onnxpad-runtimes"


def digest(runtime: Runtime) -> str:
    """Changes with the pinned versions and with the Python that they are installed for."""
    text = f"{sys.version_info[:2]}\n{runtime.requirements_file.read_text('utf-8')}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def place(runtime: Runtime) -> Path:
    """The Python of an environment, which is made if need be; of npm the folder.

    Raises:
        Unavailable: with the reason, as pip or npm gave it.
    """
    own = folder() / f"{runtime.requirements_file.stem}-{digest(runtime)}"
    own.mkdir(parents=True, exist_ok=True)
    with (own / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (own / "complete").exists():
            install = _npm if runtime.is_javascript else _pip
            install(own, runtime.requirements_file)
            (own / "complete").touch()
    return own if runtime.is_javascript else _python(own)


def _python(folder: Path) -> Path:
    return folder / "venv" / "bin" / "python"


def _pip(folder: Path, requirements: Path) -> None:
    venv.create(folder / "venv", clear=True, with_pip=False, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", str(_python(folder)), "--quiet", "install"]
    # Every file lists all packages, so that nothing is resolved and nothing moves.
    options = ["--no-deps", "--only-binary=:all:", "--no-compile", "--retries=1"]
    _call([*pip, *options, "--disable-pip-version-check", "-r", str(requirements)], folder)


def _npm(folder: Path, requirements: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not on the PATH")
    shutil.copyfile(requirements, folder / "package.json")
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1"]
    _call([npm, "install", *options], folder)


def _call(arguments: list[str], folder: Path) -> None:
    try:
        finished = subprocess.run(
            arguments,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_INSTALL,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        raise Unavailable(f"the installation took over {SECONDS_TO_INSTALL} s") from expired
    if finished.returncode:
        lines = (finished.stderr or finished.stdout).strip().splitlines()
        errors = [line for line in lines if line.startswith(("ERROR", "npm error"))]
        raise Unavailable(f"the installation failed: {' '.join((errors or lines)[:2])}")
