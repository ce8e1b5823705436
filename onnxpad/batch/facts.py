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


class Contents(NamedTuple):
    """What of a request a model has: dimensions, the globs that match, and sizes of inputs."""

    dims: Collection[str]
    globs: Sequence[str]
    inputs: Mapping[str, Any]


def dims_for(model: str, dims: Mapping[str, Fact]) -> dict[str, Fact]:
    """The facts that are about a model: 'enc*.onnx:height' is about those that match alone.

    A glob is one over names of files, or over paths, which may begin at any folder. What is said
    of fewer models wins.
    """
    facts: dict[str, Fact] = {}
    path = Path(model)
    for name, fact in sorted(dims.items(), key=lambda one: _GLOB in one[0]):
        glob, colon, dimension = name.partition(_GLOB)
        pattern = f"{glob}{SUFFIX}".removeprefix("./")
        below = "/" in pattern and fnmatchcase(path.as_posix(), f"*/{pattern}")
        if not colon:
            facts[name] = fact
        elif below or fnmatchcase(path.as_posix(), pattern) or fnmatchcase(path.name, pattern):
            facts[dimension] = fact
    return facts


def facts_of_each(
    models: Sequence[str], about: About, shapes: Shapes | None = None
) -> tuple[list[About], list[str]]:
    """What is said of each model, with the facts that follow from `shapes` of inputs; and notes.

    With several models, what one of them lacks is left out there, with a note. Raises RequestError
    where no model has it, and for a shape that one cannot have. Standard input, which can be read
    only once, has to have everything.
    """
    dims, shapes = about.dims or {}, shapes or {}
    globs = [about.nodes] if isinstance(about.nodes, str) else list(about.nodes or ())
    for name in dims:
        if not any(dims_for(model, {name: 1}) for model in models):
            raise RequestError(f"the fact '{name}' is about no model here: no file matches it")
    if shapes and STANDARD in models:
        raise RequestError("standard input is read once: say its sizes with --dim NAME=SIZE")
    several = len(models) > 1 and STANDARD not in models
    each: list[About] = []
    having: dict[str, list[bool]] = {}
    for model in models:
        facts, own, nodes = dims_for(model, dims), shapes, about.nodes
        looks = shapes or (several and (facts or globs))
        contents = _contents(model, globs) if looks else None
        if contents is not None and several:
            for label, is_there in _present(contents, facts, globs, shapes).items():
                having.setdefault(label, []).append(is_there)
            facts = {name: fact for name, fact in facts.items() if name in contents.dims}
            own = {name: shape for name, shape in shapes.items() if name in contents.inputs}
            nodes = contents.globs if globs else None
        if contents is not None:
            facts = _with_shapes(model, facts, own, contents.inputs)
        each.append(About(facts if dims or shapes else None, nodes))
    for label, found_there in having.items():
        if not any(found_there):
            raise RequestError(f"no model has {label}: onnxpad inspect lists what there is")
    return each, [
        f"{label} is in {sum(there)} of {len(there)} models, and left out of the others"
        for label, there in having.items()
        if not all(there)
    ]


def _present(
    contents: Contents, facts: Collection[str], globs: Sequence[str], shapes: Shapes
) -> dict[str, bool]:
    """Whether a model has what is said of it, by a name for messages."""
    dims = {f"a dimension '{name}'": name in contents.dims for name in facts}
    nodes = {f"a padded node that matches '{glob}'": glob in contents.globs for glob in globs}
    return dims | nodes | {f"an input '{name}'": name in contents.inputs for name in shapes}


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


def _with_shapes(
    model: str, dims: Mapping[str, Fact], shapes: Shapes, sizes: Mapping[str, Any]
) -> dict[str, Fact]:
    from onnxpad.model.shapes.input_shapes import facts_of_shapes  # loads onnx

    try:
        return facts_of_shapes(sizes, shapes, dims)
    except RequestError as error:
        raise RequestError(f"{model}: {error}") from None
