"""onnxruntime's Pad_Fusion, on by default: it folds a Pad into the operator behind it."""

from __future__ import annotations

from onnxpad.padding.chain import Chain
from onnxpad.runtimes.onnxruntime.pad_fusion import Way, harms
from onnxpad.runtimes.traps import chain_rule

_SOURCE = (
    "onnxruntime core/optimizer/pad_fusion.cc; measured with onnxruntime 1.31.1, optimisations on "
    "against off, opsets 7 to 25"
)
_UNTIL = "onnxruntime@1.31"
"""The newest release that folds Pads into pools."""


@chain_rule("pad-fused-into-max-pool", _SOURCE, target=_UNTIL)
def pad_fused_into_max_pool(chain: Chain) -> str | None:
    """A Pad that writes 0 stands in front of a MaxPool.

    onnxruntime with default optimisations folds the Pad into the pool, whose own padding is the
    lowest value and not 0: borders with negative data come out wrong, without a message. Harmless
    where the data is never negative. auto_pad=VALID on the pool keeps onnxruntime from it, and
    so does disabling the optimiser "Pad_Fusion". Releases up to 1.31 do this, 1.32 does not.
    """
    if Way.VALUE not in harms(chain):
        return None
    return (
        "up to 1.31 onnxruntime's default optimisations fold the Pad(0) into the MaxPool, whose "
        "padding is the lowest value: negative data at the borders comes out wrong"
    )


@chain_rule("pad-fused-beyond-kernel", _SOURCE, target=_UNTIL)
def pad_fused_beyond_kernel(chain: Chain) -> str | None:
    """A Pad that writes 0 in front of a pool is as wide as the pool's kernel.

    onnxruntime with default optimisations folds the Pad into the pool and then refuses to load
    the model, because a pool's pads must be smaller than its kernel. It loads with the optimiser
    "Pad_Fusion" disabled, or with auto_pad=VALID on the pool. Releases up to 1.31 do this, 1.32
    does not.
    """
    if Way.LOAD not in harms(chain):
        return None
    return (
        "up to 1.31 onnxruntime's default optimisations fold the Pad into the pool's pads, which "
        "then reach the kernel, and refuse to load the model"
    )


@chain_rule("pad-fused-with-ceil-mode", _SOURCE, passes=["floor-pool"], target=_UNTIL)
def pad_fused_with_ceil_mode(chain: Chain) -> str | None:
    """A Pad that writes 0 stands in front of a pool with ceil_mode=1.

    onnxruntime with default optimisations folds the Pad into the pool. A last window that starts
    in the cells of the Pad counts before that and is dropped afterwards, so the output gets
    smaller. Releases up to 1.31 do this, 1.32 does not.
    """
    if Way.WINDOW not in harms(chain):
        return None
    drop = "drop" if chain.has_fixed_sizes else "may drop"
    return (
        f"up to 1.31 onnxruntime's default optimisations fold the Pad(0) into the pool and {drop} "
        "the last window of ceil_mode: the output gets smaller"
    )


@chain_rule("pad-fused-beside-identity", _SOURCE, target="onnxruntime")
def pad_fused_beside_identity(chain: Chain) -> str | None:
    """A Pad that writes 0 reads a tensor that an Identity beside it hands out as a result.

    onnxruntime with default optimisations folds the Pad into the operator behind it, then takes the
    Identity away with the tensor's name, and refuses to load the model. It loads with the
    optimiser "Pad_Fusion" disabled, or with auto_pad=VALID on the operator.
    """
    if Way.COPY not in harms(chain):
        return None
    return (
        "onnxruntime's default optimisations fold the Pad and lose the name of what it reads, "
        "which an Identity makes a result of the model, and then refuse to load the model"
    )


@chain_rule("pad-on-weight", _SOURCE, target="onnxruntime")
def pad_on_weight(chain: Chain) -> str | None:
    """A Pad makes the weight of a Conv.

    onnxruntime with default optimisations takes the weight for the padded data where the Pad
    writes 0 and nothing else reads it, folds it into the pads of the Conv and then refuses to load
    the model. It loads with the optimiser "Pad_Fusion" disabled.
    """
    if Way.WEIGHT not in harms(chain):
        return None
    return (
        "onnxruntime's default optimisations may fold the Pad of its weight into its own pads "
        "and then refuse to load the model"
    )
