"""What must not be left in front of a node: Pads that onnxruntime would fuse into it, wrongly."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.fusion import auto_pad_stops_fusion, left_alone_refusal
from onnxpad.padding.chain import AutoPad, Chain, Pads, Skip
from onnxpad.padding.effective_pads import effective_pads


def shielded(before: Chain, after: Chain) -> Chain | Skip:
    """`after`, with auto_pad=VALID where that keeps onnxruntime from fusing a new Pad.

    A Skip where the Pad in front goes or is replaced and that cannot be right: used Indices
    count its cells, another Pad that writes 0 stands in front of it, or something reads it too
    into which onnxruntime would fuse it wrongly.
    """
    step = before.pad
    if after.pad == step:
        return after
    if before.uses_indices:
        return Skip("its Indices are used and count the cells of the Pad in front")
    refusal = None
    if step is not None and (after.pad is None or after.pad.replaces):
        refusal = left_alone_refusal(before, step)
    if refusal or after.pad is None:
        return refusal or after
    return _with_new_pad(after)


def _with_new_pad(after: Chain) -> Chain | Skip:
    own = effective_pads(after)
    if not after.op.is_pool or isinstance(after.padding, AutoPad) or isinstance(own, Skip):
        return after
    if not auto_pad_stops_fusion(after, own):
        return after
    if after.ceil_mode or any(own.flat):
        return Skip("onnxruntime would fuse the Pad into the pool, wrongly")
    return replace(after, padding=AutoPad.VALID) if isinstance(after.padding, Pads) else after
