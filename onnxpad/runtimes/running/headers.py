"""What is known of adapters without running them: a TOML file beside each.

dependencies: what is installed for it.
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
from typing import Any, NamedTuple

ADAPTERS = Path(__file__).parent / "adapters"


class Header(NamedTuple):
    """How one target is started. `file` is the adapter; the others stand in the file beside it."""

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


def headers_of(target: str) -> tuple[Header, ...]:
    """The adapters of a target, by its name without release; those for Python first."""
    return tuple(header for header in _all_headers() if header.target == target)


def read_headers(file: Path) -> Iterator[Header]:
    """A header for each target of one adapter."""
    shared = tomllib.loads(file.with_suffix(".toml").read_text("utf-8"))
    for target, own in shared.pop("targets").items():
        words: dict[str, Any] = shared | own
        words |= {name: tuple(one) for name, one in words.items() if isinstance(one, list)}
        variables = {name: words.pop(name) for name in own if name.isupper()}
        yield Header(target, file, variables=variables, **words)


@cache
def _all_headers() -> tuple[Header, ...]:
    files = (file for suffix in ("py", "mjs") for file in sorted(ADAPTERS.glob(f"*.{suffix}")))
    return tuple(header for file in files for header in read_headers(file))
