"""Where models with external data were loaded from: a ModelProto itself does not say it.

Only `load` tells of them, and the last ones are remembered. A model is known again by its identity
together with what it refers to: another one may have the identity of one that is gone.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from onnx import ModelProto

from onnxpad.model.files.external import DataFile, data_files

_MOST = 64
_REFERS = b"location"
"""Stands in every model that refers to a data file."""
_LOADED: OrderedDict[int, tuple[tuple[DataFile, ...], Path]] = OrderedDict()


def remember(model: ModelProto, path: Path, data: bytes) -> None:
    """Note the file that a model was loaded from, with the bytes `data`, where it needs others."""
    _LOADED.pop(id(model), None)
    if files := data_files(model, data, name=str(path)):
        _LOADED[id(model)] = files, path
        while len(_LOADED) > _MOST:
            _LOADED.popitem(last=False)


def origin_of(model: ModelProto) -> Path | None:
    """The file that this very model was loaded from, where that is remembered."""
    files, path = _LOADED.get(id(model), ((), None))
    return path if files and files == data_files(model, _REFERS, name=str(path)) else None


def folders_of(files: tuple[DataFile, ...]) -> list[Path]:
    """The folders that models which need these data files were loaded from."""
    return [path.parent for needed, path in _LOADED.values() if files and needed == files]
