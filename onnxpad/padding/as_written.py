"""What the file says beside a chain, as the traps ask for it."""

from __future__ import annotations

from typing import NamedTuple

from onnxpad.padding.chain import Shape


class AsWritten(NamedTuple):
    """What the file says beside a chain, as the traps ask for it; the defaults say nothing.

    `auto_pad` is as written in the file. `pad_reads` names a DequantizeLinear that makes the data
    of the Pad in front.
    """

    auto_pad: str = ""
    output_shape: Shape = None
    pad_reads: str = ""
    computed_pads: str = ""
    overridable_pads: str = ""
