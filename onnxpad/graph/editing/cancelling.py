"""Squeeze and Unsqueeze of the same axes, which take each other back."""

from __future__ import annotations

from typing import NamedTuple

from onnxpad.expansion import Named, Numbers, Read, Step
from onnxpad.graph.editing.edits import Edit, InsertNode, SetInput, SetOutput
from onnxpad.graph.editing.naming import Names, next_key, stem
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.crossing import data_position
from onnxpad.graph.reading.ordering import Address, Node
from onnxpad.graph.reading.scopes import address_of
from onnxpad.graph.reading.squeezes import squeezed_by


class Cancelled(NamedTuple):
    """What an Unsqueeze would make is `tensor` after `edits`.

    `squeezes` are nodes that go where nothing else reads them.
    """

    tensor: str
    edits: tuple[Edit, ...]
    squeezes: tuple[Address, ...]


def cancelled(
    context: Context, node: Node, step: Step, names: Names, *, far: bool
) -> Cancelled | None:
    """What takes the place of a new Unsqueeze of what `node` reads; None where it is needed.

    With `far`, operators that work cell by cell between it and a Squeeze compute with all axes
    then, and the Squeeze stands behind each of them for others that read it.
    """
    axes = _axes(step)
    source = step.inputs[0] if axes else None
    if not isinstance(source, Read | Named) or axes is None:
        return None
    name = node.inputs[source.position] if isinstance(source, Read) else source.tensor
    found = squeezed_by(context, name, axes, far=far)
    if found is None:
        return None
    scope, data = context.scope, found.squeeze.inputs[0]
    edits: list[Edit] = []
    squeezes = [address_of(scope, found.squeeze)]
    for one in found.way:
        place = address_of(scope, one)
        edits.append(SetInput(place, data_position(context, one), data))
        data = names.new(f"{stem(one)}/{one.outputs[0]}_inner")
        behind = _squeeze_behind(context, one, data, found.squeeze, names)
        edits += [SetOutput(place, 0, data), behind]
        squeezes.append(Address(place.scope, behind.key, behind.name))
    return Cancelled(data, tuple(edits), tuple(reversed(squeezes)))


def _axes(step: Step) -> tuple[int, ...] | None:
    """The axes of an Unsqueeze, None for any other step."""
    if step.op_type != "Unsqueeze" or step.domain:
        return None
    listed = step.inputs[1] if len(step.inputs) > 1 else None
    found = listed.values if isinstance(listed, Numbers) else dict(step.attributes).get("axes")
    return tuple(sorted(map(int, found))) if isinstance(found, tuple) else None


def _squeeze_behind(
    context: Context, one: Node, data: str, squeeze: Node, names: Names
) -> InsertNode:
    """A Squeeze that makes of `data` what `one` made."""
    written = context.attributes(squeeze).get("axes")
    axes = tuple(int(n) for n in written) if isinstance(written, tuple) else ()
    return InsertNode(
        address_of(context.scope, one),
        next_key(context.scope),
        "Squeeze",
        names.new(f"{stem(one)}/squeeze"),
        (data, *squeeze.inputs[1:]),
        (one.outputs[0],),
        (("axes", axes),) if axes else (),
        behind=True,
    )
