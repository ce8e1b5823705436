"""TensorFlow, Keras and TFLite: SAME or VALID, an odd cell goes to the end.

SAME gives ceil(size/stride) windows. Averages never count padded cells, pools never round up.
JAX's SAME, Core ML's same and DL4J's Same place cells alike.
"""

from __future__ import annotations

from onnxpad.conventions import Convention, Placement, Rounding

CONVENTION = Convention(
    placements=(Placement.ODD_CELL_LAST,),
    padded=frozenset({Rounding.DOWN}),
    unpadded=frozenset({Rounding.DOWN}),
    counts=frozenset({False}),
    source="measured with TensorFlow 2.21 and Keras 3.15; python/ops/nn_ops.py, notes on padding",
)
