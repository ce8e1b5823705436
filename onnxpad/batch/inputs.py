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

    def refuse_none(self, exclude: Sequence[str]) -> None:
        """RequestError where `exclude` leaves no model."""
        if not self.jobs:
            globs = ", ".join(f"'{name}'" for name in exclude)
            number = len(self.left_out)
            raise RequestError(f"no model is left: exclude {globs} matches all {number}")


def inputs(
    names: Sequence[AnyPath], output: str | None = None, exclude: Sequence[str] = ()
) -> Inputs:
    """The models that files, folders and globs name, those of a folder in order.

    What folders and globs bring is there once. A folder is searched with the folders below it for
    files *.onnx; what stands in `output`, the folder to write to, is no input, nor is what
    `exclude` has a glob for. Raises RequestError where a folder or glob has no model.
    """
    jobs: list[Job] = []
    many = len(names) > 1
    for name in [os.fspath(one) for one in names]:
        is_one = name == STANDARD or os.path.isfile(name)  # noqa: PTH113 - it may be too long
        if is_one or not (os.path.isdir(name) or glob.has_magic(name)):  # noqa: PTH112
            jobs.append(Job(name, place=Path(name).name, is_named=True))
            continue
        many = True
        models = _outside(_found(name), output)
        if not models:
            raise RequestError(_nothing(name))
        seen = {os.path.abspath(one.model) for one in jobs}  # noqa: PTH100 - links stay
        jobs += [one for one in models if os.path.abspath(one.model) not in seen]  # noqa: PTH100
    return _remaining(jobs, exclude)._replace(many=many)


def pairs(before: AnyPath, after: AnyPath, exclude: Sequence[str] = ()) -> Inputs:
    """Models of two folders by their path in them, `second` None where the second one lacks it.

    Of a folder in the other one, no model is one of that. A model that only the second one has
    stands there with its path in the first, which does not exist. `exclude` is as for `inputs`.
    Raises RequestError where neither has a model.
    """
    folders = os.fspath(before), os.fspath(after)
    first, second = (
        {one.place: one.model for one in _outside(_found(folder), other)}
        for folder, other in (folders, folders[::-1])
    )
    if not first and not second:
        raise RequestError(_nothing(folders[0]))
    jobs = [
        Job(first.get(place) or str(Path(before, place)), None, second.get(place), place)
        for place in sorted(first.keys() | second.keys())
    ]
    return _remaining(jobs, exclude)


def _found(name: str) -> list[Job]:
    """The models of a folder, or of what a glob matches, placed below what has no wildcard."""
    is_folder = os.path.isdir(name)  # noqa: PTH112
    fixed = Path(name)
    while not is_folder and glob.has_magic(str(fixed)):
        fixed = fixed.parent
    files: dict[str, None] = {}
    for path in [name] if is_folder else sorted(glob.glob(name, recursive=True)):  # noqa: PTH207
        if not os.path.isdir(path):  # noqa: PTH112
            files[path] = None
        elif "**" not in name or is_folder:  # which matches what is in the folder as well
            files |= dict.fromkeys(_below(path))
    return [Job(file, place=os.path.relpath(file, fixed)) for file in files]


def _below(folder: str) -> Iterable[str]:
    for parent, folders, files in os.walk(folder):
        folders.sort()
        models = (file for file in sorted(files) if file.lower().endswith(SUFFIX))
        yield from (os.path.join(parent, file) for file in models)  # noqa: PTH118 - as given


def _outside(jobs: Sequence[Job], other: str | None) -> list[Job]:
    """The models but for those in another folder, unless all are in it."""
    if other is None:
        return list(jobs)
    outer = Path(other).resolve()
    outside = [one for one in jobs if not Path(one.model).resolve().is_relative_to(outer)]
    return outside or list(jobs)


def _remaining(jobs: Sequence[Job], exclude: Sequence[str]) -> Inputs:
    """What no glob of `exclude` is about, which may be nothing."""
    about = {name: [one for one in jobs if _is_about(name, one)] for name in exclude}
    excluded = {one for matching in about.values() for one in matching}
    return Inputs(
        tuple(one for one in jobs if one not in excluded),
        left_out=tuple(one.model for one in jobs if one in excluded),
        idle=tuple(name for name, matching in about.items() if not matching),
    )


def _is_about(name: str, one: Job) -> bool:
    """Whether a glob matches a model: its path as given or below the folder named, or its name.

    A folder that it stands in counts by path or name, but not one that leads to a file named.
    """
    place, given = Path(one.place), Path(one.model)
    paths = {place, *place.parents, given, *given.parents} - {Path()}
    parts = given.parts if one.is_named and not given.is_absolute() else place.parts
    pattern = name.replace(os.sep, "/").removeprefix("./").rstrip("/")
    spellings = {path.as_posix() for path in paths} | {*parts}
    return one.model != STANDARD and any(fnmatchcase(each, pattern) for each in spellings)


def _nothing(name: str) -> str:
    if Path(name, "saved_model.pb").is_file():
        return (
            f"'{name}' is a SavedModel of TensorFlow: export it first, with "
            f"python -m tf2onnx.convert --saved-model {shlex.quote(name)} --output model.onnx"
        )
    if Path(name).is_dir():
        return f"'{name}' has no file *{SUFFIX}, nor have the folders below it"
    return f"no file matches '{name}'"


def placed(jobs: Sequence[Job], folder: str) -> tuple[Job, ...]:
    """The same with a file in the folder for each model.

    Raises RequestError where it cannot be the folder of all, where two models would have one name,
    or one would overwrite an input.
    """
    names = [one.model for one in jobs]
    if folder == STANDARD or STANDARD in names:
        raise RequestError("several models, or a folder to write to, need names of files, not '-'")
    if os.path.isfile(folder):  # noqa: PTH113 - a name may be too long for a path
        raise RequestError(f"-o {folder} is a file, and there are several models: add -o DIR/")
    targets: dict[str, Job] = {}
    for one in jobs:
        target = os.path.join(folder, one.place)  # noqa: PTH118 - as it was given
        if other := targets.get(os.path.normcase(target)):
            raise RequestError(
                f"'{other.model}' and '{one.model}' would both become '{target}': write them "
                "into different folders, or name the folder above both, which keeps those below it"
            )
        targets[os.path.normcase(target)] = one._replace(target=target)
    refuse_inputs(names, [job.target for job in targets.values()])
    return tuple(targets.values())


def overwritten(jobs: Sequence[Job]) -> tuple[Job, ...]:
    """The same where each model is overwritten.

    Raises RequestError for standard input, and where two names lead to one file, which two workers
    would write at once.
    """
    names: dict[object, str] = {}
    for one in jobs:
        if one.model == STANDARD:
            raise RequestError("standard input has no place to write to: add -o OUT")
        if other := names.get(identity := _identity(one.model)):
            raise RequestError(f"'{other}' and '{one.model}' are one file: name it once")
        names[identity] = one.model
    return tuple(one._replace(target=one.model) for one in jobs)


def refuse_inputs(
    names: Iterable[str | None], targets: Iterable[str | None], option: str = "-o, or --in-place"
) -> None:
    """RequestError for a file to write that is one that is read, by whatever name."""
    read = {_identity(name) for name in names if name not in (None, STANDARD)}
    for target in targets:
        if target not in (None, STANDARD) and _identity(target) in read:
            raise RequestError(
                f"'{target}' is an input, which is never overwritten: give another {option}"
            )


def _identity(path: str) -> object:
    """The same for every name of a file."""
    try:
        status = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return os.path.realpath(path)
    return (status.st_dev, status.st_ino)
