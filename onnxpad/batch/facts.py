"""Which facts and globs are about which models."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from onnxpad.batch.inputs import STANDARD, SUFFIX
from onnxpad.errors import OnnxpadError, RequestError

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
    from onnxpad.model.shapes.input_shapes import input_sizes

    return _with_shapes(model, own, shapes, input_sizes(open_model(model).model))


def _with_shapes(
    model: str, dims: Mapping[str, Fact], shapes: Shapes, sizes: Mapping[str, Any]
) -> dict[str, Fact]:
    from onnxpad.model.shapes.input_shapes import facts_of_shapes  # loads onnx

    try:
        return facts_of_shapes(sizes, shapes, dims)
    except RequestError as error:
        raise RequestError(f"{model}: {error}") from None


class Contents(NamedTuple):
    """What of a request a model has: dimensions, those of the globs that match, sizes of inputs."""

    dims: Collection[str] = ()
    globs: Sequence[str] = ()
    inputs: Mapping[str, Any] = {}


def _contents(model: str, globs: Sequence[str]) -> Contents | None:
    """The contents of a model; None where it cannot be read: its own turn says why."""
    from onnxpad.model.opened import open_model  # loads onnx
    from onnxpad.model.reading.survey import Survey, selection
    from onnxpad.model.shapes.input_shapes import input_sizes

    try:
        opened = open_model(model)
        survey = Survey(opened.model, folder=opened.source.folder if opened.source else None)
    except OnnxpadError:
        return None
    matching = []
    for glob in globs:
        with suppress(RequestError):
            selection(survey, glob)
            matching.append(glob)
    return Contents(survey.dimension_names, matching, input_sizes(opened.model))


def facts_of_each(
    models: Sequence[str], about: About, shapes: Shapes | None = None
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
    return _apart(models, about._replace(nodes=globs), own, shapes)


def _apart(
    models: Sequence[str], about: About, own: Sequence[Mapping[str, Fact]], shapes: Shapes
) -> tuple[list[About], list[str]]:
    """The same for several models, with their `own` facts."""
    globs = about.nodes or ()
    contents = [_contents(model, globs) for model in models]
    each: list[About] = []
    having: dict[str, list[bool]] = {}
    for model, has, facts in zip(models, contents, own, strict=True):
        if has is None:
            each.append(about._replace(dims=facts))
            continue
        for name in facts:
            having.setdefault(f"a dimension '{name}'", []).append(name in has.dims)
        for glob in globs:
            label = f"a padded node that matches '{glob}'"
            having.setdefault(label, []).append(glob in has.globs)
        for name in shapes:
            having.setdefault(f"an input '{name}'", []).append(name in has.inputs)
        known = {name: fact for name, fact in facts.items() if name in has.dims}
        own_shapes = {name: shape for name, shape in shapes.items() if name in has.inputs}
        dims = _with_shapes(model, known, own_shapes, has.inputs)
        each.append(About(dims, has.globs if globs else None))
    for label, found_there in having.items():
        if not any(found_there):
            raise RequestError(f"no model has {label}: onnxpad inspect lists what there is")
    return each, [
        f"{label} is in {sum(there)} of {len(there)} models, and left out of the others"
        for label, there in having.items()
        if not all(there)
    ]
