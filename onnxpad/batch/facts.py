"""Which facts and globs are about which models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from onnxpad.batch.inputs import STANDARD, SUFFIX
from onnxpad.errors import OnnxpadError, RequestError, nearest, told

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

_GLOB = f"{SUFFIX}:"
"""Between the glob over models that a fact is about, and the dimension."""
Fact = int | str
Shapes = Mapping[str, Sequence[int]]


class About(NamedTuple):
    """What is said of one model: facts about its dimensions, and globs of its nodes."""

    dims: Mapping[str, Fact] | None
    nodes: Sequence[str] | None


def dims_for(model: str, dims: Mapping[str, Fact]) -> dict[str, Fact]:
    """The facts that are about a model: 'enc*.onnx:height' is about those that match alone.

    A glob is one over names of files, or over paths, which may begin at any folder. What is said
    of fewer models wins.
    """
    found: dict[str, Fact] = {}
    for name, fact in sorted(dims.items(), key=lambda one: _GLOB in one[0]):
        glob, colon, dimension = name.partition(_GLOB)
        if not colon:
            found[name] = fact
        elif _matches(Path(model), f"{glob}{SUFFIX}".removeprefix("./")):
            found[dimension] = fact
    return found


def _matches(model: Path, pattern: str) -> bool:
    path = model.as_posix()
    below = "/" in pattern and fnmatchcase(path, f"*/{pattern}")
    return below or any(fnmatchcase(one, pattern) for one in (path, model.name))


def facts_about(model: str, dims: Mapping[str, Fact], shapes: Shapes) -> dict[str, Fact]:
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


def addressable(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Dimensions and inputs of a model, and globs of padded nodes; {} where it cannot be read."""
    from onnxpad.model.opened import open_model
    from onnxpad.model.reading.survey import Survey, selection
    from onnxpad.model.shapes.input_shapes import input_sizes

    try:
        opened = open_model(str(Path(asked["folder"], asked["model"])))
        survey = Survey(opened.model, folder=opened.source.folder if opened.source else None)
    except OnnxpadError:
        return {}

    def matches(glob: str) -> bool:
        try:
            selection(survey, glob)
        except RequestError:
            return False
        return True

    globs = [glob for glob in asked["globs"] if matches(glob)]
    inputs = input_sizes(opened.model)
    return {"dims": sorted(survey.dimension_names), "globs": globs, "inputs": inputs}


def facts_of_each(
    models: Sequence[str],
    about: About,
    shapes: Shapes | None = None,
    executor: Executor | None = None,
) -> tuple[list[About], list[str]]:
    """What is said of each model, and notes.

    `shapes` are those of inputs. With several models, what one of them lacks is left out there,
    with a note. Raises RequestError where no model has it, and for a shape that one cannot have.
    Standard input, which can be read only once, has to have everything.
    """
    dims, shapes = about.dims or {}, shapes or {}
    globs = [about.nodes] if isinstance(about.nodes, str) else list(about.nodes or ())
    own = [dims_for(model, dims) for model in models]
    for name in dims:
        if not any(dims_for(model, {name: 1}) for model in models):
            raise RequestError(f"the fact '{name}' is about no model here: no file matches it")
    if len(models) < 2 or not (any(own) or globs or shapes) or STANDARD in models:
        found = [facts_about(model, dims, shapes) for model in models]
        return [about._replace(dims=one if dims or shapes else None) for one in found], []
    known = _known(models, globs, executor)
    if any(known):
        _refuse_unknown(known, dict.fromkeys(name for one in own for name in one), globs, shapes)
    each, missing, asked = [], Counter[str](), Counter[str]()
    for model, has, facts in zip(models, known, own, strict=True):
        if not has:
            each.append(about._replace(dims=facts))
            continue
        wanted = {
            **{f"'{name}'": name in has["dims"] for name in facts},
            **{f"a padded node that matches '{glob}'": glob in has["globs"] for glob in globs},
            **{f"input '{name}'": name in has["inputs"] for name in shapes},
        }
        asked.update(wanted.keys())
        missing.update(what for what, is_there in wanted.items() if not is_there)
        there = {name: fact for name, fact in facts.items() if name in has["dims"]}
        each.append(About(_with_shapes(model, there, shapes, has), has["globs"] if globs else None))
    return each, [
        f"{what} is in {asked[what] - number} of {asked[what]} models, and left out of the others"
        for what, number in missing.items()
    ]


def _with_shapes(
    model: str, dims: Mapping[str, Fact], shapes: Shapes, has: Mapping[str, Any]
) -> dict[str, Fact]:
    from onnxpad.model.shapes.input_shapes import facts_of_shapes  # loads onnx

    own = {name: shape for name, shape in shapes.items() if name in has["inputs"]}
    try:
        return facts_of_shapes(has["inputs"], own, dims)
    except RequestError as error:
        raise RequestError(f"{model}: {told(error)}") from None


def _known(
    models: Sequence[str], globs: Sequence[str], executor: Executor | None
) -> list[dict[str, Any]]:
    """What each model has; {} for one that cannot be read: its own turn says why."""
    asked = [{"model": model, "folder": str(Path.cwd()), "globs": globs} for model in models]
    if executor is None:
        return [addressable(one) for one in asked]
    futures = [submitted(executor, addressable, one) for one in asked]
    return [{} if future.exception() else future.result() for future in futures]


def submitted(
    executor: Executor, function: Callable[..., Any], one: Mapping[str, Any]
) -> Future[Any]:
    """The future of one request; a failed one where the executor takes no more."""
    try:
        return executor.submit(function, one)
    except Exception as error:  # noqa: BLE001 - whatever an executor raises is about one model
        from concurrent.futures import Future  # only many models need it

        failed: Future[Any] = Future()
        failed.set_exception(error)
        return failed


def _refuse_unknown(
    known: Sequence[Mapping[str, Any]],
    dims: Iterable[str],
    globs: Iterable[str],
    shapes: Iterable[str],
) -> None:
    """RequestError for what no model has."""
    inputs, names, matching = (
        sorted({name for has in known for name in has.get(kind, ())})
        for kind in ("inputs", "dims", "globs")
    )
    for name in shapes:
        if name not in inputs:
            near = nearest(name, inputs)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(inputs)}"
            raise RequestError(f"no model has an input '{name}': {hint}")
    for name in dims:
        if name not in names:
            from onnxpad.model.shapes.dimensions import known_text  # loads onnx

            raise RequestError(f"no model has a dimension '{name}'{known_text(names)}")
    for glob in globs:
        if glob not in matching:
            raise RequestError(
                f"no padded node of any model matches '{glob}': onnxpad inspect lists them"
            )
