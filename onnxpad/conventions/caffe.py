"""Caffe: as many cells at both sides; pools round up.

Padded pools drop a last window that starts in the end padding, others keep it. Averages count
padded cells. There is no output_padding.
"""

from __future__ import annotations

from onnxpad.conventions import Convention, Placement, Rounding

CONVENTION = Convention(
    placements=(Placement.BOTH_ALIKE,),
    padded=frozenset({Rounding.UP}),
    unpadded=frozenset({Rounding.UP_ALL}),
    counts=frozenset({True}),
    grows=False,
    source="BVLC/caffe 9b89154, src/caffe/layers/pooling_layer.cpp:91-118 and 210-225, compiled "
    "and measured; conv_layer.cpp:9-21, deconv_layer.cpp:9-21 read",
)
