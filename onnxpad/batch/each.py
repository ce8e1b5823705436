"""Many models at once, on any executor: what fails with one of them never holds up the others."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from onnxpad.batch.course import Request, addressable, answer, asked_of, refusal
from onnxpad.batch.inputs import (
    STANDARD,
    AnyPath,
    Fact,
    Job,
    Pairs,
    dims_for,
    facts_about,
    inputs,
    pairs,
    placed,
    refuse_one_file_twice,
)
from onnxpad.errors import RequestError, RuntimeUnavailable, headline, in_python, nearest, told
from onnxpad.reports import Report, reported
from onnxpad.verbs import ARGUMENTS, refuse_unless

Paths: TypeAlias = AnyPath | Iterable[AnyPath | tuple[AnyPath, AnyPath]]
Progress = Callable[[str, int, int], None]
VERBS = ("inspect", "rewrite", "retarget", "validate")
_EDITS = ("rewrite", "retarget")
_ABOUT_ONE = ("data", "inputs", "input_shapes", "outputs", "progress")


class Outcome(NamedTuple):
    """What became of one model.

    `result` is a word: rewritten, moved (would be rewritten, would be moved: where nothing was to
    be written), unchanged, fine, with traps, not known (a target's answer for some node), failing,
    with known findings, a verdict of validate, not written, or error; `code` the exit code that the
    command would have, `record` what its `--json` prints, `error` why it was not written or what
    was wrong, `line` what the command prints about the model, which is `error` where there is
    one, both with options as arguments of Python,
    `written` the file, `told` is `error` as the command line has it. `following` has the targets
    and sizes of a rewrite that inspect tried and that writes the model; {} where it knows none.
    """

    file: str
    result: str
    code: int
    record: Mapping[str, Any]
    error: str = ""
    written: str | None = None
    line: str = ""
    told: str = ""
    following: Mapping[str, Any] = MappingProxyType({})

    def __repr__(self) -> str:
        return f"<Outcome {self.result}: {self.line}>"


@reported("summary", "code", "records as models", "notes")
@dataclass(frozen=True, eq=False)
class Batch(Report):
    """The outcomes of all models, in the order in which they were named.

    `notes` say which facts and globs were left out for models that have no such dimension or node.
    It is true whatever came of it: ask `code`.
    """

    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()

    schema = 2

    @property
    def code(self) -> int:
        """The highest exit code, as of the command.

        0: fine; 1: findings, or a model that was not written for what a rewrite leaves or makes of
        it (`strict`, `validate`, `unfit`); 2: a model that could not be read, done or written.
        """
        return max((one.code for one in self.outcomes), default=0)

    @property
    def summary(self) -> dict[str, int]:
        """How many models had which result."""
        found: dict[str, int] = {}
        for one in self.outcomes:
            found[one.result] = found.get(one.result, 0) + 1
        return found

    @property
    def refused(self) -> tuple[Outcome, ...]:
        """Models that came to nothing, with the reason in `error`."""
        return tuple(one for one in self.outcomes if one.error)

    @property
    def records(self) -> tuple[Mapping[str, Any], ...]:
        """What `--json` of the command prints, one for each model."""
        return tuple(one.record for one in self.outcomes)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        told = ", ".join(f"{number} {result}" for result, number in self.summary.items())
        return f"<Batch of {len(self.outcomes)}: {told}>"


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
    edits = output is not None or in_place or strict or validate or although_unfit
    _check(verb, executor, processes, edits=edits)
    if output is not None and in_place:
        raise RequestError("output and in_place contradict each other: give one of them")
    globs, passes = _told_apart(verb, exclude)
    options = _arguments(verb, arguments | passes)
    jobs = _jobs(verb, paths, output, globs, in_place=in_place)
    with working_in(executor, processes) as where:
        about, notes = options_for([job for job, _ in jobs], options, where)
        asked = []
        for (job, after), own in zip(jobs, about, strict=True):
            judging = _judging(verb, own) if validate else None
            request = Request(verb, own, judging, strict=strict, although_unfit=although_unfit)
            asked.append(asked_of(job, request, after))
        done = outcomes(asked, where, progress)
        return Batch(tuple(one._replace(line=in_python(one.line)) for one in done), tuple(notes))


def outcomes(
    asked: Sequence[dict[str, Any]],
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Iterator[Outcome]:
    """The outcome of each, in this order and as early as that allows.

    What was not begun when nobody wants the rest any more is not begun at all.
    """
    told = progress or _silent
    if executor is None:
        for number, one in enumerate(asked, 1):
            yield _made(answer(one))
            told(one["model"], number, len(asked))
        return
    futures = [_submitted(executor, answer, one) for one in asked]
    numbers = {future: number for number, future in enumerate(futures)}
    ready: dict[int, Outcome] = {}
    following = 0
    try:
        for done, future in enumerate(as_completed(futures), 1):
            one = asked[numbers[future]]
            ready[numbers[future]] = _outcome(one, future)
            told(one["model"], done, len(asked))
            while following in ready:
                yield ready.pop(following)
                following += 1
    finally:
        for future in futures:
            future.cancel()
        _sweep({Path(one["target"]).parent for one in asked if one["target"]})


def _sweep(folders: Iterable[Path]) -> None:
    """Workers that were killed leave files behind."""
    from onnxpad.model.files.atomic import swept  # loads onnx

    for folder in folders:
        swept(folder)


def options_for(
    jobs: Sequence[Job],
    options: Mapping[str, Any],
    executor: Executor | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> tuple[list[dict[str, Any]], list[str]]:
    """The options for each model, with the facts and globs that are about it, and notes.

    `shapes` are those of inputs. With several models, what one of them lacks is left out there,
    with a note. Raises RequestError where no model has it, and for a shape that one cannot have.
    Standard input, which can be read only once, has to have everything.
    """
    given, nodes, shapes = options.get("dims") or {}, options.get("nodes"), shapes or {}
    _refuse_idle_globs(given, jobs)
    globs = [nodes] if isinstance(nodes, str) else list(nodes or ())
    each_own = [dims_for(job.model, given) for job in jobs]
    dims = dict.fromkeys(name for own in each_own for name in own)
    is_plain = len(jobs) < 2 or not (dims or globs or shapes)
    if is_plain or any(job.model == STANDARD for job in jobs):
        said = [facts_about(job.model, given, shapes) for job in jobs]
        return [{**options, **({"dims": own} if given or shapes else {})} for own in said], []
    known = _known(jobs, globs, executor)
    if any(known):
        _refuse_what_nobody_has(known, dims, globs, shapes)
    found, missing, asked = [], Counter[str](), Counter[str]()
    for job, has, own in zip(jobs, known, each_own, strict=True):
        about = {**options, **({"dims": own} if given else {})}
        if has:
            wanted = _wanted(own, globs, shapes, has)
            asked.update(wanted.keys())
            missing.update(what for what, is_there in wanted.items() if not is_there)
            there = {name: fact for name, fact in own.items() if name in has["dims"]}
            about["dims"] = _with_shapes(job, there, shapes, has)
            if globs:
                about["nodes"] = has["globs"]
        found.append(about)
    return found, [
        f"{what} is in {asked[what] - number} of {asked[what]} models, and left out of the others"
        for what, number in missing.items()
    ]


def _wanted(
    dims: Mapping[str, Fact], globs: Sequence[str], shapes: Iterable[str], has: Mapping[str, Any]
) -> dict[str, bool]:
    """What was asked for, and whether the model has it."""
    return {
        **{f"'{name}'": name in has["dims"] for name in dims},
        **{f"a padded node that matches '{glob}'": glob in has["globs"] for glob in globs},
        **{f"input '{name}'": name in has["inputs"] for name in shapes},
    }


def _with_shapes(
    job: Job,
    dims: Mapping[str, Fact],
    shapes: Mapping[str, Sequence[int]],
    has: Mapping[str, Any],
) -> dict[str, Fact]:
    from onnxpad.model.shapes.input_shapes import facts_of_shapes  # loads onnx

    own = {name: shape for name, shape in shapes.items() if name in has["inputs"]}
    try:
        return facts_of_shapes(has["inputs"], own, dims)
    except RequestError as error:
        raise RequestError(f"{job.model}: {told(error)}") from None


@contextmanager
def working_in(executor: Executor | None, processes: int = 1) -> Iterator[Executor | None]:
    """The executor that was given, or worker processes that end with the block, or neither."""
    if executor is not None or processes == 1:
        yield executor
        return
    from onnxpad.batch.workers import Processes

    workers = Processes(processes)
    try:
        yield workers
    finally:
        workers.end()


def _known(
    jobs: Sequence[Job], globs: Sequence[str], executor: Executor | None
) -> list[dict[str, Any]]:
    """What each model has; {} for one that cannot be read: its own turn says why."""
    asked = [{"model": job.model, "folder": str(Path.cwd()), "globs": globs} for job in jobs]
    if executor is None:
        return [addressable(one) for one in asked]
    futures = [_submitted(executor, addressable, one) for one in asked]
    return [{} if future.exception() else future.result() for future in futures]


def _refuse_what_nobody_has(
    known: Sequence[Mapping[str, Any]],
    dims: Iterable[str],
    globs: Iterable[str],
    shapes: Iterable[str],
) -> None:
    inputs = sorted(set().union(*(has.get("inputs", ()) for has in known)))
    for name in shapes:
        if name not in inputs:
            near = nearest(name, inputs)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(inputs)}"
            raise RequestError(f"no model has an input '{name}': {hint}")
    there = sorted(set().union(*(has.get("dims", ()) for has in known)))
    for name in dims:
        if name not in there:
            from onnxpad.model.shapes.dimensions import known_text  # loads onnx

            raise RequestError(f"no model has a dimension '{name}'{known_text(there)}")
    for glob in globs:
        if not any(glob in has.get("globs", ()) for has in known):
            raise RequestError(
                f"no padded node of any model matches '{glob}': onnxpad inspect lists them"
            )


def _refuse_idle_globs(dims: Mapping[str, Any], jobs: Sequence[Job]) -> None:
    """RequestError for a fact about models that match a glob, where none does."""
    for name in dims:
        if not any(dims_for(job.model, {name: 1}) for job in jobs):
            raise RequestError(f"the fact '{name}' is about no model here: no file matches it")


def _submitted(
    executor: Executor, function: Callable[..., Any], one: dict[str, Any]
) -> Future[Any]:
    """The future of one request; a failed one where the executor takes no more."""
    try:
        return executor.submit(function, one)
    except Exception as error:  # noqa: BLE001 - whatever an executor raises is about one model
        failed: Future[Any] = Future()
        failed.set_exception(error)
        return failed


def _made(found: Mapping[str, Any]) -> Outcome:
    """An outcome from the answer of a worker, which has options as the command line does."""
    said = found.get("error", "")
    line = said or found["line"]
    return Outcome(**{**found, "error": in_python(said), "told": said, "line": line})


def _outcome(asked: dict[str, Any], future: Future[Any]) -> Outcome:
    """What a worker found, or that it came to nothing, which is no reason to lose the others."""
    try:
        return _made(future.result())
    except RuntimeUnavailable as error:
        said = f"{asked['model']}: {error.told}"
        return _made(refusal(asked, type(error).__name__, said))
    except Exception as error:  # noqa: BLE001 - see above
        kind = type(error).__name__
        said = f"{asked['model']}: no worker finished it ({kind}: {headline(error)}); run it alone"
        return _made(refusal(asked, kind, said))


def _silent(_model: str, _done: int, _total: int) -> None:
    """Tell nobody."""


def _check(verb: str, executor: Executor | None, processes: int, *, edits: bool) -> None:
    if verb not in VERBS:
        raise RequestError(f"verb is {verb!r}: each does {', '.join(VERBS)}")
    if executor is not None and not hasattr(executor, "submit"):
        raise RequestError(
            f"executor is {executor!r}: it has to be one of concurrent.futures, or what "
            "get_executor() of a Dask client gives"
        )
    if executor is not None and processes != 1:
        raise RequestError("executor and processes are two places to work in: give one of them")
    if processes < 1:
        raise RequestError(f"processes is {processes}: at least one is needed")
    if edits and verb not in _EDITS:
        raise RequestError(
            f"{verb} writes no model: leave output, in_place, strict, validate and although_unfit "
            "out"
        )


def _arguments(verb: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as plain data; RequestError for one that the verb does not have."""
    known = [
        name
        for name, parameter in signature(_function(verb)).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in _ABOUT_ONE
    ]
    for name in given:
        if name not in known:
            near = nearest(name, known)
            hint = f"; did you mean {near[0]}?" if near else f"; it has {', '.join(known)}"
            raise RequestError(f"{verb} of many models has no argument '{name}'{hint}")
    found = {name: _plain(name, value) for name, value in given.items() if name != "plan"}
    if given.get("plan") is not None:
        from onnxpad.retargeting import read_plan

        found["plan"] = read_plan(given["plan"])
    return {name: value for name, value in found.items() if value is not None}


def _function(verb: str) -> Callable[..., Any]:
    homes = {
        "inspect": "onnxpad.inspection",
        "rewrite": "onnxpad.rewriting.rewrite",
        "retarget": "onnxpad.retargeting",
        "validate": "onnxpad.validation",
    }
    found: Callable[..., Any] = getattr(import_module(homes[verb]), verb)
    return found


def _plain(name: str, value: Any) -> Any:  # noqa: ANN401 - whatever an argument may be
    """The same as data that any executor can carry."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, os.PathLike):
        return os.path.abspath(value)  # noqa: PTH100 - a text
    if isinstance(value, Mapping):
        return {str(key): _plain(name, item) for key, item in value.items()}
    if hasattr(value, "__index__"):
        return int(value)
    if isinstance(value, Iterable):
        return [_plain(name, item) for item in value]
    raise RequestError(f"{name} is {value!r}, which cannot be sent to a worker")


def _told_apart(
    verb: str, exclude: str | Sequence[str]
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Globs over models, and passes as rewrite's argument; RequestError for what is no text."""
    refuse_unless(*ARGUMENTS["exclude"], "exclude", exclude)
    names = (exclude,) if isinstance(exclude, str) else tuple(exclude)
    if verb != "rewrite":
        return names, {}
    from onnxpad.rewriting.passes import pass_names

    passes = tuple(name for name in names if name in pass_names())
    globs = tuple(name for name in names if name not in passes)
    return globs, {"exclude": passes} if passes else {}


def _jobs(
    verb: str, paths: Paths, output: AnyPath | None, exclude: Sequence[str], *, in_place: bool
) -> list[tuple[Job, str | None]]:
    """Each model with the file to write, and the second model of validate."""
    if verb == "validate":
        return [(Job(before), after) for before, after in _pairs(paths, exclude)]
    names = _names(paths)
    folder = None if output is None else os.fspath(output)
    told = inputs(names, folder, exclude)
    _refuse_idle(verb, told.idle)
    found = told.models
    if in_place:
        refuse_one_file_twice([one.model for one in found])
        return [(Job(one.model, one.model), None) for one in found]
    if folder is None:
        return [(Job(one.model), None) for one in found]
    return [(job, None) for job in placed(found, folder)]


def _names(paths: Paths) -> list[Any]:
    """Names of files, folders and globs; RequestError for what is none, such as a model."""
    given: Any = paths
    several = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    names = list(given) if several else [given]
    for one in names:
        if not isinstance(one, str | os.PathLike):
            raise RequestError(
                f"paths has a {type(one).__name__}: each takes names of files, folders and globs; "
                "the verbs themselves take models as well"
            )
    return names


def _refuse_idle(verb: str, idle: Sequence[str]) -> None:
    """RequestError for a glob of `exclude` that leaves nothing out."""
    for glob in idle:
        said = f"exclude '{glob}' is about no model of a folder or of several"
        if verb == "rewrite":
            from onnxpad.rewriting.passes import pass_names

            said += "".join(
                f"; did you mean the pass '{one}'?" for one in nearest(glob, pass_names())
            )
        raise RequestError(said)


def _pairs(paths: Paths, exclude: Sequence[str]) -> list[tuple[str, str | None]]:
    """Pairs of files; two folders are as many pairs as there are places in them."""
    found: list[tuple[str, str | None]] = []
    listed = [] if isinstance(paths, str | os.PathLike) else list(paths)
    names = [one for one in listed if isinstance(one, str | os.PathLike)]
    if len(names) == len(listed) == len([one for one in names if Path(one).is_dir()]) == 2:
        return _pairs([(names[0], names[1])], exclude)
    for pair in listed:
        if isinstance(pair, str | os.PathLike) or len(pair) != 2:
            found = []
            break
        before, after = os.fspath(pair[0]), os.fspath(pair[1])
        both = Path(before).is_dir() and Path(after).is_dir()
        told = pairs(before, after, exclude) if both else Pairs(((before, after),))
        _refuse_idle("validate", told.idle)
        found += told.models
    if not found:
        raise RequestError(
            "validate of many models needs pairs: [(before, after), ...], or two folders"
        )
    return found


def _judging(verb: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """What the runs of both models are told, from the arguments of the verb."""
    names = ("dims", "timeout", "memory", *(("ambiguous",) if verb == "rewrite" else ()))
    return {name: own[name] for name in names if name in own}
