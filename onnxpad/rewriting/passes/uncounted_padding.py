"""Write averages that do not count their padding as averages without padding, corrected behind.

What: a Pad node writes 0, the average divides by the whole kernel, and a Mul behind makes up for
the padded cells. Where a size is not known, a Div by the average of padded ones does the same while
the model runs. average-by-parts has no Pad and no factors, for runtimes that compute these wrongly:
axis by axis, an AveragePool for the windows that lie in the data, one with a smaller kernel over a
Slice for each window at the border, and a Concat. counted-padding does the same of averages that
count their padding, without a correction: what ceil_mode reads beyond the Pad becomes end pads that
are not counted.

Exact: up to float rounding.

Refuses: integer averages, which cannot be corrected; SAME whose size is not known (use
runtime-pads); ceil_mode over end pads as wide as a window; opsets before 7, or before 8 where a
size is not known; unknown element types. average-by-parts: all sizes that are not known, windows
that lie in the padding alone, more than 16 windows at the borders of an axis.

Cost: a Pad node, one Mul over the output, and a constant as large as one channel of the output, or
one for each axis; or an AveragePool and a Slice for each window at a border.

Example: AveragePool k3 pads=[1, 1] on 5 cells becomes Pad, AveragePool k3 without pads and Mul by
[1.5, 1, 1, 1, 1.5].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from onnxpad.geometry.windows import Axis, cells_within
from onnxpad.padding.chain import Chain, Pads, PassResult, is_same
from onnxpad.padding.effective_pads import axes_behind, short_axis
from onnxpad.padding.expansion import Made, Operand, Read
from onnxpad.padding.fills import Constant, Implicit
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import AttributeValue, Kind, Since
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import LAST, Composer, window_attributes
from onnxpad.rewriting.steps.divisors import (
    beyond_the_end,
    corrected,
    counted_share,
    ones_of_input,
)
from onnxpad.rewriting.steps.pads import (
    full_pads,
    new_pad,
    pad_value,
    require_concat,
    stands_behind_pad,
)
from onnxpad.rewriting.steps.refusals import known, refuse, require, require_pads, require_type
from onnxpad.rewriting.steps.run_time_pads import pads_or_run_time

REMOVES = {Form.IGNORES_PADDING}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE, Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}
ADDS = {Form.PAD_NODE, Form.AUTO_PAD}

_OLD = ("auto_pad", "pads", "ceil_mode")
_MOST_PARTS = 16


def rewrite(chain: Chain) -> PassResult:
    """Pad with zeros, average, and make up for the zeros."""
    pads = _uncounted(chain)
    if chain.op.quantised:
        refuse("an integer average cannot be corrected behind")
    opset, sizes_known = chain.opset, chain.has_fixed_sizes
    require(opset >= Since.BROADCASTING, f"Mul of opset {opset} does not broadcast shapes")
    reason = f"a size is not known, and opset {opset} has no Expand"
    require(sizes_known or opset >= Since.EXPAND, reason)
    whole = _whole(chain, pads)
    composer = Composer(opset, chain.dtype)
    bare: dict[str, AttributeValue] = {"pads": (0,) * (2 * chain.rank)}
    old = [name for name, _ in chain.written.attributes if name in _OLD and name not in bare]
    padded = _padded(composer, chain, Read(0), whole, "pad")
    average = composer.itself({0: padded}, sets=bare, removes=old)
    if sizes_known:
        none = Pads.zero(chain.rank)
        return composer.finish(corrected(composer, chain, average, whole, none))
    ones = _padded(composer, chain, ones_of_input(composer, chain), whole, "share_pad")
    share = counted_share(composer, chain, ones, bare, whole)
    return composer.finish(composer.add("Div", average, share, role="average"))


def _uncounted(chain: Chain) -> Pads:
    """The pads of an average that leaves them out."""
    is_one = chain.op.kind is Kind.AVERAGE and chain.fill is Implicit.NOTHING
    require(is_one, "no average that leaves out its padding", moot=True)
    pads = pads_or_run_time(chain)
    require(any(pads.flat), "it does not pad", moot=True)
    return pads


def _whole(chain: Chain, pads: Pads) -> Pads:
    """The same, and what ceil_mode reads beyond them."""
    require_type(chain)
    require_pads(pads)
    known(short_axis(chain, pads))
    return pads + beyond_the_end(chain, pads)


def _padded(composer: Composer, chain: Chain, data: Operand, pads: Pads, role: str) -> Made:
    full = full_pads(chain, pads)
    return composer.pad(data, full.begins, full.ends, Constant(0), role=role)


class _Part(NamedTuple):
    """Windows of one axis that lie in the data: the cells they read, None for all of them."""

    cells: tuple[int, int] | None
    kernel: int
    stride: int = 1


def _by_parts(chain: Chain) -> Sequence[PassResult]:
    """Average what each window has of the data."""
    pads = _uncounted(chain)
    if chain.op.quantised:
        refuse("an integer average of averages would be rounded twice")
    if not chain.has_fixed_sizes:
        refuse("its parts depend on sizes that are not known", "--pass uncounted-padding")
    require_concat(chain)
    sides = chain.sides(_whole(chain, pads))
    return [_joined(chain, [_parts(*side) if any(side[1:]) else None for side in sides])]


def _parts(axis: Axis, begin: int, end: int) -> list[_Part]:
    """The windows of an axis in their order, those that lie in the data as one part."""
    size = axis.size if isinstance(axis.size, int) else 0
    starts = range(-begin, size + end - axis.span + 1, axis.stride)
    inside = cells_within(starts, 0, size - axis.span + 1)
    if len(starts) - len(inside) > _MOST_PARTS:
        refuse(f"more than {_MOST_PARTS} windows of an axis lie at its borders")
    ahead = starts.index(inside[0]) if inside else len(starts)
    parts = [_border(axis, size, start) for start in starts[:ahead]]
    if inside:
        cells = (inside[0], LAST) if inside[0] else None
        parts.append(_Part(cells, axis.kernel, axis.stride))
    return parts + [_border(axis, size, start) for start in starts[ahead + len(inside) :]]


def _border(axis: Axis, size: int, start: int) -> _Part:
    """A window at a border with what it reads of the data."""
    cells = cells_within(range(start, start + axis.span, axis.dilation), 0, size)
    require(cells, "a window lies in the padding alone")
    return _Part((cells[0], cells[-1] + 1), len(cells))


def _joined(chain: Chain, rows: Sequence[list[_Part] | None]) -> PassResult:
    """One axis with a border after the other; axes without one are averaged with the first."""
    composer = Composer(chain.opset, chain.dtype)
    data: Operand = Read(0)
    one = Axis(None, 1)
    axes = [one if row else axis for axis, row in zip(chain.axes, rows, strict=True)]
    for index, row in enumerate(rows):
        where, pieces = chain.first_axis + index, list[Made]()
        for place, part in enumerate(row or ()):
            role, cells = f"{index}_{place}", data
            if part.cells is not None:
                ends = ([end] for end in part.cells)
                cells = composer.slice(data, [where], *ends, role=f"part{role}")
            dilation = chain.axes[index].dilation if part.kernel > 1 else 1
            axes[index] = Axis(None, part.kernel, part.stride, dilation)
            sets = window_attributes(axes) | {"pads": (0,) * (2 * chain.rank)}
            pieces.append(
                composer.add("AveragePool", cells, attributes=sets, role=f"average{role}")
            )
        if pieces:
            axes, data = [one] * chain.rank, pieces[0]
        if len(pieces) > 1:
            data = composer.add("Concat", *pieces, attributes={"axis": where}, role=f"axis{index}")
    require(isinstance(data, Made), "it does not pad", moot=True)
    return composer.finish(data)  # type: ignore[arg-type] # as it is Made


def _counted(chain: Chain) -> Chain:
    """Let a Pad node write the cells that the average counts."""
    counts = chain.op.kind is Kind.AVERAGE and chain.counts_padding
    require(counts, "no average that counts its padding", moot=True)
    pads = pads_or_run_time(chain)
    require_pads(pads)
    known(short_axis(chain, pads))
    if not any(pads.flat):
        return _without_padding(chain, pads)
    require(chain.opset, "no version of the ONNX operators is imported, so it can have no Pad")
    step = new_pad(chain, pads, pad_value(chain))
    beyond, axes = beyond_the_end(chain, pads), axes_behind(chain, pads)
    after = replace(chain.with_padding(beyond), axes=axes, ceil_mode=False, pad=step)
    return replace(after, fill=Implicit.NOTHING) if any(beyond.flat) else after


def _without_padding(chain: Chain, pads: Pads) -> Chain:
    """Nothing is counted, not even what ceil_mode reads beyond the end.

    SAME with windows that leave cells out becomes pads: runtimes do not agree on it.
    Behind a Pad, with idle operators between or not, all stays, for so this pass leaves averages.
    """
    before_group = chain.around.far_pad is not None and chain.around.dequantised is not None
    if stands_behind_pad(chain) or before_group:
        refuse("it has no padding of its own", moot=True)
    plain = replace(chain, fill=Implicit.NOTHING)
    if is_same(chain.padding) and any(axis.span < axis.stride for axis in chain.axes):
        return replace(plain.with_padding(pads), ceil_mode=False)
    return plain


WAYS = {
    "average-by-parts": Way(
        "Write averages that do not count their padding as averages of parts of the input, "
        "without pads.",
        _by_parts,
    ),
    "counted-padding": Way(
        "Write averages that count their padding so that it is data.",
        _counted,
        removes={Form.COUNTS_PADDING},
        adds={
            Form.PAD_NODE,
            Form.PAD_VALUE,
            Form.AUTO_PAD,
            Form.PADS,
            Form.ASYMMETRIC,
            Form.IGNORES_PADDING,
            Form.WIDER_THAN_KERNEL,
        },
    ),
}
