"""What padding means: nothing, ceil(size/stride) windows, only the past, every overlap."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from onnxpad.chain import Chain, Pads
from onnxpad.geometry.axis import Axis
from onnxpad.geometry.same import same_pads
from onnxpad.layers.placing import split
from onnxpad.layers.words import Pair
from onnxpad.moving.manners import Manner
from onnxpad.moving.windows import sample_sizes


class Meaning(StrEnum):
    """What somebody wants with padding."""

    VALID = "valid"
    SAME = "same"
    CAUSAL = "causal"
    FULL = "full"
    EXPLICIT = "explicit"


def meanings(chain: Chain, pads: Pads, source: Manner | None = None) -> frozenset[Meaning]:
    """Everything that `pads` of an operator can mean; EXPLICIT where they fit nothing.

    With `source` only what that convention would write. Axes with a kernel of 1 and no padding
    fit anything; no padding at all is VALID and nothing else.
    """
    found = frozenset(Meaning) - {Meaning.EXPLICIT}
    for axis, begin, end in zip(chain.axes, pads.begins, pads.ends, strict=True):
        if axis.span > 1 or begin or end:
            found &= frozenset(_of_axis(axis, (begin, end), source))
    if not any(pads.flat):
        return frozenset({Meaning.VALID})
    return found or frozenset({Meaning.EXPLICIT})


def _of_axis(axis: Axis, pair: Pair, source: Manner | None) -> Iterator[Meaning]:
    reach = axis.span - 1
    if pair == (0, 0):
        yield Meaning.VALID
    if _is_same(axis, pair, source):
        yield Meaning.SAME
    if pair == (reach, 0) and (source is None or source.pads_three(2, 0)):
        yield Meaning.CAUSAL
    if pair == (reach, reach) and (source is None or source.pads_three(2, 2)):
        yield Meaning.FULL


def _is_same(axis: Axis, pair: Pair, source: Manner | None) -> bool:
    """Whether these pads are somebody's way to get ceil(size/stride) windows.

    With a size that is not known, pads may be those of the size at which a model was exported.
    """
    if source is None or source.numbers:
        static = (axis.stride - 1 + axis.span - 1) // 2
        half = axis.span // 2
        if pair in {(half, half), (static, static)}:
            return True
    if source is None and pair == split(axis.span - 1):
        return True
    fitting = (_is_same_at(axis, pair, source, size) for size in sample_sizes(axis, sum(pair)))
    return any(fitting)


def _is_same_at(axis: Axis, pair: Pair, source: Manner | None, size: int) -> bool:
    sized = Axis(size, axis.kernel, axis.stride, axis.dilation)
    if source is not None:
        found: list[Pair] = list(source.places(axis, size))
    else:
        pairs = [same_pads(sized, lower=lower) for lower in (False, True)]
        found = [one for one in pairs if one is not None]
    wanted = -(-size // axis.stride)
    return any(
        one[0] == pair[0] and windows(sized, one) == windows(sized, pair) == wanted for one in found
    )


def windows(axis: Axis, pair: Pair) -> int:
    """Windows over an axis of known size, rounded down."""
    size = axis.size if isinstance(axis.size, int) else 0
    return (size + sum(pair) - axis.span) // axis.stride + 1
