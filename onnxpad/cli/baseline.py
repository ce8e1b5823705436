"""Files of known findings, a sorted line `model: code node` each: a check fails for what is new.

Models are named as seen from the folder of the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from onnxpad.cli.outputs import write_file
from onnxpad.cli.streams import STANDARD
from onnxpad.errors import RequestError

LARGEST = 64 * 2**20
"""Bytes that the file may have."""


class Known(NamedTuple):
    """A finding by what stays the same: its code, and the address of its node."""

    code: str
    node: str


class Baseline:
    """The lines of a file; a model whose file is gone has none when it is written."""

    def __init__(self, path: str, lines: Collection[str]) -> None:
        self.path = path
        self._lines = set(lines)
        self._folder = Path(path).resolve().parent

    def known_of(self, model: str) -> frozenset[Known]:
        """What is known of a model."""
        begin = _text(f"{self._name(model)}: ")
        ends = [line.removeprefix(begin) for line in self._lines if line.startswith(begin)]
        return frozenset(Known(*end.split(" ", 1)) for end in ends if " " in end)

    def learn(self, model: str, findings: Collection[Known]) -> None:
        """Take this for all that is known of a model."""
        name = _text(self._name(model))
        self._lines -= {f"{name}: {one.code} {one.node}" for one in self.known_of(model)}
        self._lines |= {f"{name}: {one.code} {one.node}" for one in findings}

    @property
    def gone(self) -> int:
        """How many findings are of models whose files are gone."""
        return sum(not self._is_there(line) for line in self._lines)

    def write(self) -> None:
        """Write the file, all or nothing; RequestError says why not."""
        lines = sorted(line for line in self._lines if self._is_there(line))
        write_file("--baseline", self.path, "".join(f"{line}\n" for line in lines).encode())

    def _is_there(self, line: str) -> bool:
        names = (line[: colon.start()] for colon in re.finditer(": ", line))
        return any(name == STANDARD or (self._folder / name).exists() for name in names)

    def _name(self, model: str) -> str:
        """What the file calls a model."""
        if model == STANDARD:
            return model
        path = Path(model).absolute()
        try:
            return Path(os.path.relpath(path, self._folder)).as_posix()
        except ValueError:  # on another drive
            return path.as_posix()


def known(code: str, node: str) -> Known:
    """A finding as the file writes it: one line, whatever the name of its node is."""
    return Known(_text(code).replace(" ", "_"), _text(node))


def _text(text: str) -> str:
    from onnxpad.show.wording import visible

    return visible(text).encode(errors="backslashreplace").decode()


def read_baseline(path: str) -> Baseline:
    """The baseline in a file; RequestError where there is none, or it cannot be read."""
    from onnxpad.model.files.contents import Refused, contents

    try:
        lines = list(filter(None, bytes(contents(path, LARGEST)).decode().splitlines()))
    except FileNotFoundError:
        raise RequestError(f"there is no baseline '{path}': --write-baseline writes one") from None
    except (OSError, Refused) as error:
        why = getattr(error, "strerror", None) or error
        raise RequestError(f"cannot read the baseline '{path}': {why}") from error
    except ValueError:
        lines = [""]
    if not all(re.match(r"[^{\[].*: \S+ ", line) for line in lines):
        raise RequestError(
            f"the baseline '{path}' is none of onnxpad's: write it anew with --write-baseline"
        )
    return Baseline(path, lines)
