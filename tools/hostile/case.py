"""What a hostile case is: files in a folder, and command lines to run there."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from signal import Signals

from tests.models.external_data import WEIGHTS


@dataclass(frozen=True)
class Command:
    """A command line of onnxpad, run in the folder `in` of a case.

    `stdin` is a file to read from there. `output` is the file that it is to write, from the same
    folder; `closed` are standard streams that are not
    open, `full` those that lead to a full device. `signal` comes after so many seconds. `room` is
    the size at which files end. `copies` run at the same time.
    """

    arguments: tuple[str, ...]
    stdin: str | None = None
    output: str | None = None
    closed: tuple[int, ...] = ()
    full: tuple[int, ...] = ()
    signal: tuple[Signals, float] | None = None
    room: int | None = None
    copies: int = 1

    def __str__(self) -> str:
        text = "onnxpad " + " ".join(shlex.quote(_short(one)) for one in self.arguments)
        text += f" <{self.stdin}" if self.stdin else ""
        text += "".join(f" {number}>&-" for number in self.closed)
        text += "".join(f" {number}>/dev/full" for number in self.full)
        text += f"  # {self.signal[0].name} after {self.signal[1]:.2f} s" if self.signal else ""
        text += f"  # ulimit -f {self.room} bytes" if self.room is not None else ""
        return text + (f"  # {self.copies} at once" if self.copies > 1 else "")


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:80]}...{len(text)} characters"


@dataclass(frozen=True)
class Place:
    """Folders of a case: `inside` is where commands run, `outside` is none of their business."""

    root: Path

    @property
    def inside(self) -> Path:
        return self.root / "in"

    @property
    def outputs(self) -> Path:
        return self.root / "out"

    @property
    def outside(self) -> Path:
        return self.root / "outside"

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"

    def make(self) -> None:
        for folder in (self.inside, self.outputs, self.outside, self.temporary):
            folder.mkdir(parents=True)
        (self.outside / "secret.bin").write_bytes(SECRET * 64)

    def fill_with_traps(self) -> None:
        """Data that is whole, too short or sparse, and everything that only looks like a file."""
        self.write("data.bin", WEIGHTS.tobytes())
        self.write("short.bin", WEIGHTS.tobytes()[:100])
        with (self.inside / "sparse.bin").open("wb") as file:
            file.truncate(2**36)
        for name in ("folder", "sub"):
            (self.inside / name).mkdir()
        links = {
            "link.bin": "../outside/secret.bin",
            "loop.bin": "loop.bin",
            "linked": "../outside",
        }
        for name, target in links.items():
            (self.inside / name).symlink_to(target)
        os.link(self.outside / "secret.bin", self.inside / "hard.bin")
        os.mkfifo(self.inside / "pipe")

    def write(self, name: str, data: bytes | bytearray) -> str:
        path = self.inside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return name


SECRET = b"what stands outside is nobody's business"

Maker = Callable[[Random, Place], Sequence[Command]]


@dataclass(frozen=True)
class Case:
    """The case `number` of a class; equal seeds make equal cases."""

    kind: str
    number: int
    seed: int

    def __str__(self) -> str:
        return f"{self.kind}/{self.number}"

    def random(self) -> Random:
        return Random(f"{self.seed}/{self.kind}/{self.number}")
