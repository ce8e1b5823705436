"""What must not be left in front of a node: Pads that onnxruntime would fuse into it, wrongly."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.chain import AutoPad, Chain, Pads, Skip
from onnxpad.effective import effective_pads
from onnxpad.fills import Implicit
from onnxpad.fusion import auto_pad_stops_fusion
from onnxpad.ops import Kind


def shielded(before: Chain, after: Chain) -> Chain | Skip:
    """`after`, with auto_pad=VALID where that keeps onnxruntime from fusing a new Pad.

    A Skip where the Pad in front goes or is replaced and that cannot be right: used Indices
    count its cells, another Pad that writes 0 stands in front of it, or a max pool reads it too.
    """
    step = before.pad
    if after.pad == step:
        return after
    if before.uses_indices:
        return Skip("its Indices are used and count the cells of the Pad in front")
    if step is not None and after.pad is None:
        if step.follows_zero and before.op.kind in (Kind.MAX, Kind.AVERAGE):
            return Skip(
                "a Pad that writes 0 stands in front of the Pad; onnxruntime would fuse that"
            )
        if step.feeds_max_pool and before.fill is not Implicit.LOWEST:
            return Skip(
                "a MaxPool reads the Pad too; left alone with it, onnxruntime would fuse it wrongly"
            )
    return after if after.pad is None else _with_new_pad(after)


def _with_new_pad(after: Chain) -> Chain | Skip:
    own = effective_pads(after)
    if not after.op.is_pool or isinstance(after.padding, AutoPad) or isinstance(own, Skip):
        return after
    if not auto_pad_stops_fusion(after, own):
        return after
    if after.ceil_mode or any(own.flat):
        return Skip("onnxruntime would fuse the Pad into the pool, wrongly")
    return replace(after, padding=AutoPad.VALID) if isinstance(after.padding, Pads) else after
