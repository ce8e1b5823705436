"""Which facts and globs are about which models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from onnxpad.batch.inputs import STANDARD, SUFFIX
from onnxpad.errors import OnnxpadError, RequestError

_GLOB = f"{SUFFIX}:"
"""Between the glob over models that a fact is about, and the dimension."""
Fact = int | str
Shapes = Mapping[str, Sequence[int]]


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
    models: Sequence[str],
    dims: Mapping[str, Fact] | None,
    nodes: str | Sequence[str] | None = None,
    shapes: Shapes | None = None,
) -> tuple[list[tuple[Mapping[str, Fact] | None, Sequence[str] | None]], list[str]]:
    """The facts and globs of nodes that are about each model, and notes.

    Facts follow from `shapes` of inputs as well. With several models, what one of them lacks is
    left out there, with a note. Raises RequestError where no model has it, and for a shape that one
    cannot have. Standard input, which can be read only once, has to have everything.
    """
    dims, shapes = dims or {}, shapes or {}
    globs: Sequence[str] = [nodes] if isinstance(nodes, str) else list(nodes or ())
    for name in dims:
        if not any(dims_for(model, {name: 1}) for model in models):
            raise RequestError(f"the fact '{name}' is about no model here: no file matches it")
    if shapes and STANDARD in models:
        raise RequestError("standard input is read once: say its sizes with --dim NAME=SIZE")
    having: dict[str, list[bool]] | None = (
        {} if len(models) > 1 and STANDARD not in models else None
    )
    each: list[tuple[Mapping[str, Fact] | None, Sequence[str] | None]] = []
    for model in models:
        facts, own = dims_for(model, dims), globs
        if shapes or (having is not None and (facts or globs)):
            facts, own = _about(model, facts, globs, shapes, having)
        each.append((facts if dims or shapes else None, own if globs else None))
    notes = []
    for label, there in (having or {}).items():
        if not any(there):
            raise RequestError(f"no model has {label}: onnxpad inspect lists what there is")
        if not all(there):
            models_with = f"{sum(there)} of {len(there)} models"
            notes.append(f"{label} is in {models_with}, and left out of the others")
    return each, notes


def _about(
    model: str,
    facts: dict[str, Fact],
    globs: Sequence[str],
    shapes: Shapes,
    having: dict[str, list[bool]] | None,
) -> tuple[dict[str, Fact], Sequence[str]]:
    """The facts and globs for a model, or, to be told in `having`, those that it has.

    Of one that cannot be read nothing is known: its own turn says why.
    """
    from onnxpad.model.opened import open_model  # loads onnx
    from onnxpad.model.reading.survey import Survey, selection
    from onnxpad.model.shapes.input_shapes import facts_of_shapes, input_sizes

    try:
        opened = open_model(model)
        survey = Survey(opened.model, folder=opened.folder)
    except OnnxpadError:
        return facts, globs
    sizes, dimensions = input_sizes(opened.model), survey.dimension_names
    if having is not None:
        matching = []
        for glob in globs:
            with suppress(RequestError):
                selection(survey, glob)
                matching.append(glob)
        there = {f"a dimension '{name}'": name in dimensions for name in facts}
        there |= {f"a padded node that matches '{glob}'": glob in matching for glob in globs}
        there |= {f"an input '{name}'": name in sizes for name in shapes}
        for label, is_there in there.items():
            having.setdefault(label, []).append(is_there)
        facts = {name: fact for name, fact in facts.items() if name in dimensions}
        shapes = {name: shape for name, shape in shapes.items() if name in sizes}
        globs = matching
    try:
        return facts_of_shapes(sizes, shapes, facts), globs
    except RequestError as error:
        raise RequestError(f"{model}: {error}") from None
