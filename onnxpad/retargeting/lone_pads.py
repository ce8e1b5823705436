"""A Pad node that no convolution or pool reads directly, and the other ways to pad there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from onnxpad.frameworks.rules import split
from onnxpad.geometry.size import plus
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.fills import Constant
from onnxpad.retargeting.candidates import behind_pad, mirrors
from onnxpad.retargeting.hand_written_pads import without_pad

_LEAST_AXES = 3


def as_windows(chain: Chain) -> Chain | Skip:
    """The Pad node as windows of one cell behind a Pad, so that its ways compare like others.

    The spatial axes are those behind the first two; where the Pad pads the second axis and not
    the last, those between. A Skip where the pads are not known, or other axes are padded.
    """
    step, shape = chain.pad, chain.shape
    if step is None or step.unclear:
        return Skip("its pads are computed while the model runs")
    if shape is None or len(shape) < _LEAST_AXES or len(step.pads.begins) != len(shape):
        return Skip("it pads fewer than three axes, or an unknown number of them")
    last = any(step.pads.sides[1]) and not any(step.pads.sides[-1])
    around = replace(chain.around, feeds_channels_last=last)
    window = (Axis(None, 1),) * (len(shape) - 2)
    bare = replace(chain, axes=window, around=around).with_padding(Pads.zero(len(window)))
    if any(map(any, bare.outer(step.pads))) or min(step.pads.flat) < 0:
        return Skip("it pads the batch or the channels, or crops")
    rows = zip(shape[bare.spatial], bare.inner(step.pads).sides, strict=True)
    sizes = (None if size is None else plus(size, sum(pair)) for size, pair in rows)
    return replace(bare, axes=tuple(Axis(size, 1) for size in sizes))


def other_ways(chain: Chain) -> Iterator[Chain]:
    """Ways to pad as many cells, of `as_windows`: other sides, then cells of another mode."""
    step = chain.pad
    if step is None:
        return
    pads = chain.inner(step.pads)
    totals = [begin + end for begin, end in pads.sides]
    half = Pads.of([split(total) for total in totals])
    sides = (
        *(pads, Pads(pads.ends, pads.begins), half, Pads(half.ends, half.begins)),
        *(Pads.of([(total, 0) for total in totals]), Pads.of([(0, total) for total in totals])),
    )
    bare, none = without_pad(chain), Pads.zero(chain.rank)
    number = step.fill if isinstance(step.fill, Constant) else Constant(0)
    for mode in ("constant", *mirrors(chain)):
        fill = number if mode == "constant" else Constant(0)
        for side in dict.fromkeys(sides):
            yield behind_pad(bare, side, fill, none, mode, instead=True)
