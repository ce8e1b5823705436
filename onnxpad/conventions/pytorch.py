"""PyTorch: as many cells at both sides; padding='same' only with stride 1.

Pools round down, or up with ceil_mode, where no window may start in the end padding, and take
pads of at most half a window. Averages count padded cells unless count_include_pad=False.
"""

from __future__ import annotations

from onnxpad.conventions import Convention, Placement, Rounding

CONVENTION = Convention(
    placements=(Placement.BOTH_ALIKE, Placement.UNSTRIDED_SAME),
    padded=frozenset({Rounding.DOWN, Rounding.UP}),
    unpadded=frozenset({Rounding.DOWN, Rounding.UP}),
    counts=frozenset({True, False}),
    half_a_window=True,
    source="measured with PyTorch 2.13; aten/src/ATen/native/Pool.h, torch/nn/modules/conv.py",
)
