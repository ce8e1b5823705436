"""Run every check of the project with one command: `python tests/check.py`.

Makes a virtual environment, installs the project and its tools into it, and runs them all, also
after one of them has failed. Exits with 1 if any failed.
"""

import argparse
import os
import subprocess
import sys
import time
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"
# Three processes also keep two cores busy while some tests wait for clocks and files.
TOOLS = {
    "ruff format": ["-m", "ruff", "format", "--check", "."],
    "ruff check": ["-m", "ruff", "check", "."],
    "mypy": ["-m", "mypy"],
    "lint-imports": ["-c", LINT_IMPORTS, "--no-logo"],
    "pytest": ["-m", "pytest", "-n", "3", "--dist", "worksteal"],
}


def run(python: Path, *arguments: str) -> bool:
    """Run `python` on the project as if its environment were activated; True if it exits with 0."""
    environment = os.environ | {
        "PATH": os.pathsep.join([str(python.parent), os.environ.get("PATH", os.defpath)])
    }
    environment.pop("PYTHONPATH", None)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a thousand processes read what one compiled
    finished = subprocess.run(
        [python, *arguments], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, check=False
    )
    return finished.returncode == 0


def installed(folder: Path) -> Path:
    """Install the project and its tools into the environment in `folder`; returns its Python."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        print(f"making {folder}", flush=True)
        venv.create(folder, clear=True, with_pip=True)
    print("installing onnxpad[dev]", flush=True)
    # uv takes a tenth of pip's time: it unpacks in parallel and compiles nothing.
    wanted = ("--quiet", "--editable", ".[dev]")
    has_uv = run(python, "-m", "pip", "install", "--quiet", "uv")
    by_uv = has_uv and run(python, "-m", "uv", "pip", "install", "--python", str(python), *wanted)
    if not by_uv and not run(python, "-m", "pip", "install", "--no-compile", *wanted):
        sys.exit("the installation failed, so nothing was checked")
    return python


def check(python: Path, *, sweeps: bool) -> bool:
    """Run every tool, print how each ended; True if all passed.

    The slow ones, mypy and pytest, run side by side.
    """
    arguments = {**TOOLS, "pytest": [*TOOLS["pytest"], *(["--sweeps"] if sweeps else [])]}
    with ThreadPoolExecutor() as threads:
        typed = threads.submit(timed, python, "mypy", arguments.pop("mypy"))
        results = [timed(python, *tool) for tool in arguments.items()]
        results.append(typed.result())
    print()
    for name, passed, seconds in results:
        print(f"{name:<14} {'passed' if passed else 'FAILED'} {seconds:7.1f} s")
    return all(passed for _, passed, _ in results)


def timed(python: Path, name: str, arguments: list[str]) -> tuple[str, bool, float]:
    """A tool's name, whether it passed, and its seconds."""
    print(f"\n--- {name}", flush=True)
    start = time.monotonic()
    passed = run(python, *arguments)
    return name, passed, time.monotonic() - start


def main() -> None:
    """Parse the command line and check."""
    parser = argparse.ArgumentParser(description="Run every check of the project.")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--venv",
        type=Path,
        default=ROOT / ".venv-check",
        metavar="DIR",
        help="virtual environment to make or reuse (default: .venv-check)",
    )
    where.add_argument(
        "--here", action="store_true", help="use the running Python as it is and install nothing"
    )
    parser.add_argument("--all", action="store_true", help="run the long sweeps as well")
    options = parser.parse_args()
    python = Path(sys.executable) if options.here else installed(options.venv.resolve())
    sys.exit(0 if check(python, sweeps=options.all) else 1)


if __name__ == "__main__":
    main()
