"""What to call a way to pad."""

from __future__ import annotations

from onnxpad.padding.chain import AutoPad, Chain, Pads, PadStep
from onnxpad.padding.operators import Kind


def label_of(chain: Chain) -> str:
    """What to call a way to pad."""
    parts = []
    if chain.op.kind is Kind.PAD and chain.pad is not None and not chain.pad.unclear:
        return f"pads {flat_text(chain.pad.pads)} {_filled(chain.pad)}"
    if chain.pad is not None and chain.pad.unclear:
        parts.append("computed Pad")
    elif chain.pad is not None:
        parts.append(f"Pad {flat_text(chain.inner(chain.pad.pads))} {_filled(chain.pad)}")
    match chain.padding:
        case AutoPad() as mode:
            parts.append("valid" if mode is AutoPad.VALID else str(mode))
        case Pads() as pads:
            parts.append(_pads_label(pads))
        case _:
            parts.append("unclear padding")
    text = ", then ".join(parts)
    if any(chain.output_padding):
        text += f", output_padding {','.join(map(str, chain.output_padding))}"
    if chain.ceil_mode:
        text += ", rounding up"
    if chain.op.kind is Kind.AVERAGE and chain.counts_padding:
        text += ", counting padding"
    return text


def held(step: PadStep) -> str:
    """What the cells of a Pad hold, as part of a sentence."""
    return str(step.fill) if step.mode == "constant" else f"cells by mode {step.mode}"


def _filled(step: PadStep) -> str:
    return f"with {step.fill}" if step.mode == "constant" else f"({step.mode})"


def _pads_label(pads: Pads) -> str:
    if not any(pads.flat):
        return "no padding"
    if pads.begins == pads.ends:
        return f"symmetric pads {flat_text(pads)}"
    return f"pads {flat_text(pads)}"


def flat_text(pads: Pads) -> str:
    """Every begin, then every end, as ONNX writes them: '[0, 0, 1, 1]'."""
    return str(list(pads.flat))
