"""What an edited model says of the sizes that its user stated and that the edits relied on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from onnxpad.errors import OnnxpadError
from onnxpad.geometry.size_fact import SizeFact, Told
from onnxpad.model.editing.script import Edit, FixSize, SetMetadata
from onnxpad.model.opened import Model
from onnxpad.model.shapes.recorded_facts import HOLDS_WHERE

Facts = Mapping[str, Told]


def relied_on(
    script: Sequence[Edit], facts: Facts, again: Callable[[Facts], bool]
) -> dict[str, Told]:
    """Of `facts` so few that `again` says that the same comes of them alone.

    A size that the script itself writes into the model counts as relied on.
    """
    needed = {name: told for name, told in facts.items() if _fix(name, told) in script}
    rest = {name: fact for name, fact in facts.items() if name not in needed}
    if not rest or _alike(needed, again):
        return needed
    kept = dict(facts)
    for name in rest:
        fewer = {other: fact for other, fact in kept.items() if other != name}
        if len(rest) > 1 and _alike(fewer, again):
            kept = fewer
    return kept


def _alike(facts: Facts, again: Callable[[Facts], bool]) -> bool:
    try:
        return again(facts)
    except OnnxpadError:  # with less known it is not even possible
        return False


def stated(model: Model, script: Sequence[Edit], facts: Facts, *, whole: bool) -> list[Edit]:
    """Edits after which the model itself says what its script relied on.

    A size of an input goes into its type, and everything else into the metadata, which only a
    `whole` model has.
    """
    sizes = [edit for name, told in facts.items() if (edit := _fix(name, told))]
    sizes = [edit for edit in sizes if edit in script or _names_an_input(model, edit.dimension)]
    written = {edit.dimension for edit in sizes}
    others = [
        SizeFact.read(name, told).of(name) for name, told in facts.items() if name not in written
    ]
    edits: list[Edit] = [edit for edit in sizes if edit not in script]
    if others and whole:
        before = next((one.value for one in model.metadata_props if one.key == HOLDS_WHERE), "")
        said = dict.fromkeys([*filter(None, before.split(", ")), *others])
        edits.append(SetMetadata(HOLDS_WHERE, ", ".join(said)))
    return edits


def _fix(name: str, told: Told) -> FixSize | None:
    size = SizeFact.read(name, told).number
    return FixSize(name, size) if size else None


def _names_an_input(model: Model, dimension: str) -> bool:
    return any(
        dimension in (dim.dim_param, f"{value.name}[{axis}]")
        for value in model.graph.input
        for axis, dim in enumerate(value.type.tensor_type.shape.dim)
    )
