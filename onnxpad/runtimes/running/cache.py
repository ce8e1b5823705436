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
from pathlib import Path
from typing import Any

VARIABLE = "ONNXPAD_CACHE"
"""The environment variable that names another folder."""
LARGEST = 256 * 2**20
"""Bytes that all files may have together, about."""
_EVERY = 128
"""Files that a process writes before it looks at all of them."""
_LEFT = 0.75
_written = 0


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
    """Keep a value under a key, for whoever asks next; the oldest go where it is too much."""
    global _written  # noqa: PLW0603 - the cheapest clock
    folder = folder or cache_folder()
    file = _file(key, folder)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=file.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                json.dump(value, stream)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _written += 1
        if _written % _EVERY == 1:
            _drop_oldest(folder)


def _file(key: str, folder: Path) -> Path:
    name = hashlib.sha256(key.encode()).hexdigest()
    return folder / name[:2] / f"{name[2:]}.json"


def _drop_oldest(folder: Path) -> None:
    files = []
    for path in folder.glob("*/*"):
        with suppress(OSError):
            status = path.stat()
            files.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in files)
    left = _LEFT * LARGEST if total > LARGEST else total
    for _, size, path in sorted(files):
        if total <= left:
            return
        with suppress(OSError):
            path.unlink()
            total -= size
