"""Write Pad nodes that mirror, repeat or crop with Slice and Concat.

What: mode reflect, edge and wrap become Concat of the input and cuts of it, axis by axis. Negative
pads become a Slice in front of the Pad, which keeps the others; where a runtime cannot have that,
behind it. repeated-mirrors writes a reflection that is wider than the axis, at which onnxruntime
fails, as several Pads, each no wider than what the one before has made.

Exact: always; symbolic sizes are no obstacle but for a wrap that may be wider than the axis. The
crop comes first, and the other side continues from what it leaves, as the ONNX text says. Repeated
mirrors go back and forth between the borders, as in numpy.pad and onnx's reference evaluator.

Refuses: reflect that reaches beyond the axis (see repeated-mirrors, which needs two cells and a
known size), pads that crop more than there is, pads that are not known, wrap where the size decides
and is not known, mirrors of opsets before 4, axes of more than 65536 cuts, more than 64 Pads.

Cost: a Concat for each axis and a Slice for each mirrored cell (one that runs backwards from
opset 10 on), for each other side one.

Example: Pad reflect [0,0,2, 0,0,0] becomes Slice 2:3, Slice 1:2 and Concat with the input.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnxpad.errors import counted
from onnxpad.geometry.cuts import WHOLE, Cut, Mode, repeated_cells
from onnxpad.geometry.size import Size, Symbol, lower_bound, plus, show
from onnxpad.padding.chain import Chain, Pads, PadStep, PassResult
from onnxpad.padding.expansion import Expansion, Made, Operand, Read
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form, mirrors_beyond
from onnxpad.padding.operators import Since
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import pad_itself, pad_node, require_concat
from onnxpad.rewriting.steps.refusals import refuse, require

REMOVES = {Form.REFLECT, Form.EDGE, Form.WRAP, Form.NEGATIVE}
MAY_REMOVE = {Form.PAD_NODE}
ADDS: set[Form] = set()

MOST_CUTS = 2**16
_MOST_PADS = 64
_MODES: dict[str, Mode] = {"reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def rewrite(chain: Chain) -> Sequence[PassResult]:
    """Cut and join where a Pad does more than write a constant around its input."""
    step = pad_node(chain)
    does_more = step.mode != "constant" or any(pad < 0 for pad in step.pads.flat)
    require(does_more, "it writes a constant around its input", moot=True)
    cut, added = _crops(step.pads)
    sizes = list[Size | None]()
    shape = chain.shape or (None,) * len(cut.begins)
    for axis, (size, (begin, end)) in enumerate(zip(shape, cut.sides, strict=True)):
        if isinstance(size, int) and begin + end > size:
            refuse(f"the pads crop {begin} and {end} cells from axis {axis}, which has {size}")
        sizes.append(None if size is None else plus(size, -begin - end))
    if step.mode != "constant":
        _require_cells(chain, step, sizes)
        return [_joined(chain, step, sizes)]
    composer = Composer(chain.opset, chain.dtype)
    cropped = composer.cut(Read(0), cut)
    if not any(added.flat):
        return [composer.finish(cropped)]
    behind = Composer(chain.opset, chain.dtype)
    return [
        composer.finish(pad_itself(composer, chain, added, cropped)),
        behind.finish(behind.cut(pad_itself(behind, chain, added), cut)),
    ]


def _crops(pads: Pads) -> tuple[Pads, Pads]:
    """What is cut off, as positive numbers, and what is added."""
    cut, added = (
        [(max(0, sign * begin), max(0, sign * end)) for begin, end in pads.sides]
        for sign in (-1, 1)
    )
    return Pads.of(cut), Pads.of(added)


def _require_cells(chain: Chain, step: PadStep, sizes: Sequence[Size | None]) -> None:
    """Leave alone a mode that asks for cells that are not there, or may not be."""
    _, added = _crops(step.pads)
    for axis, size in enumerate(sizes):
        widest = max(added.sides[axis])
        if size == 0 and widest:
            refuse(f"mode {step.mode} has nothing to repeat: axis {axis} has no cells")
        if step.mode == "reflect" and isinstance(size, int) and widest >= max(size, 1):
            refuse(
                f"it reflects {counted(widest, 'cell')} on axis {axis}, which has {size}: "
                f"onnxruntime fails, the widest reflection is {size - 1}",
                *(("--pass repeated-mirrors",) if size > 1 else ()),
            )
        if (count := _cuts(chain, step, size, widest)) > MOST_CUTS:
            refuse(f"axis {axis} would be joined of {count} cuts, {MOST_CUTS} are the most")
        unknown = size is None or (isinstance(size, Symbol) and lower_bound(size) < widest)
        if step.mode == "wrap" and widest > 1 and unknown:
            what = (
                "which nothing in the model tells" if size is None else f"which is '{show(size)}'"
            )
            reason = f"a wrap of {counted(widest, 'cell')} needs the size of axis {axis}, {what}"
            refuse(reason, "give the model's inputs fixed sizes")
    if any(added.flat):
        require_concat(chain)


def _cuts(chain: Chain, step: PadStep, size: Size | None, widest: int) -> int:
    """How many cuts the wider side of an axis takes."""
    if step.mode == "wrap":
        return widest // size if size and isinstance(size, int) else 1
    return 1 if step.mode == "reflect" and chain.opset >= Since.SLICE_INPUTS else widest


def _joined(chain: Chain, step: PadStep, sizes: Sequence[Size | None]) -> Expansion:
    composer = Composer(chain.opset, chain.dtype)
    cut, added = _crops(step.pads)
    mode, steps = _MODES[step.mode], chain.opset >= Since.SLICE_INPUTS
    data: Operand = composer.cut(Read(0), cut) if any(cut.flat) else Read(0)
    for axis, size in enumerate(sizes):
        cells = size if isinstance(size, int) else None
        before = repeated_cells(mode, added.begins[axis], cells, behind=False, steps=steps)
        behind = repeated_cells(mode, added.ends[axis], cells, behind=True, steps=steps)
        if before or behind:
            data = _concat(composer, data, axis, before, behind)
    if isinstance(data, Made):
        return composer.finish(data)
    return composer.finish(composer.add("Identity", data))


def _concat(
    composer: Composer, data: Operand, axis: int, before: Sequence[Cut], behind: Sequence[Cut]
) -> Made:
    made: dict[Cut, Operand] = {WHOLE: data}
    for cut in (*before, *behind):
        if cut not in made:
            steps = None if cut.step == 1 else [cut.step]
            role = f"axis{axis}_cells{len(made)}"
            made[cut] = composer.slice(
                data, [axis], [cut.start], [cut.stop], steps=steps, role=role
            )
    parts = [made[cut] for cut in (*before, WHOLE, *behind)]
    return composer.add("Concat", *parts, attributes={"axis": axis}, role=f"axis{axis}")


def _mirrored(chain: Chain) -> Sequence[PassResult]:
    """Mirror, and mirror again."""
    step = pad_node(chain)
    require(mirrors_beyond(chain), "it mirrors no more than there is", moot=True)
    rows = []
    for axis, (begin, end) in enumerate(step.pads.sides):
        size = chain.shape[axis] if chain.shape else None
        if isinstance(size, int) and size + min(0, begin) + min(0, end) < 2 and max(begin, end) > 0:
            refuse(f"axis {axis} has no second cell to mirror")
        rows.append(_stages(size, begin, end) if isinstance(size, int) else [(begin, end)])
    count = max(map(len, rows))
    require(count <= _MOST_PADS, f"it would take {count} Pads, {_MOST_PADS} are the most")
    composer = Composer(chain.opset, chain.dtype)
    made: Made | None = None
    for stage in range(count):
        pads = Pads.of([row[stage] if stage < len(row) else (0, 0) for row in rows])
        if stage < count - 1:
            sides, role = (pads.begins, pads.ends), f"mirror{stage}"
            made = composer.pad(made or Read(0), *sides, Constant(0), role=role, mode="reflect")
    return [composer.finish(pad_itself(composer, chain, pads, made))]


def _stages(size: int, begin: int, end: int) -> list[tuple[int, int]]:
    """Pads of one axis, of which each mirrors what is there; crops are in the first.

    All but the last of a side end where the cells turn: at a multiple of the axis without a cell.
    """
    crop = (min(0, begin), min(0, end))
    left = (max(0, begin), max(0, end))
    length = size + sum(crop)
    turn, stages = length - 1, list[tuple[int, int]]()
    while any(left) or not stages:
        whole = (length - 1) // turn * turn if turn else 0
        now = [cells if cells < max(length, 1) else whole for cells in left]
        stages.append((now[0] + crop[0], now[1] + crop[1]))
        left = (left[0] - now[0], left[1] - now[1])
        length, crop = length + sum(now), (0, 0)
    return stages


WAYS = {
    "repeated-mirrors": Way(
        "Write a reflection wider than the axis as several Pads, each of which mirrors what is "
        "there.",
        _mirrored,
        {Form.WIDE_REFLECT},
    )
}
