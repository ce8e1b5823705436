"""SAME with an odd cell at the begin: auto_pad=SAME_LOWER of ONNX.

Apple's MPS places cells like this unless told otherwise, and so does CNTK for odd kernels.
"""

from __future__ import annotations

from onnxpad.frameworks.conventions import Convention

CONVENTION = Convention(
    source="ONNX Operators.md, Conv-22; CNTK 2.7 measured; MPSNeuralNetworkTypes.h read",
)
