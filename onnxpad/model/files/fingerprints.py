"""Which bytes a model is: hashes of its file and of the files with its weights."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from onnxpad.model.files.contents import AnyPath, explained
from onnxpad.model.files.external import data_files, locate
from onnxpad.model.files.onnx_file import read


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """SHA-256 of a model's file, and of each file with external data by its location."""

    file: str
    sha256: str
    data: Mapping[str, str] = field(default_factory=dict)


def fingerprint(path: AnyPath) -> Fingerprint:
    """The fingerprint of a model's file; files are read in blocks, not held.

    Raises ModelError where the model or its external data cannot be read.
    """
    model, _ = read(path, light=True)
    files = data_files(model, b"location", name=str(path))
    found = locate(files, Path(path).absolute().parent, name=str(path))
    data = {location: _hashed(file) for location, file in sorted(found.items())}
    return Fingerprint(Path(path).name, _hashed(Path(path)), data)


def _hashed(path: Path) -> str:
    with explained(f"cannot read '{path}'"), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
