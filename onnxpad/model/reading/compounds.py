"""Padding that several nodes write together; it is read where the last of them stands.

A Concat of a tensor and of cells that Slices take of it is a Pad that repeats, mirrors or wraps.
One that puts a short input of the model in front of a convolution gives that its left context. A
convolution between two arrangements of cells, of which the second undoes the first, is dilated.
All are read by where the cells come from, whatever the nodes are called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from onnxpad.errors import counted
from onnxpad.geometry.cuts import cells_of_cut
from onnxpad.geometry.size import Size, Symbol, lower_bound, show
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import any_integers
from onnxpad.model.graph.model_inputs import is_model_input
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.crossing import LAYOUT, moved_pads, path_to
from onnxpad.padding.chain import Chain, Pads, PadStep, Unclear
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.fills import Constant, TensorValue
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, Operator, Since

_Cells: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
_LARGE = (10**6, 10**6 + 7)
"""Two sizes beyond every number that a Slice may name here."""
_MOST_SIZES = 512
_MOST_PARTS = 2**9
_MOST_CELLS = 2**16
_MOST_MOVED = 2**22
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


class _Part(NamedTuple):
    """Cells of a tensor along one axis: those of a Slice with these numbers, or all."""

    numbers: tuple[int, int, int] | None = None

    def cells(self, size: int) -> range | None:
        return range(size) if self.numbers is None else cells_of_cut(size, *self.numbers)


def _joined(context: Context, node: Node, before: dict[int, Chain]) -> Chain | None:
    """A Concat of cells of one tensor around the tensor itself, as a Pad of that tensor.

    One of the same mode on other axes that it alone reads is taken in, out of `before`.
    """
    rank = len(context.type_of(node.outputs[0]).dims or ())
    axis = context.attributes(node).get("axis")
    if not isinstance(axis, int) or not -rank <= axis < rank or len(node.inputs) > _MOST_PARTS:
        return None
    for source in dict.fromkeys(node.inputs):
        parts = [_part(context, name, axis % rank, source) for name in node.inputs]
        if any(part and part.numbers for part in parts) and None not in parts:
            step = _as_pad(context, source, axis % rank, [part for part in parts if part])
            return _with_inner(context, node, source, step, before) if step else None
    return None


def _with_inner(
    context: Context, node: Node, source: str, step: PadStep, before: dict[int, Chain]
) -> Chain:
    scope = context.scope
    maker = scope.producers.get(source)
    inner = before.get(maker.key) if maker else None
    slices = {name: one for name in node.inputs if (one := scope.producers.get(name))}
    read = node.inputs.count(source) + sum(
        one.inputs[0] == source for name, one in slices.items() if name != source
    )
    if maker and inner and inner.pad and inner.pad.mode == step.mode:
        pads = list(zip(inner.pad.pads.sides, step.pads.sides, strict=True))
        if read == scope.uses.get(source) and not any(any(a) and any(b) for a, b in pads):
            del before[maker.key]
            unclear = step.unclear or inner.pad.unclear
            step = replace(step, pads=inner.pad.pads + step.pads, unclear=unclear)
            source = inner.reads[0]
    return replace(_compound(context, node, source), pad=step)


def _part(context: Context, name: str, axis: int, source: str) -> _Part | None:
    """What of `source` a tensor is: that tensor itself, or a Slice of it along `axis`."""
    if name == source:
        return _Part()
    maker = context.scope.producers.get(name)
    if maker is None or maker.op_type != "Slice" or maker.domain not in PLAIN_DOMAINS:
        return None
    lists = _slice_lists(context, maker)
    if maker.inputs[0] != source or any(one is None or len(one) != 1 for one in lists):
        return None
    start, end, sliced, step = (one[0] for one in lists if one)
    rank = len(context.type_of(source).dims or ())
    return _Part((start, end, step)) if step and rank and sliced % rank == axis else None


def _slice_lists(context: Context, node: Node) -> list[tuple[int, ...] | None]:
    """Starts, ends, axes and steps of a Slice; None for one that is not known."""
    found: list[tuple[int, ...] | None] = []
    usual = {"axes": (0,), "steps": (1,)}
    for place, name in enumerate(("starts", "ends", "axes", "steps"), 1):
        if context.scope.opset >= Since.SLICE_INPUTS:
            is_written = bool(node.input(place))
            value: Any = any_integers(context, node.input(place))
        else:
            value = context.attributes(node).get(name)
            is_written = value is not None
        found.append(value if is_written else usual.get(name))
    return found


def _as_pad(context: Context, source: str, axis: int, parts: Sequence[_Part]) -> PadStep | None:
    """The Pad that writes the same cells; unclear where the axis may be too short for that."""
    dims = context.type_of(source).dims or ()
    size = dims[axis]
    tried = (size,) if isinstance(size, int) else _LARGE
    first = next(_modes_at(parts, tried[0]), None)
    if first is None or any(first not in _modes_at(parts, n) for n in tried[1:]):
        return None
    mode, *sides = first
    pads = [(0, 0)] * len(dims)
    pads[axis] = (sides[0], sides[1])
    unclear = None if isinstance(size, int) else _if_short(size, _least(parts, first), axis)
    return PadStep(Pads.of(pads), Constant(0), mode, unclear)


def _least(parts: Sequence[_Part], pad: tuple[str, int, int]) -> int:
    """The size from which on the parts are this Pad: each up to where places cross is tried."""
    places = [abs(place) for part in parts for place in (part.numbers or ())[:2]]
    most = 2 * max((one for one in places if one < _LARGE[0] // 2), default=0) + 2
    if most > _MOST_SIZES:
        return most
    others = (n for n in range(1, most + 1) if pad not in _modes_at(parts, n))
    longest = 1 if pad[0] == "edge" else max(pad[1:])
    return max(1 + max(others, default=0), longest)


def _if_short(size: Symbol | None, least: int, axis: int) -> Unclear | None:
    """Why it may be no Pad: of a shorter axis Slices take less."""
    if least <= (1 if size is None else lower_bound(size)):
        return None
    hints = (f"--dim '{size.root}=640'",) if size is not None and size.root else ()
    what = "a size that nothing in the model tells" if size is None else f"'{show(size)}' cells"
    return Unclear(
        f"axis {axis} has {what}, and below {counted(least, 'cell')} no Pad does the same", hints
    )


def _modes_at(parts: Sequence[_Part], size: int) -> Iterator[tuple[str, int, int]]:
    """Mode, begin and end of each Pad that gives these cells of an axis."""
    rows = [part.cells(size) for part in parts]
    if None in rows or size < 1 or sum(len(row or ()) for row in rows) - size > _MOST_CELLS:
        return
    for middle in [place for place, row in enumerate(rows) if row == range(size)]:
        before = [cell for row in rows[:middle] for cell in row or ()]
        behind = [cell for row in rows[middle + 1 :] for cell in row or ()]
        begin, end = len(before), len(behind)
        left, right = range(-begin, 0), range(size, size + end)
        modes = {
            "edge": ([0] * begin, [size - 1] * end),
            "reflect": ([-cell for cell in left], [2 * size - 2 - cell for cell in right]),
            "wrap": ([cell % size for cell in left], [cell % size for cell in right]),
        }
        for mode, cells in modes.items():
            if (before, behind) == cells and begin + end:
                yield mode, begin, end


def _context_of(context: Context, node: Node, chain: Chain) -> Iterator[tuple[int, Chain]]:
    """The Concat that puts an input of the model in front of what a convolution reads."""
    path = path_to(context, node.inputs[0])
    maker = context.scope.producers.get(path.source)
    if maker is None or maker.op_type != "Concat" or len(maker.inputs) != 2:
        return
    state, data = maker.inputs
    dims, axis = context.type_of(state).dims, context.attributes(maker).get("axis")
    if not is_model_input(context, state) or dims is None or not isinstance(axis, int):
        return
    width = dims[axis] if -len(dims) <= axis < len(dims) else None
    if not isinstance(width, int):
        return
    sides = [(0, 0)] * len(dims)
    sides[axis] = (width, 0)
    step = PadStep(Pads.of(sides), TensorValue(state), "context")
    seen: Pads | None = step.pads
    for one in path.nodes:
        if one.op_type != "Identity":
            seen = moved_pads(context, one, seen) if seen and one.op_type in LAYOUT else None
    own = effective_pads(chain)
    if seen is None or not isinstance(own, Pads):
        return
    pairs = zip(chain.inner(seen).begins, own.begins, chain.axes, strict=False)
    if any(0 < cells < axis.span and not begin for cells, begin, axis in pairs):
        yield maker.key, replace(_compound(context, maker, data), pad=step)


def _dilated(context: Context, node: Node, chain: Chain) -> Iterator[tuple[int, Chain]]:
    """A convolution over batches of every n-th cell, at the node that puts the cells back."""
    pads = effective_pads(chain)
    made = _fixed(context, node.outputs[0])
    plain = all(axis.stride == 1 for axis in chain.axes) and isinstance(pads, Pads)
    if not plain or not made or not isinstance(pads, Pads) or min(pads.flat, default=0) < 0:
        return
    found = _arranged(context, node)
    last = found and _put_back(context, node, made, found)
    if not found or last is None:
        return
    block, sizes = found.block, (_fixed(context, found.source) or ())[2:]
    axes = [
        axis._replace(size=size, dilation=axis.dilation * step)
        for axis, size, step in zip(chain.axes, sizes, block, strict=True)
    ]
    wider = Pads.of([(a * n, b * n) for (a, b), n in zip(pads.sides, block, strict=True)])
    bare = _compound(context, last, found.source, *filter(None, node.inputs[1:]))
    yield (
        last.key,
        replace(bare, axes=tuple(axes), padding=wider, attributes=chain.attributes),
    )


class _Arranged(NamedTuple):
    """Cells of `source` in batches: each holds every cell of a `block` step from a first one on."""

    source: str
    block: tuple[int, ...]
    firsts: tuple[tuple[int, ...], ...]

    def whole(self, batches: _Cells) -> _Cells:
        """What the batches are when each stands where its cells came from."""
        count, sizes = len(batches) // prod(self.block), batches.shape[2:]
        full = [size * step for size, step in zip(sizes, self.block, strict=True)]
        found = np.zeros((count, batches.shape[1], *full), np.int64)
        for batch, (image, *first) in zip(batches, self.firsts, strict=True):
            steps = zip(first, full, self.block, strict=True)
            places: Any = (image, slice(None), *(slice(*row) for row in steps))
            found[places] = batch
        return found


def _arranged(context: Context, node: Node) -> _Arranged | None:
    """How the cells that a convolution reads stand in a tensor further in front."""
    name, moves = node.inputs[0], list[Node]()
    batches = _fixed(context, name)
    while batches and len(moves) < _MOST_MOVES:
        maker = context.scope.producers.get(name)
        if maker is None or not maker.inputs:
            return None
        moves.insert(0, maker)
        name = maker.inputs[0]
        dims = _fixed(context, name)
        if dims is None or prod(dims) != prod(batches) or prod(dims) > _MOST_MOVED:
            return None
        if len(dims) != len(batches) or dims[1] != batches[1] or dims[0] >= batches[0]:
            continue
        cells: _Cells | None = np.arange(prod(dims)).reshape(dims)
        for one in moves:
            cells = None if cells is None else _moved(context, one, cells)
        if cells is not None and cells.shape == batches:
            return _arrangement(name, dims, cells)
    return None


def _arrangement(source: str, dims: tuple[int, ...], cells: _Cells) -> _Arranged | None:
    block = tuple(size // part for size, part in zip(dims[2:], cells.shape[2:], strict=True))
    places = np.unravel_index(cells.reshape(len(cells), -1)[:, 0], dims)
    firsts = tuple((int(row[0]), *map(int, row[2:])) for row in zip(*places, strict=True))
    fits = all(at < step for _, *first in firsts for at, step in zip(first, block, strict=True))
    found = _Arranged(source, block, firsts)
    if not fits or len(set(firsts)) < len(firsts) or len(cells) != dims[0] * prod(block):
        return None
    back = found.whole(cells)
    return found if (back == np.arange(prod(dims)).reshape(dims)).all() else None


def _put_back(context: Context, node: Node, made: tuple[int, ...], found: _Arranged) -> Node | None:
    """The node that gives the cells of a convolution in the place of those that it read."""
    if prod(made) > _MOST_MOVED:
        return None
    cells: _Cells | None = np.arange(prod(made)).reshape(made)
    wanted = found.whole(np.arange(prod(made)).reshape(made))
    for _ in range(_MOST_MOVES):
        readers = context.readers(node.outputs[0])
        if len(readers) != 1 or context.scope.uses.get(node.outputs[0]) != 1 or cells is None:
            return None
        node = readers[0]
        cells = _moved(context, node, cells)
        if cells is not None and np.array_equal(cells, wanted):
            return node
    return None


def _moved(context: Context, node: Node, cells: _Cells) -> _Cells | None:
    """The cells behind a node that moves them and does nothing else; None for others."""
    attributes, dims = context.attributes(node), _fixed(context, node.outputs[0])
    if node.domain not in PLAIN_DOMAINS or dims is None or prod(dims) != cells.size:
        return None
    if node.op_type in _SHAPES:
        return cells.reshape(dims)
    if node.op_type == "Transpose":
        order: Any = attributes.get("perm", tuple(reversed(range(cells.ndim))))
        return cells.transpose(order)
    return None


def _fixed(context: Context, name: str) -> tuple[int, ...] | None:
    """The sizes of a tensor, where all are numbers above 0."""
    dims: Sequence[Size | None] = context.type_of(name).dims or (None,)
    sizes = tuple(size for size in dims if isinstance(size, int) and size > 0)
    return sizes if len(sizes) == len(dims) else None
