"""Runtimes that are installed beside onnxpad: their releases, without importing them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from onnxpad.reports import reported
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.releases import are_one, nearest_known, written_as
from onnxpad.runtimes.targets import Target, find_target


@reported("package", "target", "nodes")
class OnInstalled(NamedTuple):
    """What an installed release does with a model's nodes, where it is otherwise than the newest.

    `package` is 'onnxruntime-gpu 1.31.1', `target` what to ask about it, and `nodes` how many
    nodes each answer is about that is not 'takes'; that one, where there is no other.
    """

    package: str
    target: str
    nodes: Mapping[str, int]

    @property
    def note(self) -> str:
        """'installed here: ..., which miscomputes 1 of them: --target onnxruntime@1.31'."""
        does = ", ".join(f"{answer} {count}" for answer, count in self.nodes.items())
        return f"installed here: {self.package}, which {does} of them: --target {self.target}"


class Installed(NamedTuple):
    """A package, 'onnxruntime-gpu 1.31.1', and the target in the release that it is judged by."""

    package: str
    target: Target

    def doing(self, answers: Iterable[Answer]) -> OnInstalled:
        """What it does with nodes, from what it does with each."""
        counts = Counter(answers)
        worse = tuple(one for one in Answer if counts[one] and one is not Answer.TAKES)
        told = worse or (Answer.TAKES,)
        return OnInstalled(self.package, self.target.name, {str(one): counts[one] for one in told})


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
    numbers = re.match(r"\d+(\.\d+)*", found)
    return numbers[0] if numbers else None
