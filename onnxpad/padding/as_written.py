"""Padding as the file spells it, for the traps."""

from __future__ import annotations

from typing import NamedTuple

from onnxpad.padding.chain import Shape


class AsWritten(NamedTuple):
    """Spellings of the file that a chain does not hold; '' and None for absent ones.

    auto_pad: the text of the attribute.
    pad_reads: the DequantizeLinear that feeds the Pad in front.
    """

    auto_pad: str = ""
    output_shape: Shape = None
    pad_reads: str = ""
    computed_pads: str = ""
    overridable_pads: str = ""
