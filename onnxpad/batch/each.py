"""Many models at once, on any executor: what fails with one of them never holds up the others."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from onnxpad.batch.course import Task, answer, refusal
from onnxpad.batch.facts import Shapes, facts_of_each
from onnxpad.batch.inputs import AnyPath, Inputs, Job, destined, inputs, pairs
from onnxpad.errors import RequestError, headline, nearest
from onnxpad.reports import Report, reported
from onnxpad.verbs import ARGUMENTS, is_path, keyword_defaults, refuse_unless

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

Paths: TypeAlias = AnyPath | Iterable[AnyPath | tuple[AnyPath, AnyPath]]
Progress = Callable[[str, int, int], None]
VERBS = ("inspect", "rewrite", "retarget", "validate")
_ABOUT_ONE = {"data", "inputs", "input_shapes", "outputs", "progress"}


class Outcome(NamedTuple):
    """What became of one model.

    result: a word: rewritten, moved (would be rewritten, would be moved: where nothing was to be
        written), unchanged, fine, with traps, not known (a target's answer for some node),
        failing, with known findings, a verdict of validate, not written, or error.
    code: the exit code that the command would have.
    record: what its `--json` prints.
    error: why it was not written or what was wrong.
    written: the file.
    line: what the command prints about the model, or `error` where there is one.
    following: commands to type next about what inspect found.
    document: makes the whole report, for one model that is done in this process.
    """

    file: str
    result: str
    code: int
    record: Mapping[str, Any]
    error: str = ""
    written: str | None = None
    line: str = ""
    following: Sequence[str] = ()
    document: Callable[..., Any] | None = None

    def __repr__(self) -> str:
        return f"<Outcome {self.result}: {self.line}>"


@reported("summary", "code", "records as models", "notes")
@dataclass(frozen=True, eq=False)
class Batch(Report):
    """The outcomes of all models, in the order in which they were named.

    `notes` say which facts and globs were left out for models that have no such dimension or node.
    bool() of a Batch is always True: test `code` for failures.
    """

    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()

    schema = 2

    @property
    def code(self) -> int:
        """The highest exit code of the outcomes.

        0: fine. 1: findings, or a model not written because of `strict`, `validate` or unfit
        nodes. 2: a model that could not be read, processed or written.
        """
        return max((outcome.code for outcome in self.outcomes), default=0)

    @property
    def summary(self) -> dict[str, int]:
        """Number of models by result."""
        return dict(Counter(outcome.result for outcome in self.outcomes))

    @property
    def refused(self) -> tuple[Outcome, ...]:
        """Outcomes of models that failed; `error` has the reason."""
        return tuple(outcome for outcome in self.outcomes if outcome.error)

    @property
    def records(self) -> tuple[Mapping[str, Any], ...]:
        """One record for each model, as `--json` prints it."""
        return tuple(outcome.record for outcome in self.outcomes)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        results = ", ".join(f"{number} {result}" for result, number in self.summary.items())
        return f"<Batch of {len(self.outcomes)}: {results}>"


def each(  # noqa: PLR0913 - one option each
    verb: str,
    paths: Paths,
    *,
    executor: Executor | None = None,
    processes: int = 1,
    output: AnyPath | None = None,
    in_place: bool = False,
    exclude: str | Sequence[str] = (),
    strict: bool = False,
    validate: bool = False,
    although_unfit: bool = False,
    progress: Progress | None = None,
    **arguments: Any,  # noqa: ANN401 - those of the verb
) -> Batch:
    """Do the same with many models; an error of one is its outcome, and the others go on.

    `verb` is 'inspect', 'rewrite', 'retarget' or 'validate', `arguments` are those of the verb.
    `paths` are files, folders (*.onnx in them and below) and globs; for validate, pairs of files or
    one pair of folders. Models are written into the folder `output`, where they keep their places
    below the folder that was named, or `in_place`; else nowhere. `exclude` are globs over paths,
    names and folders of models that are left out, for rewrite also passes that are not used.
    `strict`, `validate` and `although_unfit` do what --strict, --validate and --although-unfit do.

    Without more the models are done here, one by one. `processes` are so many worker processes,
    which end with this one; one that dies costs its model another try. `executor` is any of
    concurrent.futures, or `get_executor()` of a Dask client: its workers need this version of
    onnxpad and the same files. Limits (`timeout`, `memory`) hold for each model. `progress` is
    called with a model, how many are done, and of how many. Raises RequestError for arguments that
    the verb lacks, folders without models, and facts and globs about none.
    """
    from onnxpad.rewriting.passes import pass_names

    if verb not in VERBS:
        raise RequestError(f"verb is {verb!r}: each does {', '.join(VERBS)}")
    if (executor is not None and processes != 1) or processes < 1:
        raise RequestError(f"processes is {processes}: give at least one, or an executor")
    if output is not None and in_place:
        raise RequestError("output and in_place contradict each other: give one of them")
    edits = output is not None or in_place or strict or validate or although_unfit
    if edits and verb not in ("rewrite", "retarget"):
        raise RequestError(
            f"{verb} writes no model: leave output, in_place, strict, validate and although_unfit "
            "out"
        )
    refuse_unless(*ARGUMENTS["exclude"], "exclude", exclude)
    names = (exclude,) if isinstance(exclude, str) else tuple(exclude)
    passes = pass_names() if verb == "rewrite" else ()
    globs = tuple(name for name in names if name not in passes)
    if len(globs) < len(names):
        arguments["exclude"] = [name for name in names if name in passes]
    options = _arguments(verb, arguments)
    folder = None if output is None else os.fspath(output)
    models = _pairs(paths, globs) if verb == "validate" else _inputs(paths, folder, globs)
    jobs = destined(models._replace(many=True), folder, in_place=in_place)
    judging = None
    if validate:
        shared = ("timeout", "memory", *(("ambiguous",) if verb == "rewrite" else ()))
        judging = {name: options[name] for name in shared if name in options}
    task = Task(verb, options, judging, strict=strict, although_unfit=although_unfit)
    with working_in(executor, processes) as where:
        asked, notes = asked_of_each(jobs, task)
        return Batch(tuple(outcomes(asked, where, progress)), tuple(notes))


def asked_of_each(
    jobs: Sequence[Job], task: Task, shapes: Shapes | None = None
) -> tuple[list[dict[str, Any]], list[str]]:
    """What is asked of each model, with the facts and globs that are about it, and notes.

    `shapes` and errors are those of `facts_of_each`.
    """
    options = dict(task.options)
    about = options.pop("dims", None), options.pop("nodes", None)
    task = task._replace(options=options)
    facts, notes = facts_of_each([job.model for job in jobs], *about, shapes)
    tasks = (task.about(job, *own) for job, own in zip(jobs, facts, strict=True))
    return [one._asdict() for one in tasks], notes


@contextmanager
def working_in(
    executor: Executor | None, processes: int = 1, dask: str | None = None
) -> Iterator[Executor | None]:
    """The executor that was given, or workers that end with the block, or none of them."""
    if executor is not None or (processes == 1 and not dask):
        yield executor
        return
    from onnxpad.batch.workers import Processes, dask_executor

    if dask:
        with dask_executor(dask) as workers_of_dask:
            yield workers_of_dask
        return
    workers = Processes(processes)
    try:
        yield workers
    finally:
        workers.end()


def outcomes(
    asked: Sequence[dict[str, Any]],
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Iterator[Outcome]:
    """The outcome of each, in this order and as early as that allows.

    What a worker does not answer comes to nothing, which is no reason to lose the others. What was
    not begun when nobody wants the rest any more is not begun at all.
    """
    futures = [_submitted(executor, one) for one in asked] if executor else []
    try:
        for number, one in enumerate(asked):
            found = _result(one, futures[number]) if futures else answer(one)
            yield Outcome(**{"line": found.get("error", ""), **found})
            if progress:
                progress(one["model"], number + 1, len(asked))
    finally:
        for future in futures:
            future.cancel()


def _submitted(executor: Executor, one: dict[str, Any]) -> Future[Any]:
    """The future of one request; a failed one where the executor takes no more."""
    try:
        return executor.submit(answer, one)
    except Exception as error:  # noqa: BLE001 - whatever an executor raises is about one model
        from concurrent.futures import Future

        failed: Future[Any] = Future()
        failed.set_exception(error)
        return failed


def _result(one: dict[str, Any], future: Future[Any]) -> dict[str, Any]:
    try:
        answered: dict[str, Any] = future.result()
    except Exception as error:  # noqa: BLE001 - whatever an executor raises is about one model
        kind = type(error).__name__
        message = f"no worker finished it ({kind}: {headline(error)}); run it alone"
        return refusal(one["model"], kind, f"{one['model']}: {message}")
    return answered


def _arguments(verb: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as plain data; RequestError for one that the verb does not have."""
    own = keyword_defaults(getattr(sys.modules["onnxpad"], verb)).keys() - _ABOUT_ONE
    for name in given.keys() - own:
        hint = " or ".join(nearest(name, own)) or ", ".join(sorted(own))
        raise RequestError(f"{verb} of many models has no argument '{name}'; did you mean {hint}?")
    known = {name: value for name, value in given.items() if value is not None}
    try:
        options: dict[str, Any] = json.loads(json.dumps(known, default=_plain))
    except (TypeError, ValueError) as error:
        raise RequestError(f"{verb}: an argument cannot be sent to a worker: {error}") from None
    if "plan" in options:
        from onnxpad.retargeting import read_plan

        options["plan"] = read_plan(given["plan"])
    return options


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever an argument may be
    """What JSON lacks as data that any executor can carry."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, os.PathLike):
        return os.path.abspath(value)  # noqa: PTH100 - a text
    return int(value) if hasattr(value, "__index__") else list(value)


def _inputs(paths: Any, output: str | None, exclude: Sequence[str]) -> Inputs:  # noqa: ANN401
    """The models that are named; RequestError for what is no name, such as a model."""
    names = list(paths) if isinstance(paths, Iterable) and not is_path(paths) else [paths]
    for one in names:
        if not is_path(one):
            raise RequestError(
                f"paths has a {type(one).__name__}: each takes names of files, folders and globs; "
                "the verbs themselves take models as well"
            )
    return inputs(names, output, exclude)


def _pairs(paths: Paths, exclude: Sequence[str]) -> Inputs:
    """Pairs of files; two folders are as many pairs as there are places in them."""
    listed: list[Any] = [] if is_path(paths) else list(paths)  # type: ignore[arg-type]
    if len(listed) == 2 and all(is_path(one) and os.path.isdir(one) for one in listed):  # noqa: PTH112
        listed = [listed]
    if not listed or any(is_path(pair) or len(pair) != 2 for pair in listed):
        raise RequestError(
            "validate of many models needs pairs: [(before, after), ...], or two folders"
        )
    jobs: list[Job] = []
    for before, after in listed:
        if os.path.isdir(before) and os.path.isdir(after):  # noqa: PTH112
            jobs += pairs(before, after, exclude).jobs
        else:
            jobs.append(Job(os.fspath(before), second=os.fspath(after)))
    return Inputs(tuple(jobs))
