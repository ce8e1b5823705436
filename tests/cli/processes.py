"""Real processes of the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
SAME = MODELS / "pd_same_static_op13.onnx"
DYNAMIC = MODELS / "k_unet_dyn_op13.onnx"
COMMAND = (sys.executable, "-m", "onnxpad")


def environment() -> dict[str, str]:
    """The environment of a child: it finds this checkout and no terminal settings."""
    kept = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "COLUMNS"}}
    return kept | {"PYTHONPATH": str(ROOT)}


def onnxpad(
    *arguments: str | Path, stdin: bytes = b"", folder: Path | None = None, **more: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a command line to its end; `more` are variables of its environment."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        env=environment() | more,
        cwd=folder,
    )
