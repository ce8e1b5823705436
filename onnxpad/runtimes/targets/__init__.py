"""Runtimes that models are deployed to: one file each, read by one engine; the folder is walked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, count
from types import ModuleType
from typing import Any

from onnxpad.errors import RequestError, together
from onnxpad.padding.surroundings import Question
from onnxpad.plugins import Plugins, name_of, text_of
from onnxpad.runtimes.conditions.companions import INLINED
from onnxpad.runtimes.conditions.rows import Answer, Row
from onnxpad.runtimes.releases import (
    are_one,
    is_release,
    nearest_known,
    numbers,
    rows_in,
    shown_for,
    written_as,
)


@dataclass(frozen=True, slots=True)
class Target:
    """A runtime: what it does with padding, row by row.

    `version` is what the rows are about, `also` are other names that people write, and
    `frameworks` the conventions of those that it loads models into. `releases` are those that were
    measured or read, the oldest first; the last is that of `version`. `packages` are those of PyPI
    that install it, which tell the release that a user has. Releases before them belong to the
    target `before`, where there is one; `engine` then says which of the engines of a runtime each
    of both is. `name` and `text` come from the file.
    `rows` hold in the newest release, or in the one that was asked for, `history` has those of
    all; `note` says what is not known of that release. `parts` are set where it stands for
    several runtimes at once, which all have to take a node; it has no rows of its own then.
    """

    version: str
    rows: tuple[Row, ...]
    also: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()
    before: str = ""
    engine: str = ""
    name: str = ""
    text: str = ""
    parts: tuple[Target, ...] = ()
    history: tuple[Row, ...] = ()
    note: str = ""
    packages: tuple[str, ...] = ()

    @property
    def runtime(self) -> str:
        """Its name without a release."""
        return self.name.partition("@")[0]

    def about(self, operator: str) -> list[Row]:
        """The rows about an operator, those of its `parts` too."""
        parts = self.parts or (self,)
        return [row for part in parts for row in part.rows if operator in row.operators]

    @property
    def inlines(self) -> bool:
        """Whether it puts the branch of an If of a constant in its place before anything else."""
        return any(row.answer is Answer.TAKES for row in self.about(INLINED[0]))

    @property
    def questions(self) -> tuple[Question[Any], ...]:
        """What its rows ask of the surroundings of nodes, each question once."""
        rows = (row for part in self.parts or (self,) for row in part.history or part.rows)
        asked = (one for row in rows for condition in row.when for one in condition.questions)
        return tuple(dict.fromkeys(asked))

    @property
    def failures(self) -> dict[str, Row]:
        """By address every row of every release by which it fails; the rows of its `parts` too.

        An address is what was run, up to a colon, in small letters with dashes, and behind it a
        number where an earlier row has that already.
        """
        found: dict[str, Row] = {}
        for row in (row for part in self.parts or (self,) for row in part.history or part.rows):
            if row.answer.fails:
                words = row.evidence.what.partition(":")[0].casefold()
                address = _BETWEEN_WORDS.sub("-", words).strip("-")
                names = chain([address], (f"{address}-{number}" for number in count(2)))
                found[next(name for name in names if name not in found)] = row
        return found


_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")


@cache
def all_targets() -> dict[str, Target]:
    """Every target by its name, which is its file's with dashes."""
    return _TARGETS.all()


_OWN_FILES: dict[str, str] = {}
"""By the target's name each file of rules that this process has read."""


def find_target(name: str) -> Target:
    """The target called `name`, also by another name, in the release behind an @.

    Capitals do not matter; without a release it is the newest that is known. A name that ends with
    .toml is a file of rules, whose target is known by its own name from then on.

    Raises RequestError with the nearest name where there is none, with the releases that are
    known where none is written like this, and for a wrong file of rules.
    """
    path = _OWN_FILES.get(name, name if is_own_rules(name) else "")
    if not path:
        return _built_in(name)
    from onnxpad.runtimes.own_rules import own_target  # which knows the built-in targets

    own = own_target(path)
    _OWN_FILES[own.name] = path
    return own


def is_own_rules(name: str) -> bool:
    """Whether a target is asked for as a file of rules."""
    return name.endswith(".toml")


def asked_as(name: str) -> str:
    """What a command line says for the target called `name`: a file of rules by its path."""
    from shlex import quote

    return quote(_OWN_FILES[name]) if name in _OWN_FILES else name


@cache
def _built_in(name: str) -> Target:
    runtime, asks, release = name.partition("@")
    wanted = runtime.casefold().replace("_", "-")
    if wanted not in _TARGETS:
        wanted = next((one.name for one in all_targets().values() if wanted in one.also), runtime)
    found = _TARGETS.find(wanted)
    return _in_release(found, release.strip()) if asks else found


def _in_release(target: Target, release: str) -> Target:
    """The same with the rows of a release."""
    known = target.releases
    if not known:
        only = f"its facts are about {target.version}, and no other release is known"
        raise RequestError(f"{target.name} has no release '{release}': {only}")
    if not is_release(release):
        listed = ", ".join(known)
        raise RequestError(
            f"no release of {target.name} is written '{release}': there are {listed}"
        )
    release = written_as(release, known)
    nearest = nearest_known(release, known)
    if target.before and _is_older(release, nearest):
        return _in_release(all_targets()[target.before], release)
    written = release.removeprefix("v")
    version = f"{target.name} {written}"
    return replace(
        target,
        version=version,
        name=f"{target.name}@{written}",
        rows=tuple(shown_for(row, written) for row in rows_in(target.history, nearest)),
        note=_unmeasured(version, nearest, known, release),
    )


def _is_older(release: str, known: Sequence[str]) -> bool:
    return all(numbers(release) < numbers(one) and not are_one(one, release) for one in known)


def _unmeasured(version: str, nearest: Sequence[str], known: Sequence[str], release: str) -> str:
    listed = f"known are {together(known)}"
    if len(nearest) > 1:
        counts = f"what is known of {' and of '.join(nearest)} counts"
        return f"{version} was not measured: {counts}; {listed}"
    (one,) = nearest
    if are_one(one, release):
        return ""
    kind = "newest" if one == known[-1] else "oldest"
    return f"{version} was not measured: judged as {one}, the {kind} that was; {listed}"


def find_targets(names: str | Sequence[str]) -> Target:
    """The target called so; of several names, one that stands for all of them.

    Raises RequestError for names that do not exist, and where there is none.
    """
    asked = [names] if isinstance(names, str) else names
    found = tuple(dict.fromkeys(map(find_target, asked)))
    if not found:
        raise RequestError("target is an empty list: name a runtime")
    if len(found) == 1:
        return found[0]
    if twice := [name for name, count in Counter(one.name for one in found).items() if count > 1]:
        raise RequestError(f"two files of rules are called '{twice[0]}': give one another name")
    called = " + ".join(one.name for one in found)
    notes = "; ".join(one.note for one in found if one.note)
    return Target(", ".join(one.version for one in found), (), name=called, parts=found, note=notes)


@cache
def all_questions() -> tuple[Question[Any], ...]:
    """What any target asks of the surroundings of nodes."""
    return find_targets(list(all_targets())).questions


@cache
def _target_in(module: ModuleType) -> Target:
    found: Target = module.TARGET
    name, text = name_of(module), text_of(module)
    rows = rows_in(found.rows, found.releases[-1:]) if found.releases else found.rows
    return replace(found, name=name, text=text, rows=rows, history=found.rows)


_TARGETS = Plugins(__name__, "target", _target_in)
