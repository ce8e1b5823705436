"""As many cells at both sides of an axis, for each axis by itself."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Chain, Pads, is_same
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.operators import Kind
from onnxpad.retargeting.candidates import growth_limit, without_pad
from onnxpad.retargeting.move import cropped

_MOST = 256

_Cut = tuple[int, int, int]


def each_axis(chain: Chain) -> tuple[Chain, ...]:
    """Numbers of cells that differ between axes, the nearest to the present ones first.

    Up to the window, which pools stay below; transposed convolutions crop less than it, and have
    every output_padding with that. Rounding and divisors stay. At most `_MOST` ways.
    """
    return tuple(_padded(chain, cuts) for cuts in _nearest(chain)[:_MOST])


def not_each_axis(chain: Chain) -> str:
    """What `each_axis` leaves out of what there is, '' where that is nothing."""
    many = len(_nearest(chain)) > _MOST
    return f"all but the nearest {_MOST} ways to pad each axis by itself" if many else ""


def _nearest(chain: Chain) -> list[tuple[_Cut, ...]]:
    """Those nearest to the present way, and one that is left out where there are more."""
    if chain.trouble or not chain.op.has_windows:
        return []
    rows: list[tuple[int, tuple[_Cut, ...]]] = [(0, ())]
    for axis, now in zip(chain.axes, _present(chain), strict=True):
        transposed = chain.op.kind is Kind.TRANSPOSED
        cuts = _crops(axis) if transposed else _numbers(chain, axis)
        near = [(sum(abs(a - b) for a, b in zip(now, cut, strict=True)), cut) for cut in cuts]
        longer = [(far + more, (*row, cut)) for far, row in rows for more, cut in near]
        rows = sorted(longer, key=lambda row: row[0])[: _MOST + 1]
    return [cuts for _, cuts in rows]


def _numbers(chain: Chain, axis: Axis) -> list[_Cut]:
    """As many cells at both sides; a window of one cell has none."""
    most = axis.kernel - 1 if chain.op.is_pool else axis.span
    return [(pad, pad, 0) for pad in range(most + 1 if axis.span > 1 else 1)]


def _crops(axis: Axis) -> list[_Cut]:
    """Each pair of what is cut off in front and what is left at the end, written one way."""
    found: dict[tuple[int, int], _Cut] = {}
    for pad in range(axis.span):
        for extra in range(growth_limit(axis)):
            found.setdefault((pad, pad - extra), (pad, pad, extra))
    return list(found.values())


def _pads(cuts: tuple[_Cut, ...]) -> Pads:
    return Pads(tuple(begin for begin, _, _ in cuts), tuple(end for _, end, _ in cuts))


def _padded(chain: Chain, cuts: tuple[_Cut, ...]) -> Chain:
    if chain.op.kind is Kind.TRANSPOSED:
        return cropped(chain, list(cuts))
    rounds = chain.ceil_mode and not is_same(chain.padding)
    return replace(without_pad(chain).with_padding(_pads(cuts)), ceil_mode=rounds)


def _present(chain: Chain) -> tuple[_Cut, ...]:
    pads = effective_pads(chain)
    if not isinstance(pads, Pads):
        return ((0, 0, 0),) * chain.rank
    extra = chain.output_padding or (0,) * chain.rank
    return tuple(zip(pads.begins, pads.ends, extra, strict=True))
