"""Every way that a Pad in front of an operator can have with as many cells in all on each axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product

from onnxpad.padding.chain import Chain, NewPad, Pads, PadStep, is_same
from onnxpad.padding.fills import Constant, Fill, TensorValue
from onnxpad.padding.operators import Kind, Since

MODES = ("constant", "reflect", "edge", "wrap")
_BEYOND = 1
_MOST = 600

_Pair = tuple[int, int]


def moved_pads(chain: Chain) -> Iterator[Chain]:
    """The chain with other Pads in place of its own: in every mode, cells moved on each axis.

    An axis keeps its cells in all, so that output sizes stay. What stands there comes first, then
    axes whose begin and end are swapped, then any split, and last a cell more that is cropped at
    one side. Nothing where the Pad cannot be written otherwise; at most `_MOST`.
    """
    yield from islice(_every(chain), _MOST)


def not_moved(chain: Chain) -> str:
    """What `moved_pads` leaves out of what a Pad can have, '' where that is nothing."""
    step = chain.pad
    if step is None:
        return ""
    if step.unclear:
        return "other numbers for a Pad that the model computes"
    if step.crossed:
        return f"other Pads in front of {' and '.join(step.crossed)}"
    if _pads_other_axes(chain, step):
        return "other Pads over batch or channels"
    if not _has_wrap(chain):
        return _too_old_for_wrap(chain)
    most = sum(1 for _ in islice(_every(chain), _MOST + 1))
    return f"all but the first {_MOST} ways to move the cells of a Pad" if most > _MOST else ""


def not_wrapped(chain: Chain) -> str:
    """That mode wrap is not tried in place of a convolution's own zeros, '' where it is."""
    own = chain.padding
    padded = any(own.flat) if isinstance(own, Pads) else is_same(own)
    if chain.pad is not None or chain.op.kind is not Kind.CONVOLUTION or not padded:
        return ""
    return "" if _has_wrap(chain) else _too_old_for_wrap(chain)


def _too_old_for_wrap(chain: Chain) -> str:
    return f"mode wrap, which Pad has since opset {Since.PAD_WRAP} (the model has {chain.opset})"


def not_cropped(chain: Chain) -> str:
    """Which crops `moved_pads` never tries, '' where it moves no cells at all.

    There is no end to them but the size of the tensor, and nobody writes them on purpose: that they
    are left out is to be said, and is no reason to take a Pad for the cause.
    """
    step = chain.pad
    if step is None or step.unclear or step.crossed or _pads_other_axes(chain, step):
        return ""
    return f"Pads that crop {_BEYOND + 1} cells or more at one side to have them at the other"


def _every(chain: Chain) -> Iterator[Chain]:
    step = chain.pad
    if chain.trouble or step is None or step.unclear or step.crossed:
        return
    if _pads_other_axes(chain, step):
        return
    own = _pairs(step, chain)
    found = dict.fromkeys(
        pads
        for options in (
            [[pair] for pair in own],
            [list(dict.fromkeys([pair, pair[::-1]])) for pair in own],
            [_splits(sum(pair), 0) for pair in own],
            [_splits(sum(pair), _BEYOND) for pair in own],
        )
        for pads in product(*options)
    )
    modes = [mode for mode in MODES if mode != "wrap" or _has_wrap(chain)]
    modes.sort(key=lambda mode: mode != step.mode)
    for pads in found:
        for mode in modes:
            if (pads, mode) != (tuple(own), step.mode):
                yield replace(chain, pad=_new(chain, step, pads, mode))


def _splits(total: int, beyond: int) -> list[_Pair]:
    """Begin and end that come to `total`, with at most `beyond` cells more than that at a side."""
    low, high = min(0, total) - beyond, max(0, total) + beyond
    return [(begin, total - begin) for begin in range(low, high + 1)]


def _pairs(step: PadStep, chain: Chain) -> list[_Pair]:
    begins, ends = step.pads.begins[chain.spatial], step.pads.ends[chain.spatial]
    return list(zip(begins, ends, strict=True))


def _pads_other_axes(chain: Chain, step: PadStep) -> bool:
    kept = chain.spatial
    sides = (step.pads.begins, step.pads.ends)
    return any(any(side[: kept.start]) or any(side[kept.stop :]) for side in sides)


def _has_wrap(chain: Chain) -> bool:
    return not 0 < chain.opset < Since.PAD_WRAP


def _new(chain: Chain, step: PadStep, pads: Sequence[_Pair], mode: str) -> NewPad:
    begins, ends = [0] * chain.tensor_rank, [0] * chain.tensor_rank
    begins[chain.spatial] = [begin for begin, _ in pads]
    ends[chain.spatial] = [end for _, end in pads]
    return NewPad(Pads(tuple(begins), tuple(ends)), _fill(step), mode, instead=True)


def _fill(step: PadStep) -> Fill:
    """The number that the Pad holds, 0 where it holds none or one that is not known."""
    fill = step.fill
    known = isinstance(fill, Constant | TensorValue) and fill.value is not None
    return fill if known and step.mode == "constant" else Constant(0.0)
