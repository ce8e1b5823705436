"""Folders of plug-ins: each file holds one, under the file's name; there is no second list.

Passes are modules, targets and conventions are files of data.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Generic, TypeVar

from onnxpad.errors import InternalError, RequestError, nearest

T = TypeVar("T")
_MOST_LISTED = 8


class _Folder(Generic[T]):
    """What the files of a package hold, by name: the file's, with dashes for underscores.

    `kind` is what messages call one of them. Listing names opens no file, asking for one only that
    one. `option` is set where several can be asked for, by one option each.
    """

    def __init__(self, package: str, kind: str, option: str = "") -> None:
        self._package = package
        self._kind = kind
        self._option = option

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __getitem__(self, name: str) -> T:
        raise NotImplementedError

    def _names(self) -> tuple[str, ...]:
        raise NotImplementedError

    def all(self) -> dict[str, T]:
        """Every one by its name."""
        return {name: self[name] for name in self}

    def find(self, name: str) -> T:
        """The one called `name`; RequestError with the nearest name where there is none."""
        if name in self:
            return self[name]
        raise RequestError(f"no {self._kind} is called '{name}': {self._advice(name)}")

    def _advice(self, name: str) -> str:
        each = [one.strip() for one in name.split(",") if one.strip()]
        if "," in name and each:
            known = " ".join(f"{self._option} {one}" for one in each) if self._option else each[0]
            return f"one name at a time, such as {known}"
        near = nearest(name.replace("_", "-"), self)
        if near:
            return f"did you mean '{near[0]}'?"
        names = list(self)
        listed = f"there are {', '.join(names)}"
        return listed if len(names) <= _MOST_LISTED else "'onnxpad explain' lists them"


class Plugins(_Folder[T]):
    """Modules. `read` takes what one holds; an attribute that it misses there is reported."""

    def __init__(
        self, package: str, kind: str, read: Callable[[ModuleType], T], option: str = ""
    ) -> None:
        super().__init__(package, kind, option)
        self._read = read

    def _names(self) -> tuple[str, ...]:
        return _modules(tuple(import_module(self._package).__path__))

    def __getitem__(self, name: str) -> T:
        file = name.replace("-", "_")
        module = import_module(f"{self._package}.{file}")
        try:
            return self._read(module)
        except AttributeError as error:
            raise InternalError(f"{self._kind} file '{file}.py' lacks {error.name}") from error


class DataFiles(_Folder[T]):
    """Files that end in `suffix`; `read` takes what one holds."""

    def __init__(self, package: str, kind: str, suffix: str, read: Callable[[Path], T]) -> None:
        super().__init__(package, kind)
        self._suffix = suffix
        self._read = read

    def _names(self) -> tuple[str, ...]:
        files = self._folder().glob(f"*{self._suffix}")
        return tuple(sorted(file.stem.replace("_", "-") for file in files))

    def _folder(self) -> Path:
        return Path(import_module(self._package).__path__[0])

    def __getitem__(self, name: str) -> T:
        return self._read(self._folder() / f"{name.replace('-', '_')}{self._suffix}")


def name_of(module: ModuleType) -> str:
    """The name of the plug-in that a module holds."""
    return module.__name__.rpartition(".")[2].replace("_", "-")


def text_of(module: ModuleType) -> str:
    """What a plug-in's file says about it: the docstring."""
    return (module.__doc__ or "").strip()


@cache
def _modules(folders: tuple[str, ...]) -> tuple[str, ...]:
    files = sorted(module.name for module in pkgutil.iter_modules(folders))
    return tuple(file.replace("_", "-") for file in files)
