"""A condition stands where it is used: in one target's file, or shared by two and more."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from onnxpad.runtimes import conditions, onnxruntime, targets

SHARED = Path(conditions.__path__[0])
ROWS_OF_ONNXRUNTIME = Path(onnxruntime.__path__[0], "rows.py")
TARGETS = Path(targets.__path__[0])
NO_CONDITIONS = {"rows.py", "plain_facts.py", "words.py", "__init__.py"}
WORDS = SHARED / "words.py"


def _definitions(paths: Iterable[Path]) -> dict[str, str]:
    """The text of every definition in the files, by its name."""
    found = {}
    for path in paths:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        for node in ast.parse(text).body:
            whole, last = lines[node.lineno - 1 : node.end_lineno], node.end_col_offset or 0
            source = "".join([*whole[:-1], whole[-1][:last]])
            for name in re.findall(r"^(?:def )?(\w+)(?= = |\(|, .* = )", source):
                found[name] = source
    return found


def _conditions() -> Iterator[Path]:
    return (path for path in SHARED.glob("*.py") if path.name not in NO_CONDITIONS)


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


def _users(name: str, shared: Mapping[str, str], targets: Mapping[str, str]) -> set[str]:
    """The targets that use a definition, by themselves or by way of others."""
    found = {target for target, text in targets.items() if name in _words(text)}
    for other, text in shared.items():
        if other != name and name in _words(text):
            found |= _users(other, shared, targets)
    return found


def _lonely(
    shared: Mapping[str, str], targets: Mapping[str, str], between: Mapping[str, str] | None = None
) -> list[str]:
    """Definitions that fewer than two targets use, by way of what stands `between` or not."""
    everything = {**(between or {}), **shared}
    return [name for name in shared if len(_users(name, everything, targets)) < 2]


def test_a_shared_condition_serves_two_targets() -> None:
    targets = {
        path.stem: path.read_text(encoding="utf-8")
        for path in TARGETS.glob("*.py")
        if path.stem != "__init__"
    }
    words = WORDS.read_text(encoding="utf-8")
    targets |= {"a file of rules": words, "another file of rules": words}
    shared, rows = _definitions(_conditions()), _definitions([ROWS_OF_ONNXRUNTIME])
    assert {"GROUPED", "opset_above", "possible_pads"} <= shared.keys()
    assert {"loader_rows", "fusion_rows"} <= rows.keys()
    assert _lonely(shared, targets, rows) == []


def test_a_condition_of_one_target_would_be_noticed() -> None:
    shared = {"ALONE": "ALONE = 1", "_part": "_part = 2", "BOTH": "BOTH = _part"}
    targets = {"one": "w.ALONE, w.BOTH", "other": "w.BOTH"}
    assert _lonely(shared, targets) == ["ALONE"]
