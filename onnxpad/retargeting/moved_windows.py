"""Every way to share the cells that a convolution or a pool pads between begin and end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

from onnxpad.padding.chain import Chain, Pads, Skip, is_same
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.forms import reaches_kernel
from onnxpad.padding.operators import Kind

_MOST = 100

_Pair = tuple[int, int]


def moved_windows(chain: Chain) -> Iterator[Chain]:
    """The chain with the cells of its own pads moved on each axis, at most `_MOST` ways.

    An axis keeps its cells in all, so that output sizes stay. All at one side, or swapped, on
    each axis by itself comes first, then any split. The Pad in front stays, and so does rounding.
    """
    yield from islice(_every(chain), _MOST)


def not_moved_windows(chain: Chain) -> str:
    """What `moved_windows` leaves out of what there is, '' where that is nothing."""
    if is_same(chain.padding) and _own(chain) is None:
        return "other places for the cells of auto_pad, which hang on open sizes"
    most = sum(1 for _ in islice(_every(chain), _MOST + 1))
    return f"all but the first {_MOST} ways to move the padded cells" if most > _MOST else ""


def placements(chain: Chain) -> tuple[Chain, ...]:
    """The cells in front, behind, or halved on each axis: in the same order for every chain.

    Empty where the pads are not known; a way that a pool cannot have is the chain itself.
    """
    own = _own(chain)
    if own is None:
        return ()
    options = [[_halved(sum(p)), _halved(sum(p))[::-1], (sum(p), 0), (0, sum(p))] for p in own]
    return tuple(_padded(chain, pairs) or chain for pairs in product(*options))


def _every(chain: Chain) -> Iterator[Chain]:
    own = _own(chain)
    if own is None:
        return
    found = dict.fromkeys(
        pairs
        for options in (
            [list(dict.fromkeys([p, p[::-1], (sum(p), 0), (0, sum(p))])) for p in own],
            [[(begin, sum(p) - begin) for begin in range(sum(p) + 1)] for p in own],
        )
        for pairs in product(*options)
    )
    for pairs in found:
        way = _padded(chain, pairs)
        if way is not None and pairs != tuple(own):
            yield way


def _halved(total: int) -> _Pair:
    return total // 2, total - total // 2


def _own(chain: Chain) -> list[_Pair] | None:
    """Begin and end of each axis; None where they are not known, or where a pad is negative."""
    if chain.trouble or not chain.op.has_windows or chain.output_shape:
        return None
    if chain.op.kind is Kind.TRANSPOSED and not isinstance(chain.padding, Pads):
        return None
    pads = effective_pads(chain)
    if isinstance(pads, Skip) or any(pad < 0 for pad in pads.flat):
        return None
    return list(zip(pads.begins, pads.ends, strict=True))


def _padded(chain: Chain, pairs: tuple[_Pair, ...]) -> Chain | None:
    """The chain with these pads; None for a pool that would have windows without data."""
    pads = Pads(tuple(begin for begin, _ in pairs), tuple(end for _, end in pairs))
    if chain.op.is_pool and reaches_kernel(chain, pads):
        return None
    return replace(
        chain.with_padding(pads), ceil_mode=chain.ceil_mode and not is_same(chain.padding)
    )
