"""The nearest Pad in front of an operator, as onnxruntime's Pad fusion may see it; coarse.

The way in front of one operator: `nearest_pad` follows its input through operators that the
optimiser may take away, to a Pad or to the border of the graph. What lies beyond a function, or
around a branch, is a Pad that is not known. `document.before_pools` counts, once for each reading,
which tensors reach a pool in the same way, and `document.behind_pads` which come from a Pad.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import replace

from onnxpad.geometry.budgets import IN_A_ROW
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import Document
from onnxpad.model.reading.crossing import CROSSABLE, IDLE, data_position, hands_on
from onnxpad.model.reading.pads import is_pad, read_pad
from onnxpad.padding.chain import ELSEWHERE, InFront, Pads, PadStep, RowOfPads, Unclear
from onnxpad.padding.fills import Constant
from onnxpad.padding.operators import PLAIN_DOMAINS, PadInput

_NAMED = 8
_POOLS = frozenset({"MaxPool", "AveragePool"})
_MOVES = frozenset({"Cast", "Transpose"})
_RESIZES = frozenset({"Expand", "Slice"})
_NEUTRAL = {"Mul": 1, "Div": 1, "Add": 0, "Sub": 0}
_MAY_VANISH = _MOVES | _RESIZES | _NEUTRAL.keys() | IDLE

_SEEN_THROUGH = CROSSABLE | _MAY_VANISH


def nearest_pad(context: Context, node: Node, rank: int, position: int = 0) -> InFront:
    """The Pad in front of an input of `rank` axes, alone or behind others."""
    name, reader, order = node.inputs[position], node, tuple(range(rank))
    none = InFront(copied=_is_copied_out(context, name))
    others: bool | None = False
    crossed: list[str] = []
    for _ in range(IN_A_ROW):
        if name not in context.document.behind_pads:
            break
        more = _others(context, name, reader)
        others = more if more or others is False else others
        maker = context.scope.producers.get(name)
        if maker is None or _holds_graph(context, maker):
            return replace(none, pad=_unknown_pad(rank), others=others)
        if is_pad(maker):
            row = row_of_pads(context, name, rank)
            whole = read_pad(context, maker, rank)
            if row is not None and _pads_windows_alone(row.whole.pads):
                whole = row.whole
            return InFront(
                replace(_in_order(whole, order), crossed=tuple(crossed)),
                others,
                copied=none.copied or _is_copied_out(context, maker.inputs[0]),
                beyond=follows_pad(context, maker.inputs[0] if row is None else row.source),
            )
        if not _vanishes(context, maker):
            break
        if maker.op_type == "Transpose":
            perm = context.attributes(maker).get("perm", tuple(reversed(range(rank))))
            fits = isinstance(perm, tuple) and sorted(perm) == list(range(rank))
            order = tuple(int(perm[axis]) for axis in order) if fits and order else ()  # type: ignore[index]
        crossed.append(maker.op_type)
        name, reader = maker.inputs[data_position(context, maker)], maker
    return none


def _pads_windows_alone(pads: Pads) -> bool:
    """Whether it adds cells to spatial axes, and does nothing else."""
    return min(pads.flat, default=0) >= 0 and not any(pads.begins[:2] + pads.ends[:2])


def of_pad(context: Context, pad: Node, step: PadStep) -> InFront:
    """A Pad node itself, with what reads it."""
    made, read = pad.outputs[0] if pad.outputs else "", pad.inputs[0]
    return InFront(
        step,
        context.scope.uses.get(made, 0) > 1,
        to_pools=context.document.before_pools[made] > 0,
        copied=_is_copied_out(context, read),
        beyond=follows_pad(context, read),
    )


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
                inside = [body for _, body in scope.children.get(node.key, ())]
                calls = document.function(node) is not None
                through = calls or node.op_type in _SEEN_THROUGH
                hands = through and not found.isdisjoint(node.inputs)
                held = any(not found.isdisjoint(one.outputs) for one in inside)
                if node.op_type == "Pad" or hands or held or (calls and document.kept):
                    found.update(node.outputs)
    return found - {""}


def before_pools(document: Document) -> Counter[str]:
    """How many nodes hand on each tensor to a pool, or take it for a weight; all scopes together.

    In graphs of nodes as well as behind them.
    """
    found: set[str] = set()
    results: set[str] = set()
    before = -1
    while before < len(found):
        before = len(found)
        for scope in reversed(list(document.scopes.values())):
            for node in reversed(list(scope.ordered())):
                found.update(_to_pools(document, node, found))
                if found.isdisjoint(node.outputs):
                    continue
                for _, one in scope.children.get(node.key, ()):
                    results.update(one.outputs)
                    found.update(one.outputs)
    nodes = (node for scope in document.scopes.values() for node in scope.ordered())
    counts = Counter(name for node in nodes for name in _to_pools(document, node, found))
    counts.update(results)
    return counts


def _to_pools(document: Document, node: Node, found: Container[str]) -> set[str]:
    """What a node reads and hands on to a pool; `found` are tensors that lead to one."""
    if document.function(node) is not None:
        leads = bool(document.kept) or any(name in found for name in node.outputs)
        return set(node.inputs) if leads else set()
    if node.domain not in PLAIN_DOMAINS:
        return set()
    if node.op_type == "Conv":
        return set(node.inputs[1:2])
    hands = node.op_type == "Pad" or node.op_type in _MAY_VANISH
    if node.op_type in _POOLS or (hands and any(name in found for name in node.outputs)):
        return set(node.inputs[:1] if node.op_type == "Pad" else node.inputs)
    return set()


def _unknown_pad(rank: int) -> PadStep:
    return PadStep(Pads.zero(rank), Constant(0), unclear=ELSEWHERE, computed=(PadInput.PADS,))


def _holds_graph(context: Context, node: Node) -> bool:
    return node.op_type == "If" or context.document.function(node) is not None


def _others(context: Context, name: str, reader: Node) -> bool | None:
    """Whether more than `reader` reads a tensor; None for what may become one with it, or go."""
    scope = context.scope
    if not scope.defines(name):
        return None
    if scope.uses.get(name, 0) <= 1:
        return False
    if name not in context.sayings:
        readers, uses = context.readers(name), scope.uses
        found = {_saying(one) for one in readers if one.op_type not in IDLE}
        inside = uses[name] - sum(one.inputs.count(name) for one in readers)
        context.sayings[name] = frozenset(found | ({b""} if inside else set()))
    return True if context.sayings[name] - {_saying(reader)} else None


def _saying(node: Node) -> bytes:
    """What a node says: onnxruntime makes one of nodes that say the same."""
    attributes = sorted(one.SerializeToString() for one in node.proto.attribute)
    inputs = [] if is_pad(node) else list(node.inputs)
    return b"\n".join((",".join([node.op_type, *inputs]).encode(), *attributes))


def _is_copied_out(context: Context, name: str) -> bool:
    """Whether a node's output has two readers, one of them an Identity that makes a result."""
    scope = context.scope
    if scope.uses.get(name, 0) != 2 or name not in scope.producers or name in scope.outputs:
        return False
    for _ in range(IN_A_ROW):
        copies = [one for one in context.readers(name) if one.op_type == "Identity"]
        if not copies:
            return False
        name = copies[0].outputs[0]
        if name in scope.outputs:
            return scope.uses.get(name, 0) == 1
    return False


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


def _in_order(step: PadStep, order: tuple[int, ...]) -> PadStep:
    if len(step.pads.begins) != len(order):
        return replace(step, unclear=step.unclear or Unclear("its axes are not known"))
    begins, ends = (
        tuple(side[axis] for axis in order) for side in (step.pads.begins, step.pads.ends)
    )
    return replace(step, pads=Pads(begins, ends))
