"""Write a reflection wider than the axis as several Pad nodes, each of which mirrors what is there.

What: a Pad in mode reflect that asks for more cells than the axis has beside its border becomes
Pads in a row, each no wider than what the one before has made. What the first of them crop is cut
off first.

Exact: as numpy.pad, onnx's reference evaluator and the example of Pad-11 go on: back and forth
between the borders. Newer texts of ONNX ask for less cells than the axis has, and onnxruntime
fails.

Refuses: axes whose size is not known, axes of one cell, which has nothing beside it to mirror,
pads that are not known or crop more than there is, 64 Pads or more.

Cost: a Pad each time that the axis becomes three times as long.

Example: Pad reflect [0,0,5, 0,0,5] of [1,1,4] becomes [0,0,3, 0,0,3] and [0,0,2, 0,0,2].
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Pads, PassResult, Skip
from onnxpad.padding.expansion import Made, Read
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form, mirrors_beyond
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import pad_itself, pad_node

REMOVES = {Form.WIDE_REFLECT}
ADDS: set[Form] = set()

_MOST_PADS = 64


def rewrite(chain: Chain) -> PassResult:
    """Mirror, and mirror again."""
    step = pad_node(chain)
    if isinstance(step, Skip):
        return step
    if not mirrors_beyond(chain):
        return Skip("it mirrors no more than there is", moot=True)
    rank = len(step.pads.begins)
    rows = []
    for axis in range(rank):
        size = chain.shape[axis] if chain.shape else None
        begin, end = step.pads.begins[axis], step.pads.ends[axis]
        if isinstance(size, int) and size + min(0, begin) + min(0, end) < 2 and max(begin, end) > 0:
            return Skip(f"axis {axis} has no second cell to mirror")
        rows.append(_stages(size, begin, end) if isinstance(size, int) else [(begin, end)])
    count = max(map(len, rows))
    if count > _MOST_PADS:
        return Skip(f"it would take {count} Pads, {_MOST_PADS} are the most")
    composer = Composer(chain.opset, chain.dtype)
    made: Made | None = None
    for stage in range(count):
        sides = [row[stage] if stage < len(row) else (0, 0) for row in rows]
        pads = Pads(tuple(begin for begin, _ in sides), tuple(end for _, end in sides))
        if stage == count - 1:
            break
        made = composer.pad(
            made or Read(0),
            *(pads.begins, pads.ends, Constant(0)),
            role=f"mirror{stage}",
            mode="reflect",
        )
    return composer.finish(pad_itself(composer, chain, pads, made))


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
