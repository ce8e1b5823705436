"""`guard`: what another tool made of a model, proved or tried, and the change that is wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, overload

from onnxpad import processes
from onnxpad.errors import LimitMet, OnnxpadError, RequestError, RuntimeUnavailable
from onnxpad.model.files.delivery import deliver, save
from onnxpad.model.files.external import data_files, external_tensors, locate
from onnxpad.model.files.onnx_file import read
from onnxpad.model.opened import Model, ModelLike, open_model
from onnxpad.reports import InNotebooks, plain
from onnxpad.validation import Validation, validate
from onnxpad.validation.culprit import Culprit, culprit
from onnxpad.validation.kernel_verdict import arrays_file

SCHEMA = 3
REPRODUCER = ("before.onnx", "after.onnx", "inputs.npz")
Function = TypeVar("Function", bound=Callable[..., Any])


class GuardRefused(OnnxpadError):
    """A tool did not keep what a model computes, or nothing shows that it did; see `found`."""

    def __init__(self, found: Guarding) -> None:
        wrong = f"; {found.culprit.kind}" if found.culprit else ""
        super().__init__(f"{found.validation.verdict}: {found.validation.reason}{wrong}")
        self.found = found


@dataclass(frozen=True, slots=True)
class Guarding(InNotebooks):
    """The verdict on what a tool made of a model.

    `before` and `after` are the files, '' for models in memory; `culprit` is the changed part that
    is wrong, where one was found; `reproducer` is the folder that shows it, where one was written.
    """

    validation: Validation
    before: str = ""
    after: str = ""
    culprit: Culprit | None = None
    reproducer: str | None = None

    def __repr__(self) -> str:
        return f"<Guarding {self}>"

    def __str__(self) -> str:
        """'different: why; Conv 'a' became Conv 'b', which differs at 'y'; DIR shows it'."""
        wrong = self.culprit
        part = f"; {wrong.kind}, which differs at '{wrong.tensor}'" if wrong else ""
        shown = f"; {self.reproducer} shows it" if self.reproducer else ""
        return f"{self.validation}{part}{shown}"

    @property
    def ok(self) -> bool:
        """Whether the tool kept what the model computes: proved, or seen in every run."""
        return self.validation.ok

    def to_json(self) -> dict[str, Any]:
        """The report as plain data, without models and arrays."""
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "before": self.before,
            "after": self.after,
            "culprit": plain(self.culprit),
            "reproducer": self.reproducer,
            "validation": self.validation.to_json(),
        }


def guard(
    command: Sequence[str],
    *,
    before: str | os.PathLike[str] | None = None,
    after: str | os.PathLike[str] | None = None,
    reproduce: str | os.PathLike[str] | None = None,
    quiet_stdout: bool = False,
    **options: Any,  # noqa: ANN401 - those of validate
) -> Guarding:
    """Run a command that makes one model of another, and prove or try that both are the same.

    `command` is run without a shell. `before` and `after` are the files that it reads and writes;
    left out, they are the two of its words that end in .onnx. Where they are one file, what it was
    is kept in memory. `reproduce` is a folder for the smallest pair of models that shows what is
    wrong. With `quiet_stdout` what the command prints goes to standard error. `options` are those
    of `validate`.

    Raises RequestError where the command fails, writes nothing or changes what it reads, and what
    `validate` raises.
    """
    words = [os.fspath(word) for word in command]
    if not words:
        raise RequestError("there is no command to guard: give it after --")
    first, second = _files(words, before, after)
    same = _is_one(first, second)
    kept = _in_memory(first) if same else None
    if same and kept is None:
        raise RequestError(
            f"'{first}' is read and written by one command, and its weights are in other files: "
            "let the command write another file, so that both can be compared"
        )
    states = _states(first), _state(second)
    _run(words, quiet_stdout=quiet_stdout)
    if not second.is_file() or _state(second) == states[1]:
        raise RequestError(
            f"'{words[0]}' ended well and did not write '{second}'; try --out with the file that "
            "it writes"
        )
    if not same:
        _refuse_changed(first, states[0], words[0])
    found = replace(
        _judged(kept or str(first), str(second), options), before=str(first), after=str(second)
    )
    if reproduce is not None and not found.ok:
        found = replace(found, reproducer=_reproduced(found, Path(reproduce)))
    return found


@overload
def guarded(function: Function, /) -> Function: ...


@overload
def guarded(**options: Any) -> Callable[[Function], Function]: ...  # noqa: ANN401 - those of validate


def guarded(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Decorate a function that takes a model and gives another, or changes the one it takes.

    Both are compared after every call, with `options` of `validate`. A path may be taken or given
    back as well; of a model whose weights are in other files, the function must leave them alone.

    The function then raises GuardRefused where the models are not the same, or nothing shows that
    they are; its `found` is the report.
    """

    def decorate(decorated: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(decorated)
        def called(model: ModelLike, /, *args: object, **given: object) -> object:
            path = Path(model) if isinstance(model, str | os.PathLike) else None
            kept = _copied(model) if path is None else _in_memory(path)
            states = None if path is None or kept else _states(path)
            result = decorated(model, *args, **given)
            if path is not None and states is not None:
                _refuse_changed(path, states, decorated.__name__)
            found = _judged(kept or model, model if result is None else result, options)
            if not found.ok:
                raise GuardRefused(found)
            return result

        return called

    return decorate if function is None else decorate(function)


def _judged(before: ModelLike, after: Any, options: Mapping[str, Any]) -> Guarding:  # noqa: ANN401 - any kind of model
    found = validate(before, after, **options)
    if found.ok:
        return Guarding(found)
    limits = (options.get("timeout"), options.get("memory"))
    wrong = None
    with suppress(LimitMet, RuntimeUnavailable), processes.limited(*limits):
        wrong = culprit(before, after, found, options.get("dims"))
    return Guarding(found, culprit=wrong)


def _copied(model: ModelLike) -> Model:
    proto = open_model(model).whole
    if proto is not model:
        return proto
    copy = Model()
    copy.CopyFrom(proto)
    return copy


def _in_memory(path: Path) -> Model | None:
    """The model as it is now; None where its weights are in other files."""
    model, _ = read(path)
    return None if any(True for _ in external_tensors(model)) else model


def _refuse_changed(path: Path, states: object, who: str) -> None:
    if _states(path) != states:
        raise RequestError(
            f"'{who}' changed '{path}', which it was to read: there is nothing left to compare with"
        )


def _files(
    words: Sequence[str],
    before: str | os.PathLike[str] | None,
    after: str | os.PathLike[str] | None,
) -> tuple[Path, Path]:
    """The files that a command reads and writes, as given or from its words."""
    if before is not None and after is not None:
        return Path(before), Path(after)
    found = [Path(word.rpartition("=")[2]) for word in words if word.lower().endswith(".onnx")]
    if len(found) != 2:
        raise RequestError(
            f"{len(found)} words of the command end in .onnx, but 2 must: the model that it reads "
            "and the one that it writes; try --in A.onnx --out B.onnx"
        )
    return Path(before or found[0]), Path(after or found[1])


def _is_one(first: Path, second: Path) -> bool:
    with suppress(OSError):
        return first.samefile(second)
    return False


def _state(path: Path) -> tuple[int, ...]:
    """What changes with the content of a file; nothing where there is none."""
    with suppress(OSError):
        found = path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns
    return ()


def _states(path: Path) -> tuple[tuple[int, ...], ...]:
    """The same of a model and its data files; ModelError where it cannot be read."""
    model, source = read(path, light=True)
    parsed = source.parsed or model.SerializeToString()
    files = data_files(model, parsed, name=str(path))
    held = locate(files, path.absolute().parent, name=str(path)).values()
    return tuple(map(_state, (path, *held)))


def _run(words: Sequence[str], *, quiet_stdout: bool) -> None:
    try:
        status = processes.run_program(words, quiet_stdout=quiet_stdout)
    except OSError as error:
        why = f"{error.strerror}; install it, or name it with its path"
        raise RequestError(f"'{words[0]}' cannot be started: {why}") from error
    if status:
        how = f"signal {-status}" if status < 0 else f"exit code {status}"
        raise RequestError(f"'{words[0]}' failed with {how}: nothing was compared")


def _reproduced(found: Guarding, folder: Path) -> str | None:
    """The folder in which two models and their inputs were written; None where nothing is known."""
    wrong = found.culprit
    if wrong is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in zip(REPRODUCER, wrong.models, strict=False):
        save(model, folder / name)
    content = arrays_file(wrong.inputs)
    deliver([memoryview(content)], (), folder / REPRODUCER[-1], origin=None)
    return str(folder)
