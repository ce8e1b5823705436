"""A move as onnxruntime runs it."""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Skip
from onnxpad.runtimes.onnxruntime.pad_writer import spelled


def shielded(before: Chain, after: Chain) -> Chain | Skip:
    """`after`, spelled so that onnxruntime runs it right, if it can be."""
    if after.pad != before.pad and before.uses_indices:
        return Skip("its Indices are used and count the cells of the Pad in front")
    found = spelled(before, after)
    return found if isinstance(found, Chain | Skip) else after
