"""The nearest Pad in front of an operator, as onnxruntime's Pad fusion may see it; coarse.

The way in front of one operator: `nearest_pad` follows its input through operators that the
optimiser may take away, to a Pad or to the border of the graph. What lies beyond a function, or
around a branch, is a Pad that is not known. `document.before_pools` counts, once for each reading,
which tensors reach a pool in the same way, and `document.behind_pads` which come from a Pad.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from onnxpad.geometry.budgets import IN_A_ROW
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import Document
from onnxpad.model.reading.crossing import CROSSABLE, IDLE, data_position, hands_on
from onnxpad.model.reading.pads import is_pad, read_pad
from onnxpad.padding.chain import ELSEWHERE, FURTHER, InFront, Pads, PadStep, RowOfPads
from onnxpad.padding.fills import Constant
from onnxpad.padding.operators import PLAIN_DOMAINS

_NAMED = 8
_POOLS = frozenset({"MaxPool", "AveragePool"})
_MOVES = frozenset({"Cast", "Transpose"})
_RESIZES = frozenset({"Expand", "Slice"})
_NEUTRAL = {"Mul": 1, "Div": 1, "Add": 0, "Sub": 0}
_MAY_VANISH = _MOVES | _RESIZES | _NEUTRAL.keys() | IDLE
_SEEN_THROUGH = CROSSABLE | _MAY_VANISH


def nearest_pad(context: Context, node: Node, rank: int, position: int = 0) -> InFront:
    """The Pad in front of an input of `rank` axes, alone or behind others."""
    name, order = node.inputs[position], tuple(range(rank))
    others: bool | None = False
    crossed: list[str] = []
    for _ in range(IN_A_ROW):
        if name not in context.document.behind_pads:
            break
        more = _has_others(context, name)
        others = more if more or others is False else others
        maker = context.scope.producers.get(name)
        if maker is None or maker.op_type == "If" or context.document.function(maker) is not None:
            unknown = PadStep(Pads.zero(rank), Constant(0), unclear=ELSEWHERE)
            return InFront(unknown, others)
        if is_pad(maker):
            step = replace(_as_seen(context, maker, order), crossed=tuple(crossed))
            return InFront(step, others)
        if not _vanishes(context, maker):
            break
        if maker.op_type == "Transpose":
            order = _permuted(context, maker, order)
        crossed.append(maker.op_type)
        name = maker.inputs[data_position(context, maker)]
    return InFront()


def _permuted(context: Context, transpose: Node, order: tuple[int, ...]) -> tuple[int, ...]:
    """The axes in front of a Transpose; none where its perm does not fit."""
    perm = context.attributes(transpose).get("perm", tuple(reversed(range(len(order)))))
    if not isinstance(perm, tuple) or sorted(perm) != list(range(len(order))):
        return ()
    return tuple(int(perm[axis]) for axis in order)


def _as_seen(context: Context, pad: Node, order: tuple[int, ...]) -> PadStep:
    """A Pad with those in front of it that add up, its axes in the operator's order."""
    step = read_pad(context, pad, len(order) or None)
    row = row_of_pads(context, pad.outputs[0], len(order))
    source = pad.inputs[0] if row is None else row.source
    if row is not None and _pads_windows_alone(row.whole.pads):
        step = row.whole
    if len(step.pads.begins) != len(order):
        return replace(step, unclear=step.unclear or FURTHER)
    if step.unclear is None and follows_pad(context, source):
        step = replace(step, unclear=FURTHER)
    return replace(step, pads=Pads.of([step.pads.sides[axis] for axis in order]))


def _pads_windows_alone(pads: Pads) -> bool:
    """Whether it adds cells to spatial axes, and does nothing else."""
    return min(pads.flat, default=0) >= 0 and not any(pads.begins[:2] + pads.ends[:2])


def _has_others(context: Context, name: str) -> bool | None:
    """Whether operators of several kinds read a tensor; None where several of one kind do.

    onnxruntime makes one of equal ones.
    """
    scope = context.scope
    if not scope.defines(name) or scope.uses.get(name, 0) <= 1:
        return False
    if name not in context.shared:
        readers = context.readers(name)
        elsewhere = scope.uses[name] > sum(one.inputs.count(name) for one in readers)
        kinds = {one.op_type for one in readers} - IDLE
        context.shared[name] = len(kinds) + elsewhere > 1
    return context.shared[name] or None


def is_copied_out(context: Context, name: str) -> bool:
    """Whether a node's output has two readers, one of them an Identity that makes a result."""
    scope = context.scope
    if scope.uses.get(name, 0) != 2 or name not in scope.producers or name in scope.outputs:
        return False
    copies = (one for one in context.readers(name) if one.op_type == "Identity")
    return any(one.outputs[0] in scope.outputs for one in copies)


def follows_pad(context: Context, name: str) -> bool:
    """Whether a tensor may come from a Pad that may be fused."""
    maker = context.scope.producers.get(name)
    mode = "constant" if maker is None else context.attributes(maker).get("mode", "constant")
    return name in context.document.behind_pads and mode == "constant"


def row_of_pads(context: Context, name: str, rank: int) -> RowOfPads | None:
    """The Pads in front of a tensor that add up, and what they do together; None without any.

    Each row is read once, and told of the Pads behind it.
    """
    waiting: list[Node] = []
    producers = context.scope.producers
    maker = producers.get(name)
    while maker is not None and is_pad(maker) and maker.outputs[0] not in context.rows:
        waiting.append(maker)
        maker = producers.get(maker.inputs[0])
    for one in reversed(waiting):
        context.rows[one.outputs[0]] = _row(context, one, rank)
    return context.rows.get(name)


def _row(context: Context, maker: Node, rank: int) -> RowOfPads | None:
    """The row that ends with a Pad, from that of the Pad in front of it."""
    step = read_pad(context, maker, rank)
    if step.unclear or step.mode != "constant":
        return None
    source = maker.inputs[0]
    front = context.rows.get(source)
    together = None if front is None else _sum(front.whole, step)
    if front is None or together is None:
        return RowOfPads(step, source)
    names = (f"Pad '{maker.name or maker.outputs[0]}'", *front.names)[:_NAMED]
    reach = front.to_pools or others_reach_pools(context, [(source, maker)])
    return RowOfPads(together, front.source, names, reach)


def _sum(first: PadStep, second: PadStep) -> PadStep | None:
    """Two Pads as one; None where they differ, or the second adds to what the first cropped."""
    sides = list(zip(first.pads.flat, second.pads.flat, strict=True))
    if any(one < 0 < other for one, other in sides):
        return None
    adds = [any(pad > 0 for pad in step.pads.flat) for step in (first, second)]
    if all(adds) and first.fill != second.fill:
        return None
    return replace(second if adds[1] else first, pads=first.pads + second.pads)


def others_reach_pools(context: Context, path: Iterable[tuple[str, Node]]) -> bool:
    """Whether a tensor, each with its one reader that does not count, also leads to a pool."""
    counts, uses = context.document.before_pools, context.scope.uses
    return any(
        uses.get(name, 0) > 1
        and counts[name]
        > (reader.op_type != "Conv" and name in _to_pools(context.document, reader, counts))
        for name, reader in path
    )


def behind_pads(document: Document) -> set[str]:
    """The tensors in front of which a Pad may be seen; names of all scopes together.

    No Pad is seen from any other tensor, through whatever it comes from.
    """
    found: set[str] = set()
    before = -1
    while before < len(found):
        before = len(found)
        for scope in document.scopes.values():
            for node in scope.ordered():
                calls = document.function(node) is not None
                through = calls or node.op_type in _SEEN_THROUGH
                read = set(node.inputs if through else ())
                read.update(*(body.outputs for _, body in scope.children.get(node.key, ())))
                pads = node.op_type == "Pad" or (calls and document.kept)
                if pads or not found.isdisjoint(read):
                    found.update(node.outputs)
    return found - {""}


def before_pools(document: Document) -> Counter[str]:
    """How many nodes hand on each tensor to a pool, or take it for a weight; all scopes together.

    What becomes of the results of a graph inside a node is not followed: in a model with pools
    they count as well.
    """
    counts = Counter[str]()
    scopes = list(document.scopes.values())
    pools = any(node.op_type in _POOLS for scope in scopes for node in scope.nodes)
    for scope in reversed(scopes):
        if pools and scope.parent is not None:
            counts.update(set(scope.outputs))
        for node in reversed(list(scope.ordered())):
            counts.update(_to_pools(document, node, counts))
    return counts


def _to_pools(document: Document, node: Node, counts: Counter[str]) -> set[str]:
    """What a node reads and hands on to a pool; `counts` are about what leads to one."""
    leads = any(counts[name] for name in node.outputs)
    if document.function(node) is not None:
        return set(node.inputs) if leads or document.kept else set()
    if node.domain not in PLAIN_DOMAINS:
        return set()
    if node.op_type == "Conv":
        return set(node.inputs[1:2])
    if node.op_type == "Pad":
        return set(node.inputs[:1]) if leads else set()
    if node.op_type in _POOLS or (node.op_type in _MAY_VANISH and leads):
        return set(node.inputs)
    return set()


def _vanishes(context: Context, node: Node) -> bool:
    """Whether onnxruntime's default optimiser may see what is behind a node in front of it.

    It removes operators that hand on what they read, arithmetic with 0 or 1, and Expand and Slice
    to the same size, fuses a Pad over a Cast, and moves a Transpose to its inverse.
    """
    if node.op_type not in _MAY_VANISH or node.domain not in PLAIN_DOMAINS:
        return False
    if not node.inputs or not node.outputs:
        return False
    if node.op_type in _RESIZES:
        made = context.type_of(node.outputs[0]).dims
        return made is None or made == context.type_of(node.inputs[0]).dims
    if node.op_type in _NEUTRAL and len(node.inputs) > 1:
        value = context.constant(node.inputs[1 - data_position(context, node)])
        return value is not None and bool((value == _NEUTRAL[node.op_type]).all())
    return node.op_type in _MOVES or hands_on(context, node)
