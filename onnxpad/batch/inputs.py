"""Which models somebody means who names files, folders and globs, and where each one goes."""

from __future__ import annotations

import glob
import os
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
    left_out: how many models globs of `exclude` left out.
    """

    jobs: tuple[Job, ...]
    many: bool = True
    left_out: int = 0


def inputs(
    names: Sequence[AnyPath],
    output: str | None = None,
    exclude: Sequence[str] = (),
    *,
    lenient: bool = False,
) -> Inputs:
    """The models that files, folders and globs name, those of a folder in order.

    What folders and globs bring is there once. A folder is searched with the folders below it for
    files *.onnx; what stands in `output`, the folder to write to, is no input, nor is what
    `exclude` has a glob for. Raises RequestError where a folder or glob has no model, where a glob
    of `exclude` is about none, and where none is left; `lenient` allows globs about none, and to
    leave out all files that are named one by one.
    """
    jobs: list[Job] = []
    for name in [os.fspath(one) for one in names]:
        is_one = name == STANDARD or os.path.isfile(name)  # noqa: PTH113 - it may be too long
        if is_one or not (os.path.isdir(name) or glob.has_magic(name)):  # noqa: PTH112
            jobs.append(Job(name, place=Path(name).name, is_named=True))
            continue
        models = _outside(_found(name), output)
        if not models:
            raise RequestError(_nothing(name))
        seen = {os.path.abspath(one.model) for one in jobs}  # noqa: PTH100 - links stay
        jobs += [one for one in models if os.path.abspath(one.model) not in seen]  # noqa: PTH100
    return _remaining(jobs, exclude, lenient=lenient)


def pairs(
    before: AnyPath, after: AnyPath, exclude: Sequence[str] = (), *, lenient: bool = False
) -> Inputs:
    """Models of two folders by their path in them, `second` None where the second one lacks it.

    Of a folder in the other one, no model is one of that. A model that only the second one has
    stands there with its path in the first, which does not exist. `exclude` and errors are as for
    `inputs`.
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
    return _remaining(jobs, exclude, lenient=lenient)


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


def _remaining(jobs: Sequence[Job], exclude: Sequence[str], *, lenient: bool) -> Inputs:
    about = {name: [one for one in jobs if _is_about(name, one)] for name in exclude}
    for name, matching in about.items():
        if not (matching or lenient):
            raise RequestError(f"--exclude '{name}' matches none of the models")
    excluded = {one for matching in about.values() for one in matching}
    rest = tuple(one for one in jobs if one not in excluded)
    all_named = all(one.is_named for one in jobs)
    if not rest and not (lenient and all_named):
        globs = ", ".join(f"'{name}'" for name in exclude)
        raise RequestError(f"no model is left: exclude {globs} matches all {len(jobs)}")
    return Inputs(rest, len(jobs) > 1 or not all_named, len(jobs) - len(rest))


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
    if Path(name).is_dir():
        return f"'{name}' has no file *{SUFFIX}, nor have the folders below it"
    return f"no file matches '{name}'"


def destined(models: Inputs, output: str | None, *, in_place: bool) -> tuple[Job, ...]:
    """The models, each with the file to write: its own, `output`, or one in the folder `output`.

    It is a folder where there are many models, or where it looks like one. Raises RequestError for
    standard input without a place, for a folder that is none, where two models would be written
    into one file, and where one would overwrite an input.
    """
    if in_place:
        return _overwritten(models.jobs)
    if output is None:
        return models.jobs
    if models.many or output.endswith(("/", os.sep)) or os.path.isdir(output):  # noqa: PTH112
        jobs = _placed(models.jobs, output)
    else:
        jobs = (models.jobs[0]._replace(target=output),)
    refuse_inputs([one.model for one in jobs], [one.target for one in jobs])
    return jobs


def _placed(jobs: Sequence[Job], folder: str) -> tuple[Job, ...]:
    if STANDARD in (folder, *(one.model for one in jobs)):
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
    return tuple(targets.values())


def _overwritten(jobs: Sequence[Job]) -> tuple[Job, ...]:
    """Two names of one file are refused: two workers would write it at once."""
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
