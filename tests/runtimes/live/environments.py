"""Makes the environment of a runtime on demand, once per version of its requirements file."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from tests.runtimes.live import HERE, Runtime

SECONDS_TO_INSTALL = 900


class Unavailable(Exception):
    """The environment cannot be made here: no network, no such wheel, or a program is missing."""


def cache() -> Path:
    """The folder of all environments and replies; $ONNXPAD_RUNTIMES says another one."""
    given = os.environ.get("ONNXPAD_RUNTIMES")
    return Path(given) if given else Path.home() / ".cache" / "onnxpad-runtimes"


def digest(runtime: Runtime) -> str:
    """Changes with the pinned versions and with the Python that they are installed for."""
    text = f"{sys.version_info[:2]}\n{runtime.requirements_file.read_text('utf-8')}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def command(runtime: Runtime) -> list[str]:
    """The command that serves jobs in the environment of `runtime`, which is made if need be.

    Raises:
        Unavailable: with the reason, as pip or npm gave it.
    """
    missing = [program for program in runtime.programs if shutil.which(program) is None]
    if missing:
        raise Unavailable(f"{runtime.name} needs {', '.join(missing)} on the PATH")
    folder = cache() / f"{runtime.requirements_file.stem}-{digest(runtime)}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            install = _npm if runtime.requirements_file.suffix == ".json" else _pip
            install(folder, runtime.requirements_file)
            (folder / "complete").touch()
    if runtime.worker_file.suffix == ".mjs":
        return ["node", str(runtime.worker_file), str(folder)]
    return [str(_python(folder)), "-P", str(HERE / "serving.py"), str(runtime.worker_file)]


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
