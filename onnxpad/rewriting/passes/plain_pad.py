"""Write Pad nodes that mirror, repeat or crop with Slice and Concat.

What: mode reflect, edge and wrap become Concat of the input and cuts of it, axis by axis, and the
Pad goes. Negative pads become a Slice in front of the Pad, which keeps the others; it goes when
there are none. Behind it everything that pads is a constant Pad without negative pads.

Exact: always; symbolic sizes are no obstacle but for a wrap that may be wider than the axis. The
crop comes first, and the other side continues from what it leaves, as the ONNX text says.
TensorFlow's SYMMETRIC repeats the border cell: for pads of 1 it is edge, wider ones are no mode
of ONNX and come as Slice, Gather and Concat already. Where a runtime cannot have the Pad behind
the Slice, the Slice stands behind the Pad.

Refuses: reflect that reaches beyond the axis (see repeated-mirrors), pads that crop more than
there is, pads that are not known, wrap where the size decides and is not known, mirrors of opsets
before 4, axes of more than 65536 cuts. An input of unknown size that is too short for reflect
fails no longer.

Cost: a Concat for each axis and a Slice for each mirrored cell (one that runs backwards from 9
cells and opset 10 on), for each other side one.

Example: Pad reflect [0,0,2, 0,0,0] becomes Slice 2:3, Slice 1:2 and Concat with the input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from onnxpad.errors import counted
from onnxpad.geometry.cuts import WHOLE, Cut, Mode, cells_before, cells_behind
from onnxpad.geometry.size import Size, Symbol, lower_bound, plus, show
from onnxpad.padding.chain import Chain, Pads, PadStep, PassResult, Skip
from onnxpad.padding.effective_pads import numbers_text, rests_text
from onnxpad.padding.expansion import Expansion, Made, Operand, Read
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Since
from onnxpad.rewriting.steps.composer import LAST, Composer
from onnxpad.rewriting.steps.pads import concat_refusal, pad_itself, pad_node

REMOVES = {Form.REFLECT, Form.EDGE, Form.WRAP, Form.NEGATIVE}
MAY_REMOVE = {Form.PAD_NODE}
ADDS: set[Form] = set()

MOST_CUTS = 2**16
_MODES: dict[str, Mode] = {"reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def rewrite(chain: Chain) -> PassResult:
    """Cut and join where a Pad does more than write a constant around its input."""
    step = pad_node(chain)
    if isinstance(step, Skip):
        return step
    if step.mode == "constant" and not any(pad < 0 for pad in step.pads.flat):
        return Skip("it writes a constant around its input", moot=True)
    sizes = _cropped(chain, step)
    if isinstance(sizes, Skip):
        return sizes
    if step.mode == "constant":
        return _split(chain, step)
    return _mode_refusal(chain, step, sizes) or _joined(chain, step, sizes)


def _crops(pads: Pads) -> tuple[Pads, Pads]:
    """What is cut off, as positive numbers, and what is added."""
    sides = (pads.begins, pads.ends)
    cut = Pads(*(tuple(max(0, -pad) for pad in side) for side in sides))
    return cut, Pads(*(tuple(max(0, pad) for pad in side) for side in sides))


def _cropped(chain: Chain, step: PadStep) -> tuple[Size | None, ...] | Skip:
    """Sizes behind the crop."""
    cut, _ = _crops(step.pads)
    shape = chain.shape or (None,) * len(cut.begins)
    sizes = []
    for axis, (size, begin, end) in enumerate(zip(shape, cut.begins, cut.ends, strict=True)):
        if isinstance(size, int) and begin + end > size:
            return Skip(f"the pads crop {begin} and {end} cells from axis {axis}, which has {size}")
        sizes.append(None if size is None else plus(size, -begin - end))
    return tuple(sizes)


def _split(chain: Chain, step: PadStep) -> Expansion:
    """A Slice for the crop, and the Pad for the rest."""
    composer = Composer(chain.opset, chain.dtype)
    cut, added = _crops(step.pads)
    if not any(added.flat):
        return composer.finish(_slice(composer, Read(0), cut))
    return composer.finish(pad_itself(composer, chain, added, _slice(composer, Read(0), cut)))


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """The Pad first and the Slice behind it."""
    step = chain.pad
    if step is None or step.mode != "constant" or step.unclear:
        return
    composer = Composer(chain.opset, chain.dtype)
    cut, added = _crops(step.pads)
    if not any(added.flat) or not any(cut.flat):
        return
    yield composer.finish(_slice(composer, pad_itself(composer, chain, added), cut))


def _slice(composer: Composer, data: Operand, cut: Pads) -> Made:
    axes = [axis for axis, sides in enumerate(cut.sides) if any(sides)]
    starts = [cut.begins[axis] for axis in axes]
    ends = [-cut.ends[axis] if cut.ends[axis] else LAST for axis in axes]
    return composer.slice(data, axes, starts, ends)


def _mode_refusal(chain: Chain, step: PadStep, sizes: Sequence[Size | None]) -> Skip | None:
    _, added = _crops(step.pads)
    for axis, size in enumerate(sizes):
        widest = max(added.begins[axis], added.ends[axis])
        if size == 0 and widest:
            return Skip(f"mode {step.mode} has nothing to repeat: axis {axis} has no cells")
        if step.mode == "reflect" and isinstance(size, int) and widest >= max(size, 1):
            return Skip(
                f"it reflects {counted(widest, 'cell')} on axis {axis}, which has {size}: "
                f"onnxruntime fails, the widest reflection is {size - 1}",
                ("--pass repeated-mirrors",) if size > 1 else (),
            )
        if (count := _cuts(chain, step, size, widest)) > MOST_CUTS:
            return Skip(f"axis {axis} would be joined of {count} cuts, {MOST_CUTS} are the most")
        unknown = size is None or (isinstance(size, Symbol) and lower_bound(size) < widest)
        if step.mode == "wrap" and widest > 1 and unknown:
            what = (
                "which nothing in the model tells" if size is None else f"which is '{show(size)}'"
            )
            reason = f"a wrap of {counted(widest, 'cell')} needs the size of axis {axis}, {what}"
            return Skip(reason, _hints(size, widest))
    return concat_refusal(chain) if any(added.flat) else None


def _cuts(chain: Chain, step: PadStep, size: Size | None, widest: int) -> int:
    """How many cuts the wider side of an axis takes."""
    if step.mode == "wrap":
        return widest // size if size and isinstance(size, int) else 1
    return 1 if step.mode == "reflect" and chain.opset >= Since.SLICE_INPUTS else widest


def _hints(size: Size | None, widest: int) -> tuple[str, ...]:
    if not isinstance(size, Symbol) or not size.root:
        return ("give the model's inputs fixed sizes",)
    modulus = size.divisor * (widest - min(0, size.offset))
    facts = ((size.root, replace(size.stated, divisor=modulus, rest=0)),)
    return numbers_text(facts), rests_text(facts)


def _joined(chain: Chain, step: PadStep, sizes: Sequence[Size | None]) -> Expansion:
    composer = Composer(chain.opset, chain.dtype)
    cut, added = _crops(step.pads)
    mode, steps = _MODES[step.mode], chain.opset >= Since.SLICE_INPUTS
    data: Operand = _slice(composer, Read(0), cut) if any(cut.flat) else Read(0)
    for axis, size in enumerate(sizes):
        known = size if isinstance(size, int) else None
        before = cells_before(mode, added.begins[axis], known, steps=steps)
        behind = cells_behind(mode, added.ends[axis], known, steps=steps)
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
