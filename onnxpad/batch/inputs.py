"""Which models somebody means who names files, folders and globs, and where each one goes."""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from onnxpad.errors import RequestError

STANDARD = "-"
SUFFIX = ".onnx"
_GLOB = f"{SUFFIX}:"
"""Between the glob over models that a fact is about, and the dimension."""
Fact = int | str
AnyPath = str | os.PathLike[str]


class Input(NamedTuple):
    """A model, and its place below a folder that all of them are written to.

    `is_named` says that no folder or glob stands for it.
    """

    model: str
    place: str
    is_named: bool = False


class Inputs(NamedTuple):
    """Models in the order given; `many` where a folder or a glob stands for them, or several.

    `left_out` are models that a glob of `exclude` left out, `idle` the globs that left none out.
    """

    models: tuple[Input, ...]
    many: bool
    left_out: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()


class Job(NamedTuple):
    """A model and the file to write, None where nothing is to be written."""

    model: str
    target: str | None = None

    def check(self) -> None:
        """ModelError where the file could not be written, before there is work to lose."""
        if self.target is None:
            return
        from onnxpad.model.files.delivery import check_target  # loads onnx

        check_target(self.target)


def inputs(
    names: Sequence[AnyPath], output: str | None = None, exclude: Sequence[str] = ()
) -> Inputs:
    """The models that files, folders and globs name, those of a folder in order.

    What folders and globs bring is there once. A folder is searched with the folders below it for
    files *.onnx; what stands in `output`, the folder to write to, is no input, and of several
    models none that `exclude` has a glob for. Raises RequestError where a folder or glob has no
    model, and where all are left out.
    """
    found: list[Input] = []
    seen: set[str] = set()
    many = False
    for name in [os.fspath(one) for one in names]:
        folder = _folder_of(name)
        if folder is None:
            found.append(Input(name, Path(name).name, is_named=True))
            continue
        many = True
        kept = _meant(name, folder)
        if output is not None and not _within(folder, output):
            kept = [one for one in kept if not _within(one.model, output)]
        if not kept:
            raise RequestError(_nothing(name))
        seen |= {_key(one.model) for one in found}
        found += [one for one in kept if _key(one.model) not in seen]
    if not many and len(found) < 2:
        return Inputs(tuple(found), many=False, idle=tuple(exclude))
    kept, idle = remaining(found, exclude)
    left_out = tuple(one.model for one in found if one not in kept)
    return Inputs(tuple(kept), many=True, left_out=left_out, idle=idle)


def remaining(
    found: Sequence[Input], exclude: Sequence[str]
) -> tuple[list[Input], tuple[str, ...]]:
    """The models that no glob of `exclude` is about, and the globs that are about none of them.

    A glob matches the path of a model, as it was given or below the folder that was named, its
    name, and as well a folder that it stands in, by path or by name. Raises RequestError where
    nothing is left.
    """
    spellings = {one: _spellings(one) for one in found}
    about = {glob: {one for one in found if _matches(spellings[one], glob)} for glob in exclude}
    kept = [one for one in found if not any(one in left for left in about.values())]
    if not kept:
        globs = ", ".join(f"'{glob}'" for glob in exclude)
        raise RequestError(f"no model is left: exclude {globs} matches all {len(found)} of them")
    return kept, tuple(glob for glob, left in about.items() if not left)


def are_left_out(names: Sequence[str], exclude: Sequence[str]) -> bool:
    """Whether all of them name one file each, and `exclude` has a glob for every one."""
    files = [Input(one, Path(one).name, is_named=True) for one in names if one != STANDARD]
    return len(files) == len(names) and all(
        _folder_of(one.model) is None and any(_matches(_spellings(one), glob) for glob in exclude)
        for one in files
    )


def _spellings(one: Input) -> set[str]:
    """All by which a glob may know a model: its path and those of its folders, and their names.

    Names of folders that lead to one that was named are none of them.
    """
    place, given = Path(one.place), Path(one.model)
    paths = {place, *place.parents, given, *given.parents} - {Path()}
    parts = given.parts if one.is_named and not given.is_absolute() else place.parts
    return {path.as_posix() for path in paths} | {*parts}


def _matches(spellings: Iterable[str], glob_of: str) -> bool:
    pattern = glob_of.replace(os.sep, "/").removeprefix("./").rstrip("/")
    return any(fnmatchcase(spelling, pattern) for spelling in spellings)


def _key(path: str) -> str:
    return os.path.normcase(os.path.abspath(path))  # noqa: PTH100 - links stay


def dims_for(model: str, dims: Mapping[str, Fact]) -> dict[str, Fact]:
    """The facts that are about a model: 'enc*.onnx:height' is about those that match alone.

    A glob is one over names of files, or over paths, which may begin at any folder. What is said
    of fewer models wins.
    """
    found: dict[str, Fact] = {}
    for name, fact in sorted(dims.items(), key=lambda one: _GLOB in one[0]):
        glob_of, colon, dimension = name.partition(_GLOB)
        pattern = glob_of + SUFFIX
        if not colon:
            found[name] = fact
        elif _is_about(Path(model), pattern.removeprefix("./")):
            found[dimension] = fact
    return found


def facts_about(
    model: str, dims: Mapping[str, Fact], shapes: Mapping[str, Sequence[int]]
) -> dict[str, Fact]:
    """The facts that are about a model, those that follow from shapes of its inputs among them.

    Raises RequestError for shapes of standard input, which is read only once, and as
    `facts_of_shapes`; ModelError where the model cannot be read.
    """
    own = dims_for(model, dims)
    if not shapes:
        return own
    if model == STANDARD:
        raise RequestError("standard input is read once: say its sizes with --dim NAME=SIZE")
    from onnxpad.model.opened import open_model  # loads onnx
    from onnxpad.model.shapes.input_shapes import facts_of_shapes, input_sizes

    return facts_of_shapes(input_sizes(open_model(model).model), shapes, own)


def _is_about(model: Path, pattern: str) -> bool:
    path = model.as_posix()
    below = "/" in pattern and fnmatchcase(path, f"*/{pattern}")
    return below or any(fnmatchcase(one, pattern) for one in (path, model.name))


class Pairs(NamedTuple):
    """Pairs of models; `left_out` and `idle` as for Inputs, by the first of each pair."""

    models: tuple[tuple[str, str | None], ...]
    left_out: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()


def pairs(before: AnyPath, after: AnyPath, exclude: Sequence[str] = ()) -> Pairs:
    """Models of two folders by their path in them, None where the second one lacks it.

    Of a folder in the other one, no model is one of that.
    A model that only the second one has stands there with its path in the first, which does not
    exist. `exclude` is as for `inputs`. Raises RequestError where neither has a model.
    """
    one, other = os.fspath(before), os.fspath(after)
    first, second = _by_place(one, other), _by_place(other, one)
    if not first and not second:
        raise RequestError(_nothing(os.fspath(before)))
    places = sorted(first.keys() | second.keys())
    found = [Input(first.get(below) or str(Path(before, below)), below) for below in places]
    kept, idle = remaining(found, exclude)
    left_out = tuple(one.model for one in found if one not in kept)
    return Pairs(tuple((one.model, second.get(one.place)) for one in kept), left_out, idle)


def _by_place(folder: str, other: str) -> dict[str, str]:
    """The models of a folder, but for those of another one in it."""
    found = _in_folder(folder)
    if not _within(folder, other):
        found = [one for one in found if not _within(one.model, other)]
    return {one.place: one.model for one in found}


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


def _meant(name: str, folder: str) -> list[Input]:
    return _in_folder(name) if name == folder else _matching(name, folder)


def _in_folder(folder: str) -> list[Input]:
    found = []
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for file in sorted(files):
            if file.lower().endswith(SUFFIX):
                path = os.path.join(parent, file)  # noqa: PTH118 - as it was given
                found.append(Input(path, os.path.relpath(path, folder)))
    return found


def _matching(pattern: str, folder: str) -> list[Input]:
    """Files that match, placed as they stand below the last folder that has no wildcard."""
    found: list[str] = []
    for path in sorted(glob.glob(pattern, recursive=True)):  # noqa: PTH207 - names as given
        if not os.path.isdir(path):  # noqa: PTH112
            found.append(path)
        elif "**" not in pattern:  # which matches what is in the folder as well
            found += [one.model for one in _in_folder(path)]
    return [Input(path, os.path.relpath(path, folder)) for path in found]


def _within(path: str, folder: str) -> bool:
    return Path(path).resolve().is_relative_to(Path(folder).resolve())


def _nothing(name: str) -> str:
    if os.path.isfile(os.path.join(name, "saved_model.pb")):  # noqa: PTH113, PTH118
        return (
            f"'{name}' is a SavedModel of TensorFlow: export it first, with "
            f"python -m tf2onnx.convert --saved-model {shlex.quote(name)} --output model.onnx"
        )
    if os.path.isdir(name):  # noqa: PTH112
        return f"'{name}' has no file *{SUFFIX}, nor have the folders below it"
    return f"no file matches '{name}'"


def placed(found: Sequence[Input], folder: str) -> list[Job]:
    """A file in the folder for each model.

    Raises RequestError where two would have one name, or one would overwrite an input.
    """
    jobs: dict[str, Job] = {}
    for one in found:
        target = os.path.join(folder, one.place)  # noqa: PTH118 - as it was given
        other = jobs.get(os.path.normcase(target))
        if other is not None:
            raise RequestError(
                f"'{other.model}' and '{one.model}' would both become '{target}': write them "
                "into different folders, or name the folder above both, which keeps those below it"
            )
        jobs[os.path.normcase(target)] = Job(one.model, target)
    refuse_inputs([one.model for one in found], [job.target for job in jobs.values()])
    return list(jobs.values())


def refuse_inputs(models: Iterable[str], targets: Iterable[str | None]) -> None:
    """RequestError for a file to write that is one of the models, by whatever name."""
    read = {_identity(model) for model in models if model != STANDARD}
    for target in targets:
        if target not in (None, STANDARD) and _identity(target) in read:
            raise RequestError(
                f"'{target}' is an input, which is never overwritten: "
                "give another -o, or --in-place"
            )


def refuse_one_file_twice(models: Iterable[str]) -> None:
    """RequestError where two names lead to one file, which two workers would write at once."""
    known: dict[object, str] = {}
    for model in models:
        identity = _identity(model)
        if identity in known:
            raise RequestError(f"'{known[identity]}' and '{model}' are one file: name it once")
        known[identity] = model


def _identity(path: str) -> object:
    """The same for every name of a file."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return os.path.realpath(path)
    return (found.st_dev, found.st_ino)
