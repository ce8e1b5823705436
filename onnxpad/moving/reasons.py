"""Why a node stays as it is."""

from __future__ import annotations

from onnxpad.chain import AutoPad, Chain, Pads, Skip
from onnxpad.effective import effective_pads
from onnxpad.geometry.size import show
from onnxpad.ops import Kind


def unchanged_because(chain: Chain, name: str) -> str:
    """Why the convention `name` computes what the node computes already."""
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return f"{name} pads like this at every size"
    if chain.pad is None and not any(pads.flat) and not any(chain.output_padding):
        return "it pads nothing" + (", and rounds up" if chain.ceil_mode else "")
    if chain.op.kind is Kind.TRANSPOSED:
        return f"{name} crops like this"
    if all(axis.stride == 1 for axis in chain.axes) and _is_centred(chain, pads):
        return "stride 1: an odd window has as many cells on both sides"
    if isinstance(chain.padding, AutoPad) or not _is_centred(chain, pads):
        return f"{name} pads like this already"
    sizes = [show(axis.size) for axis in chain.axes]
    return f"{name} pads like this at size {'x'.join(sizes)}"


def _is_centred(chain: Chain, pads: Pads) -> bool:
    return pads.begins == pads.ends and all(axis.span % 2 for axis in chain.axes)
