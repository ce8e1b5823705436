"""Equal begin and end pads: three ways, of which each costs something else."""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Skip
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.costs import Cost
from onnxpad.rewriting.steps.symmetric import transposed, windows
from onnxpad.rewriting.steps.symmetric.premises import Way
from onnxpad.rewriting.steps.symmetric.transposed import cropped, grown

__all__ = ["Cost", "Way", "by_kernel", "by_pad", "by_slice", "cheapest", "cropped", "grown", "ways"]


def by_slice(chain: Chain) -> Way | Skip:
    """Pads that are equal and give more outputs, and a Slice that drops those."""
    if chain.op.kind is Kind.TRANSPOSED:
        return transposed.by_slice(chain)
    return windows.by_slice(chain)


def by_kernel(chain: Chain) -> Way | Skip:
    """A kernel that is extended by taps of 0, or of its zero point."""
    if chain.op.kind is Kind.TRANSPOSED:
        return transposed.by_kernel(chain)
    return windows.by_kernel(chain)


def by_pad(chain: Chain) -> Way | Skip:
    """A Pad node in front that adds what one side pads more than the other."""
    if chain.op.kind is Kind.TRANSPOSED:
        found = transposed.by_slice(chain)
        if isinstance(found, Skip):
            return found
        reason = "the pads of a transposed convolution crop its output, a Pad node cannot"
        return Skip(reason, ("--pass symmetric-pads-by-slice",))
    return windows.by_pad(chain)


def ways(chain: Chain) -> dict[str, Way | Skip]:
    """Every way for this chain with its cost, or why it is none."""
    found = {"a Slice": by_slice(chain), "the kernel": by_kernel(chain), "a Pad": by_pad(chain)}
    if chain.op.kind is Kind.TRANSPOSED:
        found["output_padding"] = transposed.by_output_padding(chain)
    return found


def cheapest(chain: Chain) -> Way | Skip:
    """The way that adds the least work; equal costs are settled in the order of `ways`."""
    found = ways(chain)
    possible = [way for way in found.values() if isinstance(way, Way)]
    if possible:
        return min(possible, key=lambda way: way.cost.weight)
    skips = {name: way for name, way in found.items() if isinstance(way, Skip)}
    first = next(iter(skips.values()))
    if first.moot or len({skip.reason for skip in skips.values()}) == 1:
        return first
    reasons = "; ".join(f"by {name}: {skip.reason}" for name, skip in skips.items())
    hints = dict.fromkeys(
        hint for skip in skips.values() for hint in skip.hints if "symmetric-pads" not in hint
    )
    return Skip(f"no way is exact: {reasons}", tuple(hints))
