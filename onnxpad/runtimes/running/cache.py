"""Answers of runtimes, kept on disk between calls: one JSON file each, under a hash of its key.

A cache that cannot be read or written, or that holds something else, is none: nobody is told.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

VARIABLE = "ONNXPAD_CACHE"
"""The environment variable that names another folder."""
MOST = 20_000
"""Files that are kept."""
_EVERY = 128
"""Files that a process writes before it counts all of them."""
_written = count()


def cache_folder() -> Path:
    """The folder of this user."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    import platformdirs

    return Path(platformdirs.user_cache_dir("onnxpad", appauthor=False), "runs")


def kept(key: str, folder: Path | None = None) -> dict[str, Any] | None:
    """What was kept under a key; None where there is nothing."""
    try:
        found = json.loads(_file(key, folder or cache_folder()).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def keep(key: str, value: Mapping[str, Any], folder: Path | None = None) -> None:
    """Keep a value under a key, for whoever asks next; the oldest go where there are too many."""
    folder = folder or cache_folder()
    file = _file(key, folder)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False) as stream:
            json.dump(value, stream)
        Path(stream.name).replace(file)
        if next(_written) % _EVERY == 0:
            files = sorted(folder.glob("*/*"), key=lambda path: path.stat().st_mtime)
            for old in files[:-MOST]:
                old.unlink(missing_ok=True)


def _file(key: str, folder: Path) -> Path:
    name = hashlib.sha256(key.encode()).hexdigest()
    return folder / name[:2] / f"{name[2:]}.json"
