"""Reports as JSON: one encoder for whatever a command finds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from math import isfinite
from numbers import Integral
from operator import attrgetter
from typing import Any, ClassVar, TypeVar

T = TypeVar("T")
_ENTRIES: dict[type, tuple[str, ...]] = {}


def reported(*entries: str) -> Callable[[type[T]], type[T]]:
    """What the JSON of a class is made of, where that is more or less than its fields.

    An entry is an attribute; 'path as name' for an attribute of an attribute, or for another
    name; 'attribute.*' for the items of a mapping; '*' for the fields that no other entry names.
    """

    def made(kind: type[T]) -> type[T]:
        _ENTRIES[kind] = entries
        return kind

    return made


class InNotebooks:
    """What notebooks show with pictures, and logs as text; `onnxpad.show` is loaded for that."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """HTML of the report; None, and so its text, where jinja2 is not installed."""
        html: str | None = import_module(_SHOWN).notebook_html(self)
        return html

    def to_html(self, model: str = "MODEL") -> str:
        """The report as the page that --html writes; `model` is what to call the model on it.

        Raises RequestError for reports without a page, and RuntimeUnavailable where jinja2 is not
        installed.
        """
        html: str = import_module(_SHOWN).report_html(self, model)
        return html

    def to_text(self, model: str = "MODEL") -> str:
        """The report as its command prints it, for logs; `model` is what to call the model in it.

        Raises RequestError for reports that no command prints.
        """
        text: str = import_module(_SHOWN).report_text(self, model)
        return text


class ReportItem:
    """One node or row of a report; it shows itself as its sentence."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{self}>"

    def to_json(self) -> dict[str, Any]:
        """The item as it stands in the JSON of the report."""
        return dict(_entries(self))


class Report(InNotebooks):
    """What a command gives back; `schema` is the version of its JSON."""

    __slots__ = ()
    schema: ClassVar[int]

    def to_json(self) -> dict[str, Any]:
        """The report as plain data: numbers, texts, lists and dicts."""
        return {"schema": self.schema, **plain(self)}

    def __repr__(self) -> str:
        """What the JSON holds, in a few lines: counts instead of long lists, nothing empty."""
        found = (f"{n}={_short(v)}" for n, v in _parts(self) if n and v not in _EMPTY)
        return f"{type(self).__name__}({', '.join(found)})"


_SHOWN = "onnxpad.show.reports"
_EMPTY: tuple[object, ...] = (None, "", (), [], {})
_SHORT = 240


def _short(value: object) -> str:
    text = repr(value)
    if len(text) <= _SHORT or isinstance(value, str):
        return text if len(text) <= _SHORT else f"{text[:_SHORT]}...'"
    return f"<{len(value)}>" if isinstance(value, Sized) else f"<{type(value).__name__}>"


_AS_IT_IS = frozenset({type(None), bool, int, str})


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever a report holds
    """The value as JSON can hold it; infinities and NaN are texts.

    A dataclass and a named tuple become an object of their fields, or of what `reported` says.
    """
    kind = type(value)
    if kind in _AS_IT_IS:
        return value
    if kind is tuple or kind is list:
        return [item if type(item) in _AS_IT_IS else plain(item) for item in value]
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if is_dataclass(value) or hasattr(value, "_fields"):
        return dict(_entries(value))
    raise TypeError(f"a report holds {value!r}, which has no JSON")


def json_line(data: Mapping[str, Any]) -> str:
    """Plain data as one line of JSON, so that several reports make JSON Lines."""
    return json.dumps(plain(data), allow_nan=False) + "\n"


def _entries(value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    for name, part in _parts(value):
        found = plain(part)
        if name:
            yield name, found
        else:
            yield from found.items()


def _parts(value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    for name, read in _readers(type(value)):  # type: ignore[arg-type] # classes have hashes
        yield name, read(value)


@cache
def _readers(kind: type[Any]) -> tuple[tuple[str, Callable[[object], Any]], ...]:
    return tuple((name, attrgetter(path)) for name, path in _layout(kind))


def _layout(kind: type[Any]) -> tuple[tuple[str, str], ...]:
    """Name ('' for the items of a mapping) and path of everything that an object tells."""
    entries = [
        ("", entry[:-2]) if entry.endswith(".*") else (entry.split(" as ")[-1], entry.split()[0])
        for entry in _ENTRIES.get(kind, ("*",))
    ]
    named = {one for name, path in entries for one in (name, path.partition(".")[0])}
    own = fields(kind) if is_dataclass(kind) else ()
    names = [one.name for one in own] or list(getattr(kind, "_fields", ()))
    rest = [(name, name) for name in names if name not in named]
    return tuple(one for entry in entries for one in (rest if entry == ("*", "*") else [entry]))
