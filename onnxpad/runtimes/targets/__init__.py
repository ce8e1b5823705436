"""Runtimes that models are deployed to: one TOML each, read by rule_files; the folder is walked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from onnxpad.errors import RequestError, together
from onnxpad.plugins import Plugins
from onnxpad.runtimes.own_targets import (
    READ_FILES,
    RUNTIMES,
    SUFFIX,
    TargetName,
    file_of_rules,
    own_runtime,
    target_names,
)
from onnxpad.runtimes.releases import (
    are_one,
    is_release,
    nearest_known,
    numbers,
    rows_in,
    written_as,
)
from onnxpad.runtimes.rule_files import built_in_target, own_target
from onnxpad.runtimes.target import Target as Target

ALL = "all"
"""What stands for every target where nothing is written."""


@cache
def all_targets() -> dict[str, Target]:
    """Every target by its name, which is its file's with dashes."""
    return _TARGETS.all()


def find_target(name: TargetName) -> Target:
    """The target called `name`, also by another name, in the release behind an @.

    Capitals do not matter; without a release it is the newest that is known. A name that ends with
    .toml is a file of rules, whose target is known by its own name from then on. The path of a .py
    file, a command with {model} and a function are runtimes of the user's own.

    Raises RequestError with the nearest name where there is none, with the releases that are
    known where none is written like this, and for a wrong file of rules.
    """
    if name == ALL:
        raise RequestError(
            "target 'all' is for inspect alone; name the runtimes that are to take the model, or "
            "'portable' for what the measured ones have in common"
        )
    if runtime := own_runtime(name):
        return Target(runtime, (), name=runtime, runner=RUNTIMES[runtime])
    assert isinstance(name, str)  # noqa: S101 - any other is a runtime
    path = file_of_rules(name)
    if not path:
        files = (f"{name}{suffix}" for suffix in (".py", SUFFIX) if not is_target(name))
        if file := next((one for one in files if Path(one).is_file()), ""):
            raise RequestError(f"no target is called '{name}': did you mean './{file}'?")
        return _built_in(name)
    own = own_target(path, is_target)
    READ_FILES[own.name] = path
    return own


def is_target(name: str) -> bool:
    """Whether a built-in target is called so."""
    folded = name.casefold().replace("_", "-")
    return any(folded in (one.name, *one.also) for one in all_targets().values())


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
    if not known or not is_release(release):
        there = f"known are {together(known)}" if known else f"only {target.version} is known"
        raise RequestError(f"{target.name} has no release '{release}': {there}")
    release = written_as(release, known)
    nearest = nearest_known(release, known)
    is_known = are_one(nearest[0], release)
    if target.before and not is_known and numbers(release) < numbers(nearest[0]):
        return _in_release(all_targets()[target.before], release)
    written = release.removeprefix("v")
    version = f"{target.name} {written}"
    judged = f"judged as {together(nearest)}; known are {together(known)}"
    return replace(
        target,
        version=version,
        name=f"{target.name}@{written}",
        rows=rows_in(target.history, nearest),
        note="" if is_known else f"{version} was not measured: {judged}",
    )


def find_targets(names: TargetName | Sequence[TargetName]) -> Target:
    """The target of one name, or of several names one target with those as its `parts`.

    Raises RequestError for an unknown name and for an empty list.
    """
    parts = tuple(dict.fromkeys(map(find_target, target_names(names))))
    if not parts:
        raise RequestError("target is an empty list: name a runtime")
    if len(parts) == 1:
        return parts[0]
    if twice := [name for name, count in Counter(part.name for part in parts).items() if count > 1]:
        raise RequestError(f"two files of rules are called '{twice[0]}': give one another name")
    name = " + ".join(part.name for part in parts)
    notes = "; ".join(part.note for part in parts if part.note)
    return Target(", ".join(part.version for part in parts), (), name=name, parts=parts, note=notes)


_TARGETS = Plugins(__name__, "target", built_in_target, suffix=SUFFIX)
