"""The Pads in front of an operator, seen through operators that hand on what they read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from onnx import FunctionProto

from onnxpad.errors import ModelError
from onnxpad.geometry.budgets import IN_A_ROW, READERS
from onnxpad.model.graph.attributes import bindings_of
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import Scope
from onnxpad.model.reading.crossing import data_position, hands_on
from onnxpad.model.reading.optimised import vanishes
from onnxpad.model.reading.pads import hangs_on_sizes, is_pad, read_pad
from onnxpad.model.reading.readers_for_fusion import readers_behind
from onnxpad.padding.chain import Chain, InFront, Pads, PadStep, Unclear


class _Reached(NamedTuple):
    """A tensor in a scope, seen from behind: which of its axes each axis of the operator is."""

    context: Context
    name: str
    order: tuple[int, ...] | None = None
    idle_uses: int = 0

    @property
    def key(self) -> tuple[str, str]:
        owner = self.context.scope.owner(self.name)
        return (self.context.scope if owner is None else owner).id, self.name


ReadChain = Callable[[Context, Node, "Gone"], Chain | None]
Readers = Callable[[Context, Node, str, "Gone"], "Sequence[Reader]"]
Gone = frozenset[tuple[str, str]]
NONE_GONE: Gone = frozenset()


class _Twins(NamedTuple):
    """Nodes that onnxruntime makes one of, and such as make results of the graph, which stay."""

    made_one: int
    results: int


def row_in_front(
    context: Context,
    node: Node,
    name: str,
    rank: int,
    gone: Gone,
    *,
    far: bool = False,
) -> tuple[InFront, ...]:
    """Pads behind which `node` reads the tensor `name` of `rank` axes, the nearest first.

    Only what hands on its data stands between them. `gone` are tensors that have one reader less
    than the model says. `far`: they are followed to the last where nothing else reads them.
    """
    reached: _Reached | None = _Reached(context, name, tuple(range(rank)))
    found: list[InFront] = []
    pads: list[tuple[Context, Node]] = []
    untold, readers, reading = False, 1, (context, node, name)
    equal = _twins(*reading).results
    for number in count():
        if reached is None or _ends(reached.context, reached.name):
            break
        far &= reached.context.scope.uses.get(reached.name, 0) == 1
        if number >= IN_A_ROW and not far:
            break
        readers = max(readers, _readers(reached, gone) - _twins(*reading).made_one)
        maker = reached.context.scope.producers.get(reached.name)
        if maker is None or _holds_graph(reached.context, maker):
            outer = _outside(reached, maker)
            call = reached.context.call
            if outer is not None and call is not None and outer.context is reached.context.caller:
                reading = (outer.context, call, outer.name)
                equal += _twins(*reading).results
            reached = outer
        elif is_pad(maker):
            entry = replace(_entry(reached, maker, rank), readers=readers, untold=untold)
            found.append(replace(entry, equal_results=equal))
            pads.append((reached.context, maker))
            reading = (reached.context, maker, maker.inputs[0])
            reached = reached._replace(name=maker.inputs[0], idle_uses=0)
            readers, untold, equal = 1, False, 0
        else:
            untold |= maker.op_type == "Expand"
            reached = _before(reached, maker)
    turned: dict[int, bool] = {}
    for place in range(len(found) - 1, -1, -1):  # each knows of the next one behind it
        if _follows_transpose(*pads[place], turned):
            found[place] = replace(found[place], follows_transpose=True)
    return tuple(found)


def _ends(context: Context, name: str) -> bool:
    """Whether no Pad can stand in front: its readers, which may be thousands, need no count."""
    maker = context.scope.producers.get(name)
    if maker is None:
        return name in context.scope.initializers
    return not (_holds_graph(context, maker) or is_pad(maker) or vanishes(context, maker))


def _holds_graph(context: Context, node: Node) -> bool:
    """Whether it calls a local function, or is an If whose branch is known."""
    is_known_if = node.op_type == "If" and context.branch(node) is not None
    return is_known_if or context.document.function(node) is not None


def _entry(reached: _Reached, pad: Node, rank: int) -> InFront:
    step = _in_order(read_pad(reached.context, pad, rank), reached.order)
    return InFront(
        step,
        order=() if reached.order == tuple(range(rank)) else reached.order or (-1,),
        at_run_time=_at_run_time(reached.context, pad, step),
        copied_out=copied_out(reached.context, pad.inputs[0]),
        key=(reached.context.scope.id, pad.key),
    )


def copied_out(context: Context, name: str) -> bool:
    """Whether a node's output has two readers, one of them an Identity that makes a result."""
    scope = context.scope
    if scope.uses.get(name, 0) != 2 or name not in scope.producers or name in scope.outputs:
        return False
    copies = [one.outputs[0] for one in context.readers(name) if one.op_type == "Identity"]
    return len(copies) == 1 and _is_result(context, copies[0])


def _is_result(context: Context, name: str) -> bool:
    """Whether Identities alone lie between a tensor and a result of the graph."""
    for _ in range(IN_A_ROW):
        if name in context.scope.outputs or context.scope.uses.get(name, 0) != 1:
            break
        readers = context.readers(name)
        if not readers or readers[0].op_type != "Identity":
            break
        name = readers[0].outputs[0]
    return name in context.scope.outputs and context.scope.uses.get(name, 0) == 1


def chains_behind(context: Context, pad: Node, read: ReadChain) -> tuple[Chain, ...]:
    """The operators that read a Pad, through others that hand on what they read."""
    if not pad.outputs:
        return ()
    rows = readers_behind(context, pad.outputs[0])
    found = (read(inner, reader, NONE_GONE) for inner, reader in rows)
    return tuple(one for one in found if one is not None)


def _readers(reached: _Reached, gone: Gone) -> int:
    """Places that read a tensor; of the branches of an If that is settled, the one taken."""
    scope = reached.context.scope
    if not scope.defines(reached.name):
        return 0
    uses = scope.uses.get(reached.name, 0) - (reached.key in gone) - reached.idle_uses
    return uses - _unread(reached.context, reached.name) if uses > 1 else uses


def _unread(context: Context, name: str) -> int:
    """Readers that hand a tensor on to nobody."""
    if name not in context.ends:
        uses = context.scope.uses
        readers = context.readers(name)
        ends = [one for one in readers if one.outputs and not any(map(uses.get, one.outputs))]
        context.ends[name] = 0, ends
    settled, waiting = context.ends[name]
    later = []
    for one in waiting:
        if one.op_type == "Cast" and not context.type_of(one.outputs[0]).dtype:
            later.append(one)  # its type is read behind it
        else:
            settled += hands_on(context, one)
    context.ends[name] = settled, later
    return settled


def _twins(context: Context, node: Node, name: str) -> _Twins:
    """The other nodes that compute what `node` does."""
    if context.scope.uses.get(name, 0) < 2:
        return _Twins(0, 0)
    if name not in context.alike:
        found = context.alike[name] = Counter[tuple[bool, tuple[object, ...]]]()
        results = _results(context)
        for one in context.readers(name):
            found[not results.isdisjoint(one.outputs), _written(context, one)] += 1
    written = _written(context, node)
    results_of_graph, others = (context.alike[name][made, written] for made in (True, False))
    apart = max(results_of_graph, 1)
    return _Twins(max(others + results_of_graph - apart, 0), apart - 1)


def _results(context: Context) -> frozenset[str]:
    """Tensors of the scope that are results of the graph, a function being part of its caller."""
    scope, call = context.scope, context.call
    if call is None or context.caller is None or not isinstance(scope.proto, FunctionProto):
        return scope.outputs
    results, own = _results(context.caller), scope.proto.output
    return frozenset(one for one, name in zip(own, call.outputs, strict=False) if name in results)


def _written(context: Context, node: Node) -> tuple[object, ...]:
    """What a node says; of a Pad the numbers that it reads, whatever their names."""
    attributes = tuple(sorted(one.SerializeToString() for one in node.proto.attribute))
    read: list[object] = list(node.inputs)
    if is_pad(node):
        for position, name in enumerate(node.inputs[1:], 1):
            found = context.constant(name) if name else None
            read[position] = (
                name if found is None else (found.dtype.str, found.shape, found.tobytes())
            )
    return (node.domain, node.op_type, tuple(read), attributes)


def _outside(reached: _Reached, maker: Node | None) -> _Reached | None:
    """Where a tensor comes from that no plain node of the scope makes."""
    context, name = reached.context, reached.name
    scope = context.scope
    if maker is not None and (inside := context.in_branch(maker, name)) is not None:
        return reached._replace(context=inside[0], name=inside[1], idle_uses=0)
    if maker is not None:
        return _inside_function(reached, maker)
    if name in scope.initializers:
        return None
    if name not in scope.input_places:
        return _around_body(reached)
    if context.call is None or context.caller is None or not scope.is_function:
        return None
    given = context.call.input(scope.input_places[name])
    return reached._replace(context=context.caller, name=given, idle_uses=0) if given else None


def _around_body(reached: _Reached) -> _Reached | None:
    """The graph around branches of Ifs whose conditions are known that defines the tensor."""
    found = _defined_around(reached.context, reached.name)
    if found is None:
        return None
    outer, idle = found
    return reached._replace(context=outer, idle_uses=reached.idle_uses + idle)


def _defined_around(branch: Context, name: str) -> tuple[Context, int] | None:
    """Where a tensor of an outer graph is defined, and how often branches beside read it.

    Each branch asks once, so that a tree of Ifs costs no more than it has branches.
    """
    if name not in branch.defined_around:
        outer, found = branch.outer, None
        beside = None if outer is None else _uses_beside(outer, branch.scope, name)
        if outer is not None and beside is not None:
            further = (outer, 0) if outer.scope.defines(name) else _defined_around(outer, name)
            found = further and (further[0], further[1] + beside)
        branch.defined_around[name] = found
    return branch.defined_around[name]


def _uses_beside(outer: Context, branch: Scope, name: str) -> int | None:
    """How often branches that are not taken read a tensor; None where that is not known."""
    node = branch.holder
    if node is None or node.op_type != "If" or outer.constant(node.inputs[0]) is None:
        return None
    others = (body for _, body in outer.scope.children[node.key] if body is not branch)
    return sum(_uses_in(body, name) for body in others)


def _uses_in(scope: Scope, name: str) -> int:
    inner = (body for bodies in scope.children.values() for _, body in bodies)
    own = sum(node.inputs.count(name) for node in scope.nodes) + (name in scope.outputs)
    return own + sum(_uses_in(body, name) for body in inner)


def _inside_function(reached: _Reached, call: Node) -> _Reached | None:
    context = reached.context
    function = context.document.function(call)
    if function is None or not isinstance(function.proto, FunctionProto):
        return None
    given = bindings_of(call.proto, context.bindings, function.proto.attribute_proto)
    inner = Context(context.document, function, context.folder, None, context, call, given)
    inner.types.update(
        (own, context.type_of(name))
        for own, name in zip(function.inputs, call.inputs, strict=False)
    )
    position = call.outputs.index(reached.name)
    name = function.proto.output[position]
    return reached._replace(context=inner, name=name, idle_uses=0)


def _before(reached: _Reached, maker: Node) -> _Reached:
    order = reached.order
    if maker.op_type == "Transpose" and order is not None:
        rank = len(order)
        perm = reached.context.attributes(maker).get("perm", tuple(reversed(range(rank))))
        fits = isinstance(perm, tuple) and sorted(perm) == list(range(rank))
        order = tuple(int(perm[axis]) for axis in order) if fits else None  # type: ignore[index]
    name = maker.inputs[data_position(reached.context, maker)]
    return reached._replace(name=name, order=order, idle_uses=0)


def _in_order(step: PadStep, order: tuple[int, ...] | None) -> PadStep:
    if order is None or len(step.pads.begins) != len(order):
        return replace(step, unclear=step.unclear or Unclear("its axes are not known"))
    begins, ends = (
        tuple(side[axis] for axis in order) for side in (step.pads.begins, step.pads.ends)
    )
    return replace(step, pads=Pads(begins, ends))


def _follows_transpose(context: Context, pad: Node, answers: dict[int, bool]) -> bool:
    """Whether a Transpose stands in front of a Pad; `answers` are those of Pads, by key."""
    follows = False
    for maker in context.makers(pad.inputs[0], data_position):
        if maker.key in answers:
            follows = answers[maker.key]
            break
        if not (is_pad(maker) or vanishes(context, maker)):
            break
        if follows := maker.op_type == "Transpose":
            break
    answers[pad.key] = follows
    return follows


def _at_run_time(context: Context, pad: Node, step: PadStep) -> bool:
    """Whether its pads hang on sizes, and the file leaves some size open."""
    if not step.computed or not hangs_on_sizes(context, pad.inputs[1:], doubtful=False):
        return False
    shapes = (value.type.tensor_type.shape for value in context.document.model.graph.input)
    return not all(dim.HasField("dim_value") for shape in shapes for dim in shape.dim)


class Reader(NamedTuple):
    """An operator that reads a tensor; `as_data` where it reads it nowhere else as well."""

    scope: Scope
    node: Node
    as_data: bool
    chain: Chain


def readers_of(context: Context, name: str, gone: Gone, read: ReadChain) -> list[Reader]:
    """The operators that read a tensor, as they are when it has one reader less.

    Raises ModelError where they are so many that each cannot be seen beside all others.
    """
    less, found = gone | {(context.scope.id, name)}, []
    for inner, reader in readers_behind(context, name):
        chain = read(inner, reader, less)
        if chain is not None:
            found.append(Reader(inner.scope, reader, name not in reader.inputs[1:], chain))
        if len(found) > READERS.most:
            raise ModelError(READERS.reason(f"'{name}'"))
    return found


def siblings(
    context: Context, node: Node, names: Sequence[str], readers: Readers, gone: Gone
) -> tuple[Chain, ...]:
    """Operators that also read one of the tensors `names`, as they are when `node` reads none.

    `names` lead from what `node` reads to the Pad.
    """
    return tuple(
        one.chain
        for name in names
        if context.scope.uses.get(name, 0) > 1
        for one in readers(context, node, name, gone)
        if not (one.as_data and one.scope is context.scope and one.node.key == node.key)
    )
