"""Which facts and globs go to which of several models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from onnxpad.cli.outcomes import STANDARD, say
from onnxpad.errors import OnnxpadError, RequestError, brief


class _Addressable(NamedTuple):
    """Dimensions that a model has, and the globs that match a padded node of it."""

    dims: frozenset[str]
    globs: frozenset[str]


def each_request(
    models: Sequence[str], dims: Mapping[str, int | str], nodes: Sequence[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each model with the facts and globs that are about it, as options of a verb.

    With several models, what one of them lacks is a note on standard error, and RequestError only
    where no model has it. Standard input, which can be read only once, has to have everything.
    """
    known: dict[str, _Addressable] = {}
    if len(models) > 1 and (dims or nodes) and STANDARD not in models:
        known = {model: found for model in models if (found := _read(model, nodes)) is not None}
    if known:
        _refuse_what_nobody_has(known, dims, nodes)
    for model in models:
        found = known.get(model, _Addressable(frozenset(dims), frozenset(nodes)))
        facts = {name: fact for name, fact in dims.items() if name in found.dims}
        globs = [glob for glob in nodes if glob in found.globs]
        _note(model, "no dimension is called", [name for name in dims if name not in facts])
        _note(model, "no padded node matches", [glob for glob in nodes if glob not in globs])
        yield model, {"dims": facts, "nodes": globs if nodes else None}


def _refuse_what_nobody_has(
    known: Mapping[str, _Addressable], dims: Mapping[str, int | str], nodes: Sequence[str]
) -> None:
    for name in dims:
        if not any(name in found.dims for found in known.values()):
            names = ", ".join(sorted(set().union(*(found.dims for found in known.values()))))
            raise RequestError(
                f"no model has a dimension '{name}'; named or open dimensions: "
                f"{names or 'none: every size is fixed'}"
            )
    for glob in nodes:
        if not any(glob in found.globs for found in known.values()):
            raise RequestError(
                f"no padded node of any model matches '{glob}': onnxpad inspect lists them"
            )


def _note(model: str, text: str, missing: Sequence[str]) -> None:
    from onnxpad.show.wording import visible

    for name in missing:
        say(brief(visible(f"note: {model}: {text} '{name}', left out here")) + "\n")


def _read(model: str, nodes: Sequence[str]) -> _Addressable | None:
    """None for a model that cannot be read: its own turn says why."""
    from onnxpad.model.opened import open_model
    from onnxpad.model.reading.survey import Survey, selection

    try:
        opened = open_model(model)
        survey = Survey(opened.model, folder=opened.source.folder if opened.source else None)
    except OnnxpadError:
        return None
    globs = set()
    for glob in nodes:
        try:
            selection(survey, glob)
        except RequestError:
            continue
        globs.add(glob)
    return _Addressable(survey.dimension_names, frozenset(globs))
