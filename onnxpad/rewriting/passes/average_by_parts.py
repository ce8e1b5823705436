"""Write averages that do not count their padding as averages of parts of the input, without pads.

What: axis by axis, an AveragePool without pads for the windows that lie in the data, one with a
smaller kernel for each window at the border, over a Slice of the cells that it has there, and a
Concat of what they give. What ceil_mode reads beyond the end is such a window too. For runtimes
that compute the average's own padding, or a factor for each cell behind it, wrongly.

Exact: up to float rounding (an average of averages, where more than one axis has a border).

Refuses: integer averages, which would be rounded twice; sizes that are not known
(uncounted-padding writes those); windows that lie in the padding alone; more than 16 windows at the
borders of an axis.

Cost: an AveragePool and a Slice for each window at a border, and a Concat for each axis; no
multiply-adds but those of the second axis.

Example: AveragePool k3 pads=[1, 1] on 5 cells becomes Concat of AveragePool k2 over the first two
cells, AveragePool k3 and AveragePool k2 over the last two.
"""

from __future__ import annotations

from typing import NamedTuple

from onnxpad.geometry.windows import Axis, cells_within
from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.expansion import Made, Operand, Read
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import AttributeValue
from onnxpad.rewriting.steps.composer import LAST, Composer
from onnxpad.rewriting.steps.divisors import uncounted_pads
from onnxpad.rewriting.steps.pads import concat_refusal

REMOVES = {Form.IGNORES_PADDING}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE, Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}
ADDS: set[Form] = set()

_MOST_PARTS = 16


class Part(NamedTuple):
    """Windows of one axis that lie in the data: the cells they read, None for all of them."""

    cells: tuple[int, int] | None
    kernel: int
    stride: int = 1


def rewrite(chain: Chain) -> PassResult:
    """Average what each window has of the data."""
    pads = uncounted_pads(chain, _refusal)
    if isinstance(pads, Skip):
        return pads
    rows = []
    for axis, begin, end in chain.sides(pads):
        found = _parts(axis, begin, end) if begin or end else None
        if isinstance(found, Skip):
            return found
        rows.append(found)
    return _joined(chain, rows)


def _refusal(chain: Chain) -> Skip | None:
    if chain.op.quantised:
        return Skip("an integer average of averages would be rounded twice")
    if not chain.has_fixed_sizes:
        return Skip("its parts depend on sizes that are not known", ("--pass uncounted-padding",))
    return concat_refusal(chain)


def _parts(axis: Axis, begin: int, end: int) -> list[Part] | Skip:
    """The windows of an axis in their order, those that lie in the data as one part."""
    size = axis.size if isinstance(axis.size, int) else 0
    starts = range(-begin, size + end - axis.span + 1, axis.stride)
    inside = cells_within(starts, 0, size - axis.span + 1)
    if len(starts) - len(inside) > _MOST_PARTS:
        return Skip(f"more than {_MOST_PARTS} windows of an axis lie at its borders")
    ahead = starts.index(inside[0]) if inside else len(starts)
    before = [_border(axis, size, start) for start in starts[:ahead]]
    behind = [_border(axis, size, start) for start in starts[ahead + len(inside) :]]
    if not all((*before, *behind)):
        return Skip("a window lies in the padding alone")
    whole = (
        [Part((inside[0], LAST) if inside[0] else None, axis.kernel, axis.stride)] if inside else []
    )
    return [part for part in (*before, *whole, *behind) if part is not None]


def _border(axis: Axis, size: int, start: int) -> Part | None:
    """A window at a border with what it reads of the data; None where that is nothing."""
    cells = cells_within(range(start, start + axis.span, axis.dilation), 0, size)
    return Part((cells[0], cells[-1] + 1), len(cells)) if cells else None


def _joined(chain: Chain, rows: list[list[Part] | None]) -> PassResult:
    """One axis with a border after the other; axes without one are averaged with the first."""
    composer = Composer(chain.opset, chain.dtype)
    result: Made | None = None
    others = {place: axis for place, axis in enumerate(chain.axes) if rows[place] is None}
    for index, row in enumerate(rows):
        if row is None:
            continue
        pieces = []
        for place, part in enumerate(row):
            where, role = [chain.first_axis + index], f"{index}_{place}"
            data: Operand = result or Read(0)
            if part.cells is not None:
                edges = ([edge] for edge in part.cells)
                data = composer.slice(data, where, *edges, role=f"part{role}")
            sets = _attributes(chain, others | {index: _along(chain.axes[index], part)})
            pieces.append(composer.add("AveragePool", data, attributes=sets, role=f"average{role}"))
        others = {}
        result = pieces[0]
        if len(pieces) > 1:
            on: dict[str, AttributeValue] = {"axis": chain.first_axis + index}
            result = composer.add("Concat", *pieces, attributes=on, role=f"axis{index}")
    return composer.finish(result) if result else Skip("it does not pad", moot=True)


def _along(axis: Axis, part: Part) -> Axis:
    return Axis(None, part.kernel, part.stride, axis.dilation if part.kernel > 1 else 1)


def _attributes(chain: Chain, averaged: dict[int, Axis]) -> dict[str, AttributeValue]:
    """What an average without pads along some of the axes says."""
    axes = [averaged.get(place, Axis(None, 1)) for place in range(chain.rank)]
    found: dict[str, AttributeValue] = {
        "kernel_shape": tuple(axis.kernel for axis in axes),
        "strides": tuple(axis.stride for axis in axes),
        "pads": (0,) * (2 * chain.rank),
    }
    if any(axis.dilation > 1 for axis in axes):
        found["dilations"] = tuple(axis.dilation for axis in axes)
    return found
