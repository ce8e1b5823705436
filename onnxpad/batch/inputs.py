"""Which models somebody means who names files, folders and globs, and where each one goes."""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from onnxpad.errors import RequestError

STANDARD = "-"
SUFFIX = ".onnx"
AnyPath = str | os.PathLike[str]


class Job(NamedTuple):
    """A model to work on.

    target: the file to write, None where nothing is to be written.
    second: the model that validate compares it with; None where there is none.
    place: its path below a folder that all of them are written to.
    is_named: no folder or glob stands for it.
    """

    model: str
    target: str | None = None
    second: str | None = None
    place: str = ""
    is_named: bool = False

    def check(self) -> None:
        """ModelError where the file could not be written, before there is work to lose."""
        if self.target is not None:
            from onnxpad.model.files.delivery import check_target  # loads onnx

            check_target(self.target)


class Inputs(NamedTuple):
    """Models in the order given.

    many: a folder or a glob stands for them, or there are several.
    left_out: models that a glob of `exclude` left out.
    idle: globs of `exclude` that left none out.
    """

    jobs: tuple[Job, ...]
    many: bool = True
    left_out: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()

    def refusal(self, exclude: Sequence[str]) -> RequestError:
        """The error where `exclude` leaves no model."""
        globs = ", ".join(f"'{name}'" for name in exclude)
        return RequestError(f"no model is left: exclude {globs} matches all {len(self.left_out)}")


def inputs(
    names: Sequence[AnyPath], output: str | None = None, exclude: Sequence[str] = ()
) -> Inputs:
    """The models that files, folders and globs name, those of a folder in order.

    What folders and globs bring is there once. A folder is searched with the folders below it for
    files *.onnx; what stands in `output`, the folder to write to, is no input, nor is what
    `exclude` has a glob for. Raises RequestError where a folder or glob has no model.
    """
    found: list[Job] = []
    many = False
    for name in [os.fspath(one) for one in names]:
        folder = _folder_of(name)
        if folder is None:
            found.append(Job(name, place=Path(name).name, is_named=True))
            continue
        many = True
        jobs = _in_folder(name) if name == folder else _matching(name, folder)
        jobs = _outside(jobs, folder, output)
        if not jobs:
            raise RequestError(_nothing(name))
        seen = {_key(one.model) for one in found}
        found += [one for one in jobs if _key(one.model) not in seen]
    return _remaining(found, exclude)._replace(many=many or len(found) > 1)


def pairs(before: AnyPath, after: AnyPath, exclude: Sequence[str] = ()) -> Inputs:
    """Models of two folders by their path in them, `second` None where the second one lacks it.

    Of a folder in the other one, no model is one of that. A model that only the second one has
    stands there with its path in the first, which does not exist. `exclude` is as for `inputs`.
    Raises RequestError where neither has a model.
    """
    folders = os.fspath(before), os.fspath(after)
    first, second = (
        {one.place: one.model for one in _outside(_in_folder(folder), folder, other)}
        for folder, other in (folders, folders[::-1])
    )
    if not first and not second:
        raise RequestError(_nothing(folders[0]))
    jobs = [
        Job(first.get(place) or str(Path(before, place)), None, second.get(place), place)
        for place in sorted(first.keys() | second.keys())
    ]
    return _remaining(jobs, exclude)


def _remaining(found: Sequence[Job], exclude: Sequence[str]) -> Inputs:
    """What no glob of `exclude` is about, which may be nothing.

    A glob matches the path of a model, as it was given or below the folder that was named, its
    name, and as well a folder that it stands in, by path or by name.
    """
    about = {name: [one for one in found if _is_about(name, one)] for name in exclude}
    excluded = {one for jobs in about.values() for one in jobs}
    return Inputs(
        tuple(one for one in found if one not in excluded),
        left_out=tuple(one.model for one in found if one in excluded),
        idle=tuple(name for name, jobs in about.items() if not jobs),
    )


def _is_about(name: str, one: Job) -> bool:
    """Names of folders that lead to one that was named do not count."""
    place, given = Path(one.place), Path(one.model)
    paths = {place, *place.parents, given, *given.parents} - {Path()}
    parts = given.parts if one.is_named and not given.is_absolute() else place.parts
    pattern = name.replace(os.sep, "/").removeprefix("./").rstrip("/")
    spellings = {path.as_posix() for path in paths} | {*parts}
    return one.model != STANDARD and any(fnmatchcase(each, pattern) for each in spellings)


def _key(path: str) -> str:
    return os.path.normcase(os.path.abspath(path))  # noqa: PTH100 - links stay


def _outside(jobs: Sequence[Job], folder: str, other: str | None) -> list[Job]:
    """The models of a folder but for those in another one, unless that is around the folder."""
    if other is None or _within(folder, other):
        return list(jobs)
    return [one for one in jobs if not _within(one.model, other)]


def _within(path: str, folder: str) -> bool:
    return Path(path).resolve().is_relative_to(Path(folder).resolve())


def _folder_of(name: str) -> str | None:
    """The folder in which several models are looked for; None for one file, which may not exist."""
    if name == STANDARD or os.path.isfile(name):  # noqa: PTH113 - a name may be too long for a path
        return None
    if os.path.isdir(name):  # noqa: PTH112
        return name
    fixed = Path(name)
    while glob.has_magic(str(fixed)):
        fixed = fixed.parent
    return None if fixed == Path(name) else str(fixed)


def _in_folder(folder: str) -> list[Job]:
    found = []
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for file in sorted(files):
            if file.lower().endswith(SUFFIX):
                path = os.path.join(parent, file)  # noqa: PTH118 - as it was given
                found.append(Job(path, place=os.path.relpath(path, folder)))
    return found


def _matching(pattern: str, folder: str) -> list[Job]:
    """Files that match, placed as they stand below the last folder that has no wildcard."""
    found: list[str] = []
    for path in sorted(glob.glob(pattern, recursive=True)):  # noqa: PTH207 - names as given
        if not os.path.isdir(path):  # noqa: PTH112
            found.append(path)
        elif "**" not in pattern:  # which matches what is in the folder as well
            found += [one.model for one in _in_folder(path)]
    return [Job(path, place=os.path.relpath(path, folder)) for path in found]


def _nothing(name: str) -> str:
    if os.path.isfile(os.path.join(name, "saved_model.pb")):  # noqa: PTH113, PTH118
        return (
            f"'{name}' is a SavedModel of TensorFlow: export it first, with "
            f"python -m tf2onnx.convert --saved-model {shlex.quote(name)} --output model.onnx"
        )
    if os.path.isdir(name):  # noqa: PTH112
        return f"'{name}' has no file *{SUFFIX}, nor have the folders below it"
    return f"no file matches '{name}'"


def placed(found: Sequence[Job], folder: str) -> tuple[Job, ...]:
    """The same with a file in the folder for each model.

    Raises RequestError where two would have one name, or one would overwrite an input.
    """
    jobs: dict[str, Job] = {}
    for one in found:
        target = os.path.join(folder, one.place)  # noqa: PTH118 - as it was given
        if other := jobs.get(os.path.normcase(target)):
            raise RequestError(
                f"'{other.model}' and '{one.model}' would both become '{target}': write them "
                "into different folders, or name the folder above both, which keeps those below it"
            )
        jobs[os.path.normcase(target)] = one._replace(target=target)
    refuse_inputs([one.model for one in found], [job.target for job in jobs.values()])
    return tuple(jobs.values())


def overwritten(found: Sequence[Job]) -> tuple[Job, ...]:
    """The same where each model is overwritten.

    Raises RequestError where two names lead to one file, which two workers would write at once.
    """
    known: dict[object, str] = {}
    for one in found:
        if other := known.get(identity := _identity(one.model)):
            raise RequestError(f"'{other}' and '{one.model}' are one file: name it once")
        known[identity] = one.model
    return tuple(one._replace(target=one.model) for one in found)


def refuse_inputs(models: Iterable[str], targets: Iterable[str | None]) -> None:
    """RequestError for a file to write that is one of the models, by whatever name."""
    read = {_identity(model) for model in models if model != STANDARD}
    for target in targets:
        if target not in (None, STANDARD) and _identity(target) in read:
            raise RequestError(
                f"'{target}' is an input, which is never overwritten: "
                "give another -o, or --in-place"
            )


def _identity(path: str) -> object:
    """The same for every name of a file."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return os.path.realpath(path)
    return (found.st_dev, found.st_ino)
