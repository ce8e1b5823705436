"""Folders of plug-ins: each file holds one, under the file's name; there is no second list.

Passes are modules, targets and conventions are files of data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from onnxpad.errors import InternalError, RequestError, nearest

T = TypeVar("T")
_MOST_LISTED = 8


class Plugins(Generic[T]):
    """What the files of a package hold, by name: the file's, with dashes for underscores.

    kind: what messages call one of them.
    read: takes a module, or the path of a file where they end in another `suffix`. An attribute
        that it misses there is reported.

    Listing names opens no file, asking for one only that one.
    """

    def __init__(
        self, package: str, kind: str, read: Callable[[Any], T], suffix: str = ".py"
    ) -> None:
        self._package, self._kind, self._read, self._suffix = package, kind, read, suffix

    def __iter__(self) -> Iterator[str]:
        return iter(_names(self._folders, self._suffix))

    def __contains__(self, name: object) -> bool:
        return name in _names(self._folders, self._suffix)

    def __getitem__(self, name: str) -> T:
        file = name.replace("-", "_")
        if self._suffix != ".py":
            return self._read(Path(self._folders[0]) / f"{file}{self._suffix}")
        module = import_module(f"{self._package}.{file}")
        try:
            return self._read(module)
        except AttributeError as error:
            raise InternalError(f"{self._kind} file '{file}.py' lacks {error.name}") from error

    @property
    def _folders(self) -> tuple[str, ...]:
        return tuple(import_module(self._package).__path__)

    def all(self) -> dict[str, T]:
        """Every one by its name."""
        return {name: self[name] for name in self}

    def find(self, name: str) -> T:
        """The one called `name`; RequestError with the nearest name where there is none."""
        if name in self:
            return self[name]
        names, near = list(self), nearest(name.replace("_", "-"), self)
        advice = f"there are {', '.join(names)}"
        if near:
            advice = f"did you mean '{near[0]}'?"
        elif len(names) > _MOST_LISTED:
            advice = "'onnxpad explain' lists them"
        raise RequestError(f"no {self._kind} is called '{name}': {advice}")


def name_of(module: ModuleType) -> str:
    """The name of the plug-in that a module holds."""
    return module.__name__.rpartition(".")[2].replace("_", "-")


def text_of(module: ModuleType) -> str:
    """What a plug-in's file says about it: the docstring."""
    return (module.__doc__ or "").strip()


@cache
def _names(folders: tuple[str, ...], suffix: str) -> tuple[str, ...]:
    files = (file.stem for folder in folders for file in Path(folder).glob(f"*{suffix}"))
    return tuple(sorted(name.replace("_", "-") for name in files if not name.startswith("__")))
