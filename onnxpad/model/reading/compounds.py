"""Padding that several nodes write together; it is read where the last of them stands.

A Concat of a tensor and of cells that Slices take of it is a Pad that repeats, mirrors or wraps.
One that puts a short input of the model in front of a convolution gives that its left context. A
convolution between two arrangements of cells, of which the second undoes the first, is dilated.
All are read by where the cells come from, whatever the nodes are called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain as row
from math import prod
from typing import Any, TypeAlias

import numpy as np

from onnxpad.geometry.cuts import FAR, cells_of_cut
from onnxpad.geometry.size import Symbol, lower_bound, show
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.crossing import LAYOUT, moved_pads, path_to
from onnxpad.model.shapes.shape_rules import NodeFacts, slice_lists
from onnxpad.padding.chain import Chain, Pads, PadStep, Unclear, Written
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.fills import Constant, TensorValue
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, Operator

_Cells: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
_Cut: TypeAlias = tuple[int, int, int]
_MODES = ("edge", "reflect", "wrap")
_WIDEST = 256
_MOST_PARTS = 2**9
_MOST_CELLS = 2**22
_MOST_MOVES = 8
_SHAPES = ("Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity")


def compounds(context: Context) -> dict[int, Chain]:
    """The chains of what nodes of a scope write together, by the key of the last node."""
    found: dict[int, Chain] = {}
    for node in context.scope.ordered():
        if node.op_type == "Concat" and node.domain in PLAIN_DOMAINS and node.outputs:
            if joined := _joined(context, node, found):
                found[node.key] = joined
        elif (chain := context.chains.get(node.key)) and chain.op.name == "Conv":
            found |= dict(_context_of(context, node, chain))
            found |= dict(_dilated(context, node, chain))
    return found


def _compound(context: Context, node: Node, *reads: str) -> Chain:
    """A chain of what the nodes up to this one do with the tensor that is read first."""
    operator = Operator(node.op_type, Kind.OTHER, "", auto_pad=False)
    source, opset = context.type_of(reads[0]), context.scope.opset
    bare = Chain(operator, opset, (), Pads((), ()), Constant(0), source.dtype)
    return replace(bare, shape=source.dims, reads=reads)


def _joined(context: Context, node: Node, before: dict[int, Chain]) -> Chain | None:
    """A Concat of cells of one tensor around the tensor itself, as a Pad of that tensor.

    One of the same mode on other axes that it alone reads is taken in, out of `before`.
    """
    rank = len(context.type_of(node.outputs[0]).dims or ())
    axis = context.attributes(node).get("axis")
    if not isinstance(axis, int) or not -rank <= axis < rank or len(node.inputs) > _MOST_PARTS:
        return None
    for source in dict.fromkeys(node.inputs):
        cuts = [_cut(context, name, axis % rank, source) for name in node.inputs]
        known = [cut for cut in cuts if cut is not None]
        if len(known) == len(cuts) and any(cut != _WHOLE for cut in known):
            step = _as_pad(context, source, axis % rank, known)
            return _with_inner(context, node, source, step, before) if step else None
    return None


_WHOLE: _Cut = (0, FAR, 1)


def _cut(context: Context, name: str, axis: int, source: str) -> _Cut | None:
    """The cells of `source` along `axis` that a tensor is: start, end and step of a Slice."""
    if name == source:
        return _WHOLE
    maker = context.scope.producers.get(name)
    if maker is None or maker.op_type != "Slice" or maker.domain not in PLAIN_DOMAINS:
        return None
    lists = slice_lists(NodeFacts(context, maker))
    numbers = [number for one in lists for number in one or () if isinstance(number, int)]
    rank = len(context.type_of(source).dims or ())
    if maker.inputs[0] != source or [len(one or ()) for one in lists] != [1] * len(numbers):
        return None
    start, end, sliced, step = numbers
    return (start, end, step) if step and rank and sliced % rank == axis else None


def _with_inner(
    context: Context, node: Node, source: str, step: PadStep, before: dict[int, Chain]
) -> Chain:
    scope = context.scope
    maker = scope.producers.get(source)
    inner = before.get(maker.key) if maker else None
    slices = {scope.producers[name].key for name in node.inputs if name != source}
    read = node.inputs.count(source) + len(slices)
    if maker and inner and inner.pad and inner.pad.mode == step.mode:
        pads = list(zip(inner.pad.pads.sides, step.pads.sides, strict=True))
        if read == scope.uses.get(source) and not any(any(a) and any(b) for a, b in pads):
            del before[maker.key]
            unclear = step.unclear or inner.pad.unclear
            step = replace(step, pads=inner.pad.pads + step.pads, unclear=unclear)
            source = inner.reads[0]
    return replace(_compound(context, node, source), pad=step)


def _as_pad(context: Context, source: str, axis: int, cuts: Sequence[_Cut]) -> PadStep | None:
    """The Pad that writes the same cells; unclear where the axis may be too short for that."""
    dims = context.type_of(source).dims or ()
    size = dims[axis]
    places = [abs(n) for cut in cuts for n in cut[:2] if abs(n) < FAR]
    widest = max(places, default=0)
    if widest >= _WIDEST and not isinstance(size, int):
        return None
    large = 2 * widest + 2  # from here on the places of all cuts are apart
    tried = (size,) if isinstance(size, int) else (large, large + 1)
    pads = [pad for pad in _pads_at(cuts, tried[0]) if pad in _pads_at(cuts, tried[-1])]
    if not pads:
        return None
    mode, *sides = pads[0]
    whole = [(0, 0)] * len(dims)
    whole[axis] = (sides[0], sides[1])
    unclear = None
    if not isinstance(size, int):
        short = [n for n in range(1, large) if pads[0] not in _pads_at(cuts, n)]
        unclear = _if_short(size, max((n + 1 for n in short), default=1), axis)
    return PadStep(Pads.of(whole), Constant(0), mode, unclear)


def _if_short(size: Symbol | None, least: int, axis: int) -> Unclear | None:
    """Why it may be no Pad: of a shorter axis Slices take less."""
    if least <= (1 if size is None else lower_bound(size)):
        return None
    hints = (f"--dim '{size.root}=640'",) if size is not None and size.root else ()
    what = "a size that nothing in the model tells" if size is None else f"'{show(size)}' cells"
    return Unclear(f"axis {axis} has {what}, and below {least} cells no Pad does the same", hints)


def _pads_at(cuts: Sequence[_Cut], size: int) -> list[tuple[str, int, int]]:
    """Mode, begin and end of each Pad that gives these cells of an axis."""
    rows = [cells_of_cut(size, *cut) for cut in cuts]
    cells = [cell for cut in rows for cell in cut or ()]
    if None in rows or not 1 <= size <= len(cells) <= size + 2 * _MOST_PARTS:
        return []
    pads = []
    for middle in [place for place, cut in enumerate(rows) if cut == range(size)]:
        begin = sum(len(cut or ()) for cut in rows[:middle])
        sides = begin, len(cells) - size - begin
        modes = [one for one in _MODES if max(sides) < size or one != "reflect"]
        pads += [(one, *sides) for one in modes if any(sides) and _is(one, sides, size, cells)]
    return pads


def _is(mode: Any, sides: tuple[int, int], size: int, cells: Sequence[int]) -> bool:  # noqa: ANN401
    return np.array_equal(np.pad(np.arange(size), sides, mode), cells)


def _context_of(context: Context, node: Node, chain: Chain) -> Iterator[tuple[int, Chain]]:
    """The Concat that puts an input of the model in front of what a convolution reads."""
    path, own = path_to(context, node.inputs[0]), effective_pads(chain)
    maker = context.scope.producers.get(path.source)
    if maker is None or maker.op_type != "Concat" or len(maker.inputs) != 2:
        return
    state, data = maker.inputs
    dims, axis = context.type_of(state).dims or (), context.attributes(maker).get("axis")
    if not context.is_model_input(state) or not isinstance(axis, int):
        return
    width = dims[axis] if -len(dims) <= axis < len(dims) else None
    if not isinstance(width, int) or not isinstance(own, Pads):
        return
    sides = [(0, 0)] * len(dims)
    sides[axis] = (width, 0)
    seen: Pads | None = Pads.of(sides)
    for one in path.nodes:
        if one.op_type != "Identity":
            seen = moved_pads(context, one, seen) if seen and one.op_type in LAYOUT else None
    begins = chain.inner(seen).begins if seen else ()
    if any(
        0 < cells < axis.span and not begin
        for cells, begin, axis in zip(begins, own.begins, chain.axes, strict=False)
    ):
        step = PadStep(Pads.of(sides), TensorValue(state), "context")
        yield maker.key, replace(_compound(context, maker, data), pad=step)


def _dilated(context: Context, node: Node, chain: Chain) -> Iterator[tuple[int, Chain]]:
    """A convolution over batches of every n-th cell, at the node that puts the cells back."""
    pads, name, moves = effective_pads(chain), node.inputs[0], list[Node]()
    batches, made = _fixed(context, name), _fixed(context, node.outputs[0])
    if not isinstance(pads, Pads) or not batches or not 0 < prod(batches) <= _MOST_CELLS:
        return
    if any(axis.stride > 1 for axis in chain.axes) or min(pads.flat, default=0) < 0:
        return
    while len(moves) < _MOST_MOVES and (maker := context.scope.producers.get(name)):
        moves.insert(0, maker)
        name = maker.input(0)
        dims = _fixed(context, name)
        if prod(dims) != prod(batches):
            return
        if len(dims) == len(batches) and dims[1] == batches[1] and dims[0] < batches[0]:
            break
    else:
        return
    block = tuple(size // part for size, part in zip(dims[2:], batches[2:], strict=True))
    if dims != (dims[0], dims[1], *(n * part for n, part in zip(block, batches[2:], strict=True))):
        return
    if not np.array_equal(_moved(context, moves, dims), _batched(dims, block)):
        return
    if not made or (last := _last_move(context, node, made, block)) is None:
        return
    axes = [
        axis._replace(size=size, dilation=axis.dilation * step)
        for axis, size, step in zip(chain.axes, dims[2:], block, strict=True)
    ]
    wider = Pads.of([(a * n, b * n) for (a, b), n in zip(pads.sides, block, strict=True)])
    bare = _compound(context, last, name, *filter(None, node.inputs[1:]))
    yield (
        last.key,
        replace(bare, axes=tuple(axes), padding=wider, written=Written(chain.written.attributes)),
    )


def _batched(dims: Sequence[int], block: Sequence[int]) -> _Cells:
    """The cells of a tensor in batches of every n-th cell, as SpaceToBatchND numbers them."""
    count, channels, *sizes = dims
    parts = list(row(*((size // step, step) for size, step in zip(sizes, block, strict=True))))
    inner = range(2, 2 + len(parts), 2)
    order = [*(axis + 1 for axis in inner), 0, 1, *inner]
    cells = np.arange(prod(dims)).reshape(count, channels, *parts).transpose(order)
    return cells.reshape(count * prod(block), channels, *parts[::2])


def _last_move(
    context: Context, node: Node, made: Sequence[int], block: Sequence[int]
) -> Node | None:
    """The node that gives the cells of a convolution in the place of those that it read."""
    count, channels, *sizes = made
    whole = [size * step for size, step in zip(sizes, block, strict=True)]
    dims = (count // prod(block), channels, *whole)
    if count % prod(block) or prod(made) > _MOST_CELLS:
        return None
    wanted, moves = np.argsort(_batched(dims, block).reshape(-1)).reshape(dims), list[Node]()
    for _ in range(_MOST_MOVES):
        readers = context.readers(node.outputs[0])
        if len(readers) != 1 or context.scope.uses.get(node.outputs[0]) != 1:
            return None
        node = readers[0]
        moves.append(node)
        if np.array_equal(_moved(context, moves, made), wanted):
            return node
    return None


def _moved(context: Context, moves: Sequence[Node], dims: Sequence[int]) -> Any:  # noqa: ANN401
    """The numbered cells of a tensor behind nodes that move them; None where one does more."""
    cells: Any = np.arange(prod(dims)).reshape(dims)
    for node in moves:
        written = _fixed(context, node.outputs[0])
        if cells is None or node.domain not in PLAIN_DOMAINS or prod(written) != cells.size:
            return None
        if node.op_type == "Transpose":
            order: Any = context.attributes(node).get("perm")
            cells = cells.transpose(order)
        else:
            cells = cells.reshape(written) if node.op_type in _SHAPES else None
    return cells


def _fixed(context: Context, name: str) -> tuple[int, ...]:
    """The sizes of a tensor, where all are numbers above 0; () elsewhere."""
    dims = context.type_of(name).dims or (None,)
    sizes = tuple(size for size in dims if isinstance(size, int) and size > 0)
    return sizes if len(sizes) == len(dims) else ()
