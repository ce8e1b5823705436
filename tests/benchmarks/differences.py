"""Compares two records of answers: each kind of difference once, with examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ABOUT = "about.json"
_MISSING = object()
_WIDTH = 400


@dataclass
class Kind:
    """Differences at one place: the cases, and what stood there before and after."""

    cases: set[str] = field(default_factory=set)
    changes: dict[tuple[str, str], list[tuple[str, Any, Any]]] = field(default_factory=dict)

    def add(self, key: str, old: object, new: object) -> None:
        """Count a difference; those that differ only in numbers are alike."""
        self.cases.add(key)
        alike = (_NUMBER.sub("#", _text(old)), _NUMBER.sub("#", _text(new)))
        self.changes.setdefault(alike, []).append((key, old, new))


_NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")


def compare(before: Path, after: Path, verbs: Sequence[str], examples: int) -> int:
    """Print what differs; 1 where anything does."""
    quick = _is_quick(before) or _is_quick(after)
    total = 0
    for verb in verbs:
        files = before / f"{verb}.jsonl", after / f"{verb}.jsonl"
        if not all(file.exists() for file in files):
            lacking = " and ".join(str(file) for file in files if not file.exists())
            print(f"{verb}: not compared, {lacking} is not there")
            continue
        old, new = map(_answers, files)
        if quick:
            shared = old.keys() & new.keys()
            old, new = ({key: side[key] for key in side if key in shared} for side in (old, new))
        total += _compared(verb, old, new, examples)
    print(f"{total} cases differ" if total else "nothing differs")
    return 1 if total else 0


def _compared(verb: str, old: Mapping[str, str], new: Mapping[str, str], examples: int) -> int:
    """Print the differences of a verb; the number of cases that have one."""
    kinds: dict[str, Kind] = {}
    different: set[str] = set()
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) == new.get(key):
            continue
        sides = [json.loads(side[key]) if key in side else _MISSING for side in (old, new)]
        different.add(key)
        for path, left, right in _differences("", *sides):
            kinds.setdefault(path, Kind()).add(key, left, right)
    print(f"{verb}: {len(old)} and {len(new)} cases, {len(different)} differ")
    for path, kind in sorted(kinds.items(), key=lambda item: -len(item[1].cases)):
        _print_kind(path, kind, examples)
    return len(different)


def _print_kind(path: str, kind: Kind, examples: int) -> None:
    print(f"  {path or '(the case)'}: {len(kind.cases)} cases, {len(kind.changes)} ways")
    ways = sorted(kind.changes.values(), key=len, reverse=True)
    for found in ways[:examples]:
        key, left, right = found[0]
        print(f"    {len(found)} times, first in {key}")
        print(f"      - {_text(left)[:_WIDTH]}\n      + {_text(right)[:_WIDTH]}")
    if len(ways) > examples:
        print(f"    and {len(ways) - examples} other ways (--examples {len(ways)} shows them)")


def _differences(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """(path, before, after) of everything that is not the same; indices are left out of paths."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            sides = (side.get(name, _MISSING) for side in (old, new))
            yield from _differences(f"{path}.{name}".lstrip("."), *sides)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for left, right in zip(old, new, strict=True):
            yield from _differences(f"{path}[]", left, right)
    elif isinstance(old, list) and isinstance(new, list):
        gone = [item for item in old if item not in new]
        come = [item for item in new if item not in old]
        yield f"{path}[]", gone or f"{len(old)} items", come or f"{len(new)} items"
    elif old is _MISSING or new is _MISSING or old != new or type(old) is not type(new):
        yield path, old, new


def _text(value: object) -> str:
    return "(nothing)" if value is _MISSING else json.dumps(value)


def _answers(file: Path) -> dict[str, str]:
    """Each key's answer as JSON."""
    found = {}
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            key, answer = line.split(', "answer": ', 1)
            found[json.loads(key + "}")["key"]] = answer.rstrip()[:-1]
    return found


def _is_quick(folder: Path) -> bool:
    about = folder / ABOUT
    return about.exists() and bool(json.loads(about.read_text(encoding="utf-8"))["quick"])
