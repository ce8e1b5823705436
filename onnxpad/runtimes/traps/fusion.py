"""onnxruntime's Pad_Fusion, on by default: it folds a Pad into the operator behind it."""

from __future__ import annotations

import math
from dataclasses import replace

from onnxpad.geometry.size import plus
from onnxpad.padding.chain import Chain, Constant, Pads, PadStep, lowest
from onnxpad.padding.effective_pads import effective_pads, output_sizes, same_windows_when_padded
from onnxpad.padding.forms import reaches_kernel
from onnxpad.padding.operators import Kind
from onnxpad.runtimes.traps import Surroundings, rule

_SOURCE = (
    "onnxruntime core/optimizer/pad_fusion.cc; measured with onnxruntime 1.31.1, optimisations on "
    "against off, opsets 7 to 25"
)
_FUSED = ("Conv", "MaxPool", "AveragePool")
_PADS_ARE_INPUTS = 11


@rule("pad-fused-into-max-pool", _SOURCE)
def pad_fused_into_max_pool(chain: Chain, around: Surroundings) -> str | None:
    """A Pad that writes 0 stands in front of a MaxPool.

    onnxruntime with default optimisations folds the Pad into the pool, whose own padding is the
    lowest value and not 0: borders with negative data come out wrong, without a message. Harmless
    where the data is never negative. auto_pad=VALID on the pool keeps onnxruntime from it, and
    so does disabling the optimiser "Pad_Fusion".
    """
    folded = folded_by_onnxruntime(chain, around)
    if folded is None or not chain.is_max or around.never_negative or 0 in lowest(chain.dtype):
        return None
    if _too_wide(chain, folded) or not _read(chain, folded):
        return None
    return (
        "onnxruntime's default optimisations fold the Pad(0) into the MaxPool, whose padding is "
        "the lowest value: negative data at the borders comes out wrong"
    )


@rule("pad-fused-beyond-kernel", _SOURCE)
def pad_fused_beyond_kernel(chain: Chain, around: Surroundings) -> str | None:
    """A Pad that writes 0 in front of a pool is as wide as the pool's kernel.

    onnxruntime with default optimisations folds the Pad into the pool and then refuses to load
    the model, because a pool's pads must be smaller than its kernel. It loads with the optimiser
    "Pad_Fusion" disabled, or with auto_pad=VALID on the pool.
    """
    folded = folded_by_onnxruntime(chain, around)
    total = None if folded is None else _too_wide(chain, folded)
    if total is None:
        return None
    return (
        f"onnxruntime's default optimisations fold the Pad into pads={list(total.flat)}, which "
        "reach the kernel, and then refuse to load the model"
    )


@rule("pad-fused-with-ceil-mode", _SOURCE, passes=["floor-pool"])
def pad_fused_with_ceil_mode(chain: Chain, around: Surroundings) -> str | None:
    """A Pad that writes 0 stands in front of a pool with ceil_mode=1.

    onnxruntime with default optimisations folds the Pad into the pool. A last window that starts
    in the cells of the Pad counts before that and is dropped afterwards, so the output gets
    smaller.
    """
    folded = folded_by_onnxruntime(chain, around)
    own = effective_pads(chain)
    if folded is None or not chain.ceil_mode or not isinstance(own, Pads):
        return None
    if _too_wide(chain, folded):
        return None
    sides = zip(chain.axes, folded.begins, folded.ends, strict=True)
    axes = tuple(
        replace(axis, size=None if axis.size is None else plus(axis.size, -begin - end))
        for axis, begin, end in sides
    )
    if same_windows_when_padded(replace(chain, axes=axes), folded, own):
        return None
    sure = "drop" if all(isinstance(axis.size, int) for axis in axes) else "may drop"
    return (
        f"onnxruntime's default optimisations fold the Pad(0) into the pool and {sure} the last "
        "window of ceil_mode: the output gets smaller"
    )


@rule("pad-on-weight", _SOURCE)
def pad_on_weight(chain: Chain, around: Surroundings) -> str | None:
    """A Pad that writes 0 feeds the weight of a Conv, and nothing else.

    onnxruntime with default optimisations takes the weight for the padded data, folds the Pad
    into the pads of the Conv and then refuses to load the model. It loads with the optimiser
    "Pad_Fusion" disabled.
    """
    step = chain.pad
    if chain.op.kind is not Kind.PAD or not around.weight_of or step is None:
        return None
    if not around.sole_reader or around.lists_axes or not _writes_zero(chain, step):
        return None
    flat = step.pads.flat
    if not any(flat) or min(flat) < 0 or any(step.pads.begins[:2] + step.pads.ends[:2]):
        return None
    return (
        f"onnxruntime's default optimisations fold this Pad of a weight into the pads of "
        f"{around.weight_of} and then refuse to load the model"
    )


def folded_by_onnxruntime(chain: Chain, around: Surroundings) -> Pads | None:
    """The spatial pads of a Pad that onnxruntime folds into the operator behind it."""
    step = chain.pad
    if step is None or chain.trouble or chain.op.title not in _FUSED:
        return None
    if around.outputs > 1 or around.lists_axes or not around.sole_reader:
        return None
    if around.auto_pad not in ("", "NOTSET") or not _writes_zero(chain, step):
        return None
    spatial = chain.spatial
    folded = Pads(step.pads.begins[spatial], step.pads.ends[spatial])
    outside = sum(map(abs, step.pads.flat)) - sum(map(abs, folded.flat))
    if outside or not any(folded.flat) or min(folded.flat) < 0:
        return None
    return None if _leaves_out_own_pads(chain) else folded


def _leaves_out_own_pads(chain: Chain) -> bool:
    """Whether it is an average with uncounted pads of its own, which onnxruntime does not fuse."""
    own = effective_pads(chain)
    average = chain.op.kind is Kind.AVERAGE and not chain.counts_padding
    return average and isinstance(own, Pads) and any(own.flat)


def _read(chain: Chain, folded: Pads) -> bool:
    """Whether a window may reach the cells of the Pad; with strides the last ones stay unread."""
    own, windows = effective_pads(chain), output_sizes(chain)
    if any(folded.begins) or not isinstance(own, Pads):
        return True
    for axis, begin, end, count in zip(chain.axes, own.begins, folded.ends, windows, strict=True):
        if not isinstance(axis.size, int) or not isinstance(count, int):
            return True
        if end and (count - 1) * axis.stride + axis.span > axis.size - end + begin:
            return True
    return False


def _too_wide(chain: Chain, folded: Pads) -> Pads | None:
    own = effective_pads(chain)
    if not chain.op.is_pool or not isinstance(own, Pads) or reaches_kernel(chain, own):
        return None
    total = own + folded
    return total if reaches_kernel(chain, total) else None


def _writes_zero(chain: Chain, step: PadStep) -> bool:
    """Whether onnxruntime sees a 0: from opset 11 on it compares bytes, and -0.0 differs."""
    if step.unclear or step.mode != "constant" or not isinstance(step.fill, Constant):
        return False
    value = step.fill.value
    signed = isinstance(value, float) and math.copysign(1, value) < 0
    return value == 0 and not (signed and chain.opset >= _PADS_ARE_INPUTS)
