"""Runtimes that are installed beside onnxpad: their releases, without importing them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.releases import are_one, is_release, nearest_known, written_as
from onnxpad.runtimes.targets import Target, find_target

INSTALLED = "installed here"
"""What a note about one begins with."""
_NOTE = re.compile(rf"{INSTALLED}: (.+?), which (.+?) of them: --target ([^\s;]+)")


class Installed(NamedTuple):
    """A package, 'onnxruntime-gpu 1.31.1', and the target in the release that it is judged by."""

    package: str
    target: Target

    def note(self, answers: Iterable[Answer]) -> str:
        """What it does with nodes: 'installed here: ..., which miscomputes 1 of them: ...'."""
        counts = Counter(answers)
        worse = tuple(one for one in Answer if counts[one] and one is not Answer.TAKES)
        told = worse or (Answer.TAKES,)
        does = ", ".join(f"{one} {counts[one]}" for one in told)
        return f"{INSTALLED}: {self.package}, which {does} of them: --target {self.target.name}"


def read_notes(text: str) -> Iterator[tuple[str, dict[str, int], str]]:
    """Package, nodes by answer and target of each note in a text, as `Installed.note` writes it."""
    for package, does, asked in _NOTE.findall(text):
        parts = (part.rpartition(" ") for part in does.split(", "))
        yield package, {answer: int(count) for answer, _, count in parts}, asked


def otherwise_installed(name: str) -> Installed | None:
    """What is installed of the target called `name`, in a release of which other facts are known.

    None where a release was asked for, where nothing is installed, or what is known of the newest
    release counts. Of several packages the first one counts.
    """
    target = find_target(name)
    if "@" in name:
        return None
    for package in target.packages:
        if release := release_of(package):
            spelled = written_as(release, target.releases)
            runtime = find_target(find_target(f"{name}@{spelled}").runtime)
            near = nearest_known(spelled, runtime.releases)
            if runtime.name == target.name and near == target.releases[-1:]:
                return None
            exact = near[0] if are_one(near[0], spelled) else spelled
            return Installed(f"{package} {release}", find_target(f"{runtime.name}@{exact}"))
    return None


@cache
def release_of(package: str) -> str | None:
    """The version of an installed package, without what stands behind its numbers."""
    from importlib.metadata import PackageNotFoundError, version  # loads parsers of mails

    try:
        found = version(package)
    except PackageNotFoundError:
        return None
    numbers: list[str] = []
    for part in found.partition("+")[0].split("."):
        if not part.isdecimal():
            break
        numbers.append(part)
    written = ".".join(numbers)
    return written if is_release(written) else None
