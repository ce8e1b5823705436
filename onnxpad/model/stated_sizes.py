"""What an edited model says of sizes: those that its user stated, and those downstream of edits."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import prod
from typing import Literal

from onnx import GraphProto, ValueInfoProto

from onnxpad.geometry.size import stated_names
from onnxpad.geometry.size_fact import SizeFact, Told
from onnxpad.model.editing.script import Edit, FixSize, Resize, SetMetadata
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import constant_integers
from onnxpad.model.graph.nodes import Address, Node, NodeId
from onnxpad.model.graph.scopes import Document, Scope
from onnxpad.model.opened import Model
from onnxpad.model.reading.by_the_text import objection
from onnxpad.model.reading.reader import read
from onnxpad.model.shapes.dimensions import Dimensions
from onnxpad.model.shapes.input_shapes import input_sizes
from onnxpad.model.shapes.recorded_facts import HOLDS_WHERE
from onnxpad.padding.operators import PLAIN_DOMAINS

Facts = Mapping[str, Told]
Dims = tuple[int | str, ...]
Keep = Literal["uncontradicted", "confirmed", "none"]


def stated(model: Model, script: Sequence[Edit], facts: Facts, *, whole: bool) -> list[Edit]:
    """Edits after which the model itself says what its user stated of sizes.

    A size of an input goes into its type, and everything else into the metadata, which only a
    `whole` model has.
    """
    edits: list[Edit] = []
    others: list[str] = []
    named = {size for sizes in input_sizes(model).values() for size in sizes or ()}
    for name, told in facts.items():
        edit = _fix(name, told)
        if edit is None or not (edit in script or name in named):
            others.append(SizeFact.read(name, told).of(name))
        elif edit not in script:
            edits.append(edit)
    if others and whole:
        before = next((one.value for one in model.metadata_props if one.key == HOLDS_WHERE), "")
        said = dict.fromkeys([*filter(None, before.split(", ")), *others])
        edits.append(SetMetadata(HOLDS_WHERE, ", ".join(said)))
    return edits


def _fix(name: str, told: Told) -> FixSize | None:
    size = SizeFact.read(name, told).number
    return FixSize(name, size) if size else None


def stale_sizes(document: Document, edited: Sequence[Address], keep: Keep) -> list[Resize]:
    """Edits that leave stated sizes open, of what edited nodes make and what depends on it.

    keep: the sizes that stay: those that the shape rules do not contradict, those that they
        confirm, or none, as where onnx's inference, which checkers use, may find others.
    """
    touched = _hanging(document, {one.id for one in edited})
    inferred = {} if keep == "none" else inferred_sizes(document)
    edits = []
    for scope in document.scopes.values():
        for value in _stated(scope):
            own, name = _dims(value), value.name
            given = name in scope.input_places or name in scope.initializers
            if own is None or given or name not in touched:
                continue
            left = _still_true(own, inferred.get(scope.id, {}).get(name), keep)
            if left != own:
                edits.append(Resize(Address(scope.id, -1, name), name, left))
    return edits


def _still_true(own: Dims, now: Dims | None, keep: Keep) -> Dims:
    """Stated sizes, '' at axes where they may be false: the shape rules find `now`."""
    if now is None:
        return own if keep == "uncontradicted" else ("",) * len(own)
    if len(own) != len(now):
        return ("",) * len(now)
    is_open = any if keep == "uncontradicted" else all
    return tuple(
        one if one == other or is_open((isinstance(one, str), isinstance(other, str))) else ""
        for one, other in zip(own, now, strict=True)
    )


def _stated(scope: Scope) -> Iterator[ValueInfoProto]:
    yield from scope.proto.value_info
    if isinstance(scope.proto, GraphProto):
        yield from scope.proto.output


def _dims(value: ValueInfoProto) -> Dims | None:
    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    return tuple(
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param for dim in tensor.shape.dim
    )


def _hanging(document: Document, edited: Collection[NodeId]) -> set[str]:
    """What edited nodes make, and what hangs on it, in bodies and functions as well."""
    touched, known = set[str](), -1
    while known < len(touched):
        known = len(touched)
        for scope in document.scopes.values():
            for node in scope.ordered():
                bodies = [body for _, body in scope.children.get(node.key, ())]
                called = document.function(node)
                if (scope.id, node.key) in edited or not touched.isdisjoint(node.inputs):
                    for body in [*bodies, called] if called else bodies:
                        touched.update(body.inputs)
                elif all(touched.isdisjoint(body.outputs) for body in bodies):
                    continue
                touched.update(filter(None, node.outputs))
    return touched


def inferred_sizes(document: Document) -> dict[str, dict[str, Dims]]:
    """Sizes by scope and tensor that follow from the inputs alone, not from what the file states.

    A size without a number has its name where an input states that name, and '' elsewhere.
    """
    contexts = read(document, Dimensions(), stated=False)
    return {
        context.scope.id: {
            name: stated_names(type_.dims)
            for name, type_ in context.types.items()
            if type_.dims is not None
        }
        for context in contexts
    }


def breaks(contexts: Sequence[Context]) -> tuple[str, ...]:
    """Nodes whose inputs do not fit together, as onnx says of each alone."""
    found = (
        f"{node.op_type} '{node.name}': {why}"
        for context in contexts
        for node in context.scope.ordered()
        if (why := objection(context, node) or _lost_cells(context, node))
    )
    return tuple(dict.fromkeys(found))


def _lost_cells(context: Context, node: Node) -> str:
    """What is wrong with a Reshape to a fixed number of cells that its input does not have."""
    if node.op_type != "Reshape" or node.domain not in PLAIN_DOMAINS or len(node.inputs) < 2:
        return ""
    wanted = constant_integers(context, node.inputs[1]) or ()
    sizes = context.type_of(node.inputs[0]).dims or ()
    cells = [size for size in sizes if isinstance(size, int)]
    if len(cells) < len(sizes) or not sizes or min(wanted, default=0) <= 0:
        return ""
    if prod(cells) == prod(wanted):
        return ""
    return f"{prod(cells)} cells do not fit into {list(wanted)}"
