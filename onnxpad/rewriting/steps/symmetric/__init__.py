"""Equal begin and end pads; a Slice, taps or a Pad where that gives other windows."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.padding.chain import Chain, NewPad, PassResult, Skip
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.symmetric import transposed, windows
from onnxpad.rewriting.steps.symmetric.premises import (
    Way,
    kernel_refusal,
    unsaid,
    weight_refusal,
    with_taps,
)
from onnxpad.rewriting.steps.symmetric.transposed import cropped, grown

__all__ = [
    "Way",
    "by_kernel",
    "by_pad",
    "by_slice",
    "cheapest_first",
    "cropped",
    "first",
    "grown",
    "kernel_refusal",
    "others",
    "unsaid",
    "ways",
    "weight_refusal",
    "with_taps",
    "without",
]

Ways = list[Way] | Skip
"""The ways to write a chain, the best first, or why there is none."""


def first(found: Ways) -> PassResult:
    """What a pass writes."""
    return found if isinstance(found, Skip) else found[0]


def others(found: Ways) -> Iterator[PassResult]:
    """What it can write instead."""
    if not isinstance(found, Skip):
        yield from found[1:]


def by_slice(chain: Chain) -> Ways:
    """Pads that are equal and give more outputs, and a Slice that drops those."""
    if chain.op.kind is Kind.TRANSPOSED:
        return _alone(transposed.by_slice(chain))
    return windows.by_slice(chain)


def by_kernel(chain: Chain) -> Ways:
    """A kernel that is extended by taps of 0, or of its zero point."""
    if chain.op.kind is Kind.TRANSPOSED:
        return _alone(transposed.by_kernel(chain))
    return windows.by_kernel(chain)


def by_pad(chain: Chain) -> Ways:
    """A Pad node in front that adds what one side pads more than the other."""
    if chain.op.kind is Kind.TRANSPOSED:
        found = transposed.by_slice(chain)
        if isinstance(found, Skip):
            return found
        reason = "the pads of a transposed convolution crop its output, a Pad node cannot"
        return Skip(reason, ("--pass symmetric-pads-by-slice",))
    return windows.by_pad(chain)


def _alone(found: Way | Skip) -> Ways:
    return found if isinstance(found, Skip) else [found]


def ways(chain: Chain) -> dict[str, Ways]:
    """Every way for this chain, or why it is none."""
    found = {"a Slice": by_slice(chain), "the kernel": by_kernel(chain), "a Pad": by_pad(chain)}
    if chain.op.kind is Kind.TRANSPOSED:
        found["output_padding"] = _alone(transposed.by_output_padding(chain))
    return found


def cheapest_first(chain: Chain) -> Ways:
    """All ways: those without another operator or tap, then in the order of `ways`."""
    found = ways(chain)
    possible = [way for some in found.values() if not isinstance(some, Skip) for way in some]
    if possible:
        return sorted(possible, key=lambda way: not is_free(way))
    skips = [way for way in found.values() if isinstance(way, Skip)]
    if skips[0].moot or len({skip.reason for skip in skips}) == 1:
        return skips[0]
    none = without(found)
    return Skip(f"no way is exact: {none.reason}", none.hints)


def is_free(way: Way) -> bool:
    """Whether it adds no work: other numbers of the operator are all there is to it."""
    return isinstance(way, Chain) and not isinstance(way.pad, NewPad)


def without(found: dict[str, Ways]) -> Skip:
    """Why some are no ways."""
    skips = {name: way for name, way in found.items() if isinstance(way, Skip)}
    reasons = "; ".join(f"by {name}: {skip.reason}" for name, skip in skips.items())
    hints = dict.fromkeys(
        hint for skip in skips.values() for hint in skip.hints if "symmetric-pads" not in hint
    )
    return Skip(reasons, tuple(hints))
