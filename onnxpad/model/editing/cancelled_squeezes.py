"""A new Unsqueeze that would take back a Squeeze in front of its node: neither is needed."""

from __future__ import annotations

from typing import NamedTuple

from onnxpad.model.editing.names import Names, next_key, stem
from onnxpad.model.editing.script import Edit, InsertNode, SetInput, SetOutput
from onnxpad.model.graph.context import Context, is_stored
from onnxpad.model.graph.nodes import Address, Node
from onnxpad.model.graph.scopes import address_of
from onnxpad.model.reading.crossing import BINARY, CONVERSIONS, MAX_STEPS, RULES, data_position
from onnxpad.model.reading.quantised import is_in_blocks
from onnxpad.padding.expansion import Named, Numbers, Read, Step
from onnxpad.padding.operators import PLAIN_DOMAINS

_CHANNELS = 1
_WITH_SCALARS = BINARY | CONVERSIONS | {"PRelu"}
_BY_CELL = RULES.keys() | CONVERSIONS | {"Softplus", "Reciprocal", "Log", "HardSwish", "Not"}


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
    axes = _axes_of_step(step)
    source = step.inputs[0] if axes else None
    if not isinstance(source, Read | Named) or axes is None:
        return None
    name = node.inputs[source.position] if isinstance(source, Read) else source.tensor
    found = _squeezed_by(context, name, axes, far=far)
    if found is None:
        return None
    scope, data = context.scope, found.squeeze.inputs[0]
    edits: list[Edit] = []
    squeezes = [address_of(scope, found.squeeze)]
    for one in found.way:
        address = address_of(scope, one)
        edits.append(SetInput(address, data_position(context, one), data))
        data = names.new(f"{stem(one)}/{one.outputs[0]}_inner")
        behind = _squeeze_behind(context, one, data, found.squeeze, names)
        edits += [SetOutput(address, 0, data), behind]
        squeezes.append(behind.address)
    return Cancelled(data, tuple(edits), tuple(reversed(squeezes)))


def _axes_of_step(step: Step) -> tuple[int, ...] | None:
    """The axes of an Unsqueeze, None for any other step."""
    if step.op_type != "Unsqueeze" or step.domain:
        return None
    listed = step.inputs[1] if len(step.inputs) > 1 else None
    found = listed.values if isinstance(listed, Numbers) else dict(step.attributes).get("axes")
    return tuple(sorted(map(int, found))) if isinstance(found, tuple) else None


class _Squeezed(NamedTuple):
    """A Squeeze, and what stands between it and a tensor: `way` from the Squeeze on."""

    squeeze: Node
    way: tuple[Node, ...] = ()


def _squeezed_by(
    context: Context, name: str, axes: tuple[int, ...], *, far: bool
) -> _Squeezed | None:
    """The Squeeze of `axes` of which tensor `name` holds the result.

    With `far` also where operators that give the same cells at any rank stand in between, and at
    most one of the tensors from the Squeeze on is read by others: a Squeeze more for each of
    these would undo what is won.
    """
    scope, way = context.scope, list[Node]()
    shared = 0
    while True:
        maker = scope.producers.get(name)
        if maker is None:
            return None
        shared += scope.uses.get(name, 0) > 1
        if way and shared > 1:
            return None
        if maker.op_type == "Squeeze" and maker.domain in PLAIN_DOMAINS:
            found = _Squeezed(maker, tuple(reversed(way)))
            return found if _axes(context, maker) == axes else None
        if not far or len(way) == MAX_STEPS or not _same_at_any_rank(context, maker, axes):
            return None
        way.append(maker)
        name = maker.inputs[data_position(context, maker)]


def _axes(context: Context, node: Node) -> tuple[int, ...] | None:
    """The axes of a Squeeze counted from the front, where every call of a function has these."""
    if any(one.ref_attr_name for one in node.proto.attribute):
        return None
    axes: object = context.attributes(node).get("axes")
    if len(node.inputs) > 1:
        known = context.constant(node.inputs[1]) if is_stored(context, node.inputs[1]) else None
        axes = None if known is None else tuple(known.reshape(-1).tolist())
    if not isinstance(axes, tuple):
        return None
    dims = context.type_of(node.inputs[0]).dims
    if min(axes, default=0) < 0 and dims is None:
        return None
    return tuple(sorted(axis + len(dims or ()) * (axis < 0) for axis in axes))


def _same_at_any_rank(context: Context, node: Node, axes: tuple[int, ...]) -> bool:
    """Whether an operator gives the same cells where its data has more `axes` of size 1."""
    known = node.op_type in _BY_CELL or _normalises_channels(context, node, axes)
    if not known or node.domain not in PLAIN_DOMAINS or not node.inputs:
        return False
    if any(context.scope.uses.get(name) for name in node.outputs[1:]):
        return False
    if node.op_type not in _WITH_SCALARS:
        return True
    if node.op_type in CONVERSIONS and is_in_blocks(context.attributes(node)):
        return False
    data = data_position(context, node)
    others = [name for position, name in enumerate(node.inputs) if position != data and name]
    return all(_is_scalar(context, name) for name in others)


def _normalises_channels(context: Context, node: Node, axes: tuple[int, ...]) -> bool:
    """Whether it is a BatchNormalization of channels: before opset 9 there is one of cells."""
    if node.op_type != "BatchNormalization" or min(axes) <= _CHANNELS:
        return False
    return context.attributes(node).get("spatial", 1) == 1


def _is_scalar(context: Context, name: str) -> bool:
    return is_stored(context, name) and context.type_of(name).dims in ((), (1,))


def _squeeze_behind(
    context: Context, maker: Node, data: str, squeeze: Node, names: Names
) -> InsertNode:
    """A Squeeze that makes of `data` what `maker` made."""
    written = context.attributes(squeeze).get("axes")
    axes = tuple(int(n) for n in written) if isinstance(written, tuple) else ()
    return InsertNode(
        address_of(context.scope, maker),
        next_key(context.scope),
        "Squeeze",
        names.new(f"{stem(maker)}/squeeze"),
        (data, *squeeze.inputs[1:]),
        (maker.outputs[0],),
        (("axes", axes),) if axes else (),
        behind=True,
    )
