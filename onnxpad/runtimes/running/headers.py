"""What adapters say of themselves, read from the first comment of each, without running it.

The comment is inline script metadata (PEP 723): `dependencies`, and a table `[tool.onnxpad]` with

title: the runtime's name.
release: distributions that have the runtime; the version of the installed one is its release.
module: what Python imports of it.
programs: what must be on the PATH.
precision: which lowering of precision is switched off.
targets: a table for each target. Names in capitals are environment variables; others replace what
    stands above for this target.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ADAPTERS = Path(__file__).parent / "adapters"
_MARKS = {".py": "#", ".mjs": "//"}
_BLOCK = r"(?m)^{0} /// script$\s(?P<content>(^{0}(| .*)$\s)+)^{0} ///$\s"
"""The expression of PEP 723, with the mark of a comment."""


class Header(NamedTuple):
    """How one target is started. `file` is the adapter; the other fields stand in its comment."""

    target: str
    file: Path
    title: str
    dependencies: tuple[str, ...]
    release: tuple[str, ...] = ()
    module: str = ""
    programs: tuple[str, ...] = ()
    precision: str = ""
    variables: Mapping[str, str] = {}

    @property
    def is_javascript(self) -> bool:
        """Whether Node runs it, not Python."""
        return self.file.suffix == ".mjs"

    @property
    def others(self) -> tuple[str, ...]:
        """Distributions that it needs besides the one that has the runtime."""
        names = (re.split(r"[^\w.-]", one, maxsplit=1)[0] for one in self.dependencies)
        return tuple(name for name in names if name not in self.release)

    @property
    def install(self) -> str:
        """The command that installs what it needs."""
        return f"{'npm' if self.is_javascript else 'pip'} install {shlex.join(self.dependencies)}"

    @property
    def code(self) -> str:
        """The adapter's text without the comment."""
        pattern = _BLOCK.format(_MARKS[self.file.suffix])
        return re.sub(pattern, "", self.file.read_text("utf-8"), count=1)


def headers_of(target: str) -> tuple[Header, ...]:
    """The adapters of a target, by its name without release; those for Python first."""
    return _all_headers().get(target, ())


def read_headers(file: Path) -> Iterator[Header]:
    """A header for each target of one adapter."""
    mark = _MARKS[file.suffix]
    block = re.search(_BLOCK.format(mark), file.read_text("utf-8"))
    assert block is not None, f"{file.name} has no header"  # noqa: S101 - a test reads all
    lines = (line.removeprefix(mark).removeprefix(" ") for line in block["content"].splitlines())
    script = tomllib.loads("\n".join(lines))
    shared = script["tool"]["onnxpad"] | {"dependencies": script["dependencies"]}
    targets = shared.pop("targets")
    for target, own in targets.items():
        variables = {name: value for name, value in own.items() if name.isupper()}
        words = shared | {name: value for name, value in own.items() if name not in variables}
        lists = ("dependencies", "release", "programs")
        words |= {name: tuple(words[name]) for name in lists if name in words}
        yield Header(target, file, variables=variables, **words)


@cache
def _all_headers() -> Mapping[str, tuple[Header, ...]]:
    found: dict[str, tuple[Header, ...]] = {}
    for suffix in _MARKS:
        for file in sorted(ADAPTERS.glob(f"*{suffix}")):
            for header in read_headers(file):
                found[header.target] = (*found.get(header.target, ()), header)
    return found
