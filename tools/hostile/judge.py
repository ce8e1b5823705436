"""What a command may leave behind, however hostile its files: the law of the attack."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from tools.hostile.case import SECRET, Command, Place
from tools.hostile.limited import Limits, Outcome

SECONDS = 10.0
GIGABYTE = 1 << 30
LINE, MESSAGE = 4_000, 40_000
"""Characters of a line on standard error, and of all of it."""
AFTER_SIGNAL = 1.0
EXITS = frozenset({0, 1, 2, 141})
_FORBIDDEN = re.compile(
    rb"Traceback \(most recent call last\)|please report|internal error|Exception ignored|"
    rb"Segmentation fault|Fatal Python error|terminate called|site-packages"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Seen(NamedTuple):
    """A file as it stood: its type and mode, when it was changed, and its content."""

    mode: int
    changed: int
    digest: str


Tree = Mapping[str, Seen]


@dataclass(frozen=True)
class Fault:
    """One broken promise; `what` is short and the same for equal faults."""

    what: str
    detail: str


def limits_for(place: Place) -> Limits:
    """What the size of a case's files explains, and the allowance on top of it."""
    size = sum(path.stat().st_blocks * 512 for path in _files(place.inside))
    return Limits(SECONDS + size / 2e6, GIGABYTE + 30 * size)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if stat.S_ISREG(path.lstat().st_mode):
            yield path


def tree(place: Place) -> Tree:
    """Everything in the folders of a case, streams of commands aside."""
    found = {}
    for top in (place.inside, place.outputs, place.outside, place.temporary):
        for path in sorted(top.rglob("*")):
            about = path.lstat()
            digest = str(path.readlink()) if stat.S_ISLNK(about.st_mode) else ""
            if stat.S_ISREG(about.st_mode):
                digest = _digest(path, about)
            changed = 0 if stat.S_ISDIR(about.st_mode) else about.st_mtime_ns
            found[str(path.relative_to(place.root))] = Seen(about.st_mode, changed, digest)
    return found


def _digest(path: Path, about: os.stat_result) -> str:
    if about.st_blocks * 512 < about.st_size:  # a sparse file: its holes are not worth reading
        return f"{about.st_size} bytes, {about.st_blocks} blocks"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def faults(command: Command, outcome: Outcome, limits: Limits) -> Iterator[Fault]:
    """What a process did that none may do, files aside."""
    yield from _costs(outcome, limits)
    if not outcome.ended:
        yield from _exits(command, outcome)
    # What a model says of itself is its own affair: torch writes its stack traces into models.
    is_text = not {"-", "/dev/stdout"} & {*command.arguments}
    for stream in (outcome.stdout * is_text, outcome.stderr):
        if found := _FORBIDDEN.search(stream):
            yield Fault(found[0].decode(), _around(stream, found.start()))
    if is_text:
        yield from _text("stdout", outcome.stdout)
    yield from _text("stderr", outcome.stderr)
    yield from _lengths(outcome)
    if SECRET[:16] in outcome.stdout + outcome.stderr:
        yield Fault("shows what stands outside", "")


def _costs(outcome: Outcome, limits: Limits) -> Iterator[Fault]:
    cost = f"{outcome.seconds:.1f} s of processor, {outcome.wall:.1f} s, {outcome.memory >> 20} MiB"
    if outcome.ended == "processor" or outcome.seconds > limits.seconds:
        yield Fault("over the limit of processor time", cost)
    if outcome.ended == "memory" or outcome.memory > limits.memory:
        yield Fault("over the limit of memory", cost)
    if outcome.ended == "waiting":
        yield Fault("does not end", cost)
    if outcome.orphans:
        yield Fault("leaves processes behind", str(outcome.orphans))


def _exits(command: Command, outcome: Outcome) -> Iterator[Fault]:
    allowed = EXITS
    if command.signal:
        allowed |= {128 + command.signal[0]}
        if (outcome.late or 0.0) > AFTER_SIGNAL:
            yield Fault(f"{command.signal[0].name} ends it late", f"{outcome.late:.1f} s")
    if command.copies > 1 and outcome.code != 0:
        yield Fault("one of several at once fails", _around(outcome.stderr, 0))
    if outcome.code not in allowed:
        yield Fault(f"exit code {outcome.code}", _around(outcome.stderr, len(outcome.stderr)))
    if outcome.code == 2 and not outcome.stderr and not (_mute(command) or command.signal):
        yield Fault("exit code 2 without a message", "")


def _mute(command: Command) -> bool:
    """Whether its messages and its report may have no place to go to."""
    return bool({1, 2} & {*command.closed, *command.full}) or command.room is not None


def _text(name: str, stream: bytes) -> Iterator[Fault]:
    try:
        text = stream.decode()
    except UnicodeDecodeError as error:
        yield Fault(f"{name} is not UTF-8", _around(stream, error.start))
        return
    if found := _CONTROL.search(text):
        near = text[max(0, found.start() - 80) : found.start() + 40]
        yield Fault(f"raw control characters on {name}", repr(near))


def _lengths(outcome: Outcome) -> Iterator[Fault]:
    longest = max(map(len, outcome.stderr.decode(errors="replace").split("\n")))
    if longest > LINE:
        yield Fault(
            "a line of a message is too long", f"{longest} characters: {outcome.stderr[:200]!r}"
        )
    elif len(outcome.stderr) > MESSAGE:
        yield Fault("messages are too long", f"{len(outcome.stderr)} bytes")


def _around(stream: bytes, position: int) -> str:
    return stream[max(0, position - 200) : position + 6000].decode("utf-8", "replace")


def file_faults(
    place: Place, command: Command, before: Tree, after: Tree, code: int
) -> Iterator[Fault]:
    """Inputs that changed, files that nobody asked for, and outputs that are not whole."""
    output = _place_of(place, command.output)
    written = {_place_of(place, name): option for option, name in _written(command)}
    allowed = {output, *written}
    folders = tuple(f"{_place_of(place, name)}/" for _, name in _named(command, _FILLED))
    for name in sorted({*before, *after}):
        if before.get(name) == after.get(name) or name in allowed:
            continue
        if name not in after:
            yield Fault("removes a file", name)
        elif name in before:
            if not name.startswith("in/") or not stat.S_ISDIR(after[name].mode):
                yield Fault("changes a file", name)
        elif not _copied(name, before) and not _asked_for(name, allowed, folders):
            yield Fault("leaves a file that nobody asked for", name)
        elif code == 2 and not (command.signal or _mute(command)) and command.copies == 1:
            yield Fault("leaves something after a failure", name)
    for name in allowed - {""}:
        read = _READ[written[name]] if name in written else _as_model
        yield from _whole(place, name, read, before, after)
        changed = name in after and after[name] != before.get(name)
        if code == 2 and changed and not _mute(command) and command.copies == 1:
            yield Fault("changes its output and fails", name)


def _asked_for(name: str, allowed: Iterable[str], folders: tuple[str, ...]) -> bool:
    """Whether it is a folder of what is to be written, or in a folder that is to be filled."""
    return f"{name}/".startswith(folders) or any(one.startswith(name) for one in allowed)


_WRITTEN = {
    "diagnose": ("--plan", "--html"),
    "guard": ("--html",),
    "inspect": ("--baseline", "--html"),
    "retarget": ("--html",),
    "rewrite": ("--certificate", "--html"),
    "validate": ("--counterexample", "--html"),
}
"""Options that name a further file to write, by verb."""
_FILLED = {"explain": ("-o", "--html"), "guard": ("--reproduce",), "inspect": ("-o",)}
"""Options that name a folder to write files into, by verb."""


def _written(command: Command) -> Iterator[tuple[str, str]]:
    """Each option that names a further file, with the file."""
    yield from _named(command, _WRITTEN)


def _named(command: Command, options: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Each of these options that is given, with its value."""
    words = command.arguments
    for option in options.get(words[0], ()) if words else ():
        for word, value in pairwise(words):
            if word == option:
                yield option, value
        given = (word.partition("=") for word in words)
        yield from ((option, value) for word, _, value in given if word == option and value)


def _place_of(place: Place, name: str | None) -> str:
    if not name or name == "-":
        return ""
    return os.path.relpath(os.path.normpath(place.inside / name), place.root)


def _copied(name: str, before: Tree) -> bool:
    """Whether a file of the output folder is one of the input's: external data goes with it."""
    return name.startswith("out/") and any(
        one.startswith(("in/", "outside/")) and Path(one).name == Path(name).name for one in before
    )


def _as_model(data: bytes) -> object:
    return onnx.ModelProto.FromString(data)


def _as_arrays(data: bytes) -> object:
    with np.load(io.BytesIO(data)) as held:
        return [held[name] for name in held]


def _as_page(data: bytes) -> object:
    text = data.decode()
    if not text.startswith("<!doctype html>") or not text.endswith("</html>"):
        raise ValueError("it is no whole page")
    return text


_READ: dict[str, Callable[[bytes], object]] = {
    "--plan": json.loads,
    "--baseline": json.loads,
    "--certificate": json.loads,
    "--counterexample": _as_arrays,
    "--html": _as_page,
}


def _whole(
    place: Place, name: str, read: Callable[[bytes], object], before: Tree, after: Tree
) -> Iterator[Fault]:
    seen = after.get(name)
    if seen is None or seen == before.get(name):
        return
    if not stat.S_ISREG(seen.mode):
        return
    data = (place.root / name).read_bytes()
    try:
        read(data)
    except (ValueError, DecodeError, RecursionError, BadZipFile, EOFError) as error:
        yield Fault("an output is half-written", f"{name}: {len(data)} bytes, {error}"[:300])
    if SECRET in data:
        yield Fault("copies what stands outside", name)
